"""C12, training and test sentences: sums of planted counts, a real run, the table."""

import numpy as np
import pytest
from planted_pages import read_back

from seq2seq_bottleneck.questions.fit import QUESTION, probe
from seq2seq_bottleneck.results.bundle import read_table
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.settings.run import resolve


@pytest.mark.exhaustive(sample="session")
def test_the_test_sentences_have_the_runs_own_counts(subject):
    found = probe(subject)
    names = ["source_words", *BLEU_COLUMNS]
    rows = read_table(subject.folder / "sentences.csv", dict.fromkeys(names, "i8"))
    own = set(rows.itertuples(index=False, name=None))
    test = [place for place, split in enumerate(found["split"]) if split == "test"]
    assert len(test) == sum(rows["source_words"] >= 5) > 20
    assert {tuple(found[name][place] for name in names) for place in test} <= own


def _probed(tmp_path, seed, wrong):
    """20 training and 20 test sentences of 8 words; this many training sentences are wrong."""
    texts = ["a b c d e f g h"] * 40
    outputs = ["a b c d x f g h"] * wrong + texts[wrong:]
    columns = {
        "split": ["train"] * 20 + ["test"] * 20,
        "source_words": np.full(40, 8),
    } | dict(zip(BLEU_COLUMNS, bleu_statistics(outputs, texts).T, strict=True))
    settings = resolve("smoke", [f"training.seed={seed}"])
    return read_back(QUESTION, tmp_path / str(seed), settings, columns)


def test_sums_are_by_split_and_the_mean_is_over_seeds(tmp_path):
    rows = QUESTION.summarise([_probed(tmp_path, 1, 20), _probed(tmp_path, 2, 0)])
    by_key = {(r["part"], r.get("seed")): r for r in rows if r["bucket"] == "5-10"}
    assert by_key["test", None]["value"] == pytest.approx(100)
    single = bleu_statistics(["a b c d x f g h"], ["a b c d e f g h"])
    wrong = float(bleu(single)[0])
    assert by_key["train", 1]["value"] == pytest.approx(wrong)
    assert by_key["train", 2]["value"] == pytest.approx(100)
    assert by_key["train", None]["value"] == pytest.approx((100 + wrong) / 2)
