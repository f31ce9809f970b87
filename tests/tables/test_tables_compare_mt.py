"""The length table equals compare-mt's, another program's, for the same text (Neubig et al. 2019).

compare-mt cuts lines at spaces and its lengths are the references', so the text here is tokens with
spaces between them, and every source is its reference. It counts a four-gram in an output of three
tokens, which sacreBLEU does not: no output here is that short.
"""

import json
import subprocess
import sys

import numpy as np
import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from seq2seq_bottleneck.settings.concerns import ScoringSettings
from seq2seq_bottleneck.tables.score import Output, score_page

# A process of its own: compare-mt's imports warn, and here warnings are errors.
THEIRS = """
import json, sys
from compare_mt.bucketers import LengthSentenceBucketer
from compare_mt.scorers import BleuScorer
given = json.load(sys.stdin)
out, ref = ([line.split() for line in given[side]] for side in ("hypotheses", "references"))
bucketer, scorer = LengthSentenceBucketer(given["edges"]), BleuScorer()
held = bucketer.create_bucketed_corpus(out, ref=ref)
scores = [[len(outs), scorer.score_corpus(refs, outs)[0]] for outs, refs, _ in held]
json.dump({"names": bucketer.bucket_strs, "scores": scores}, sys.stdout)
"""
WORDS = [f"mot{number}" for number in range(40)] + ["l'été", ",", "3.5", "Œuvre", ".", "-"]


def texts(errors: float) -> tuple[list[str], list[str]]:
    """Outputs and references of 4 to 55 tokens: words replaced, doubled, swapped, left out."""
    random = np.random.default_rng(7)
    hypotheses, references = [], []
    for _ in range(400):
        words = list(random.choice(WORDS, size=random.integers(6, 56)))
        references.append(" ".join(words))
        for place in range(len(words)):
            if random.random() < errors:
                words[place] = str(random.choice(WORDS))
        start = random.integers(len(words) - 5)
        cut = random.integers(start + 5, len(words) + 1)
        hypotheses.append(" ".join([*words[start:cut], *words[start : start + 2]]))
    cut_13a = Tokenizer13a()
    assert all(cut_13a(line) == line for line in hypotheses + references)
    assert min(len(line.split()) for line in hypotheses) > 3
    return hypotheses, references


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("errors", [0.4, 0.05])
def test_bucket_scores_are_compare_mts(errors: float) -> None:
    hypotheses, references = texts(errors)
    scoring = ScoringSettings(resamples=20)
    given = {"hypotheses": hypotheses, "references": references, "edges": scoring.lower_edges}
    ran = subprocess.run(
        [sys.executable, "-c", THEIRS],
        input=json.dumps(given), capture_output=True, text=True, check=True,
    )  # fmt: skip
    theirs = json.loads(ran.stdout)
    assert theirs["names"] == ["<5", "[5,11)", "[11,21)", "[21,31)", "[31,41)", ">=41"]
    ours = score_page(Output("mine", references, [references], hypotheses), scoring).frame
    for row, (count, score) in zip(ours.to_dict("records"), theirs["scores"][1:], strict=True):
        assert row["n"] == count > 10
        assert row["bleu"] == pytest.approx(score, abs=1e-9)
