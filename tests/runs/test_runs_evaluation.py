"""What affects a run's scores on the test set: the output cap, BLEU's tokenizer."""

import numpy as np
import pandas as pd
import pytest
from sacrebleu import corpus_bleu

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.vocabulary import IN_CHARACTERS
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.runs.evaluation import bucket_rows, scoring_notes
from seq2seq_bottleneck.runs.sweep import check_text
from seq2seq_bottleneck.scoring.bleu import bleu_statistics
from seq2seq_bottleneck.settings.run import resolve


def test_references_longer_than_the_output_cap_are_counted():
    """A copied sentence of n words has n + 1 tokens; the cap is n / 2, rounded up, and 3 more."""
    cap = ["decoding.cap_factor=0.5", "decoding.cap_extra=3"]
    settings = resolve("smoke", ["corpus.name=copy", *cap])
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    longer = sum(pair.words >= 6 for pair in corpus.test)
    (note,) = scoring_notes(corpus, settings)
    assert note.startswith(f"{longer} test references longer than the cap of its output (")


@pytest.fixture
def chinese(tmp_path):
    """Settings for a text with Chinese sentences of 5 to 16 characters on both sides."""
    text = [
        f"{'我们有猫狗鸟鱼马牛羊'[n % 7 :]}{'他去看书'[: 1 + n % 4]}{'甲乙丙丁戊'[n // 7 % 5]}"
        for n in range(140)
    ]
    for side in ("source", "target"):
        (tmp_path / side).write_text("".join(f"{line}。\n" for line in dict.fromkeys(text)))
    files = [f"corpus.{side}={tmp_path / side}" for side in ("source", "target")]
    return ["corpus.name=files", *files, "scoring.edges=5,11", "corpus.valid_pairs=5"]


def test_chinese_is_split_into_characters_and_scored_by_the_tokenizer_that_is_named(chinese):
    settings = resolve("smoke", chinese)
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    assert {token.strip("￭") for token in corpus.source_vocabulary.words} <= set(
        "我们有猫狗鸟鱼马牛羊他去看书甲乙丙丁戊。"
    )
    assert IN_CHARACTERS in corpus.notes
    assert {len(pair.source) for pair in corpus.test} == {pair.words for pair in corpus.test}
    (line,) = scoring_notes(corpus, settings)
    assert check_text(settings) == [line]
    assert line.endswith("has no spaces: give --set scoring.tokenize=zh (or char)")
    settings = resolve("smoke", [*chinese, "scoring.tokenize=zh"])
    assert check_text(settings) == scoring_notes(corpus, settings) == []
    references = [pair.target for pair in corpus.test]
    hypotheses = [text.replace("狗", "猫") for text in references]
    words = np.array([pair.words for pair in corpus.test])
    columns = {"hypothesis": hypotheses, "reference": references, "source_words": words}
    columns |= dict.fromkeys(("nll", "target_tokens", "ended"), words > 0)
    counts = bleu_statistics(hypotheses, references, tokenize="zh").T
    columns |= dict(zip(BLEU_COLUMNS, counts, strict=True))
    rows = bucket_rows(pd.DataFrame(columns), settings)
    for row, inside in zip(rows, (words < 11, words >= 11), strict=True):
        places = np.flatnonzero(inside)
        texts = [[side[place] for place in places] for side in (hypotheses, references)]
        assert row["bleu"] == pytest.approx(corpus_bleu(texts[0], texts[1:], tokenize="zh").score)
        assert "|tok:zh|" in row["signature"]
