"""C12: training and test sentences: planted counts summed up, a real run, the table."""

import numpy as np
import pytest
from planted_pages import frame, printed, row_of

from seq2seq_bottleneck.questions.fit import MOST, QUESTION, probe
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.results.folders import SENTENCES, run_rows
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.settings.run import resolve


@pytest.fixture(scope="module")
def found(subject):
    """What the probe finds on a real run."""
    return probe(subject, lambda _: None)


@pytest.mark.exhaustive(sample="session")
def test_the_test_sentences_have_the_runs_own_losses_and_counts(subject, found):
    own = {
        (int(row["source_words"]), int(row["target_tokens"]), round(float(row["nll"]), 3)):
        [int(row[name]) for name in BLEU_COLUMNS]
        for row in run_rows(subject.folder / SENTENCES)
    }  # fmt: skip
    test = np.flatnonzero(found["split"] == "test")
    assert len(test) > 20
    for place in test:
        key = (found["source_words"][place], found["tokens"][place], round(found["nll"][place], 3))
        assert own[key] == [found[name][place] for name in BLEU_COLUMNS]


@pytest.mark.exhaustive(sample="session")
def test_training_sentences_are_those_of_the_corpus_bucket_by_bucket(subject, found):
    train = found["source_words"][found["split"] == "train"]
    words = np.array([pair.words for pair in subject.corpus.train])
    for place in range(len(subject.buckets.names)):
        known = np.count_nonzero(subject.buckets.assign(words) == place)
        assert np.count_nonzero(subject.buckets.assign(train) == place) == min(known, MOST)


def _probed(tmp_path, seed, nats):
    """20 training and 20 test sentences of 8 words and 10 tokens, of so many nats a token."""
    texts = ["a b c d e f g h"] * 40
    wrong = ["a b c d x f g h"] * 20 + texts[:20]
    columns = {
        "split": ["train"] * 20 + ["test"] * 20,
        "source_words": np.full(40, 8),
        "nll": np.concatenate([np.full(20, 10 * nats), np.full(20, 5)]),
        "tokens": np.full(40, 10),
    } | dict(zip(BLEU_COLUMNS, bleu_statistics(wrong, texts).T, strict=True))
    folder = tmp_path / str(seed)
    keep(folder, QUESTION, columns)
    return read_kept(folder, resolve("smoke", [f"training.seed={seed}"]), QUESTION)


def test_sums_are_by_split_and_the_mean_is_over_seeds(tmp_path):
    rows = QUESTION.summarise([_probed(tmp_path, 1, 0.6), _probed(tmp_path, 2, 0.8)])
    by_key = {(r["bucket"], r["part"], r["measure"], r.get("seed")): r for r in rows if r["n"]}
    assert by_key["5-10", "train", "loss", None]["value"] == pytest.approx(0.7)
    assert by_key["5-10", "train", "loss", 2]["value"] == pytest.approx(0.8)
    assert by_key["5-10", "test", "loss", None]["value"] == pytest.approx(0.5)
    assert by_key["5-10", "test", "bleu", None]["value"] == pytest.approx(100)
    single = bleu_statistics(["a b c d x f g h"], ["a b c d e f g h"])
    assert by_key["5-10", "train", "bleu", None]["value"] == pytest.approx(float(bleu(single)[0]))
    assert {bucket for bucket, *_ in by_key} == {"5-10"}


VALUES = {"bleu": 41.26, "loss": 1.234}


def test_a_row_a_bucket_arm_and_split_and_no_claim_is_decided_by_it():
    rows = [
        row_of(arm, measure, value + shift, 0.1, bucket=bucket, part=split, n=n)
        for arm in ("none", "additive")
        for bucket, n in (("5-10", 240), ("41+", 60))
        for shift, split in ((0.0, "train"), (-0.05, "test"))
        for measure, value in VALUES.items()
    ]
    page = QUESTION.page(frame(rows))
    lines = [line.split() for line in printed(page)]
    rows = [line for line in lines if line and line[0] in ("5-10", "41+")]
    assert rows[0] == ["5-10", "none", "trained", "on", "240", "41.3", "1.23"]
    assert rows[1] == ["5-10", "none", "test", "240", "41.2", "1.18"]
    assert rows[-1][:4] == ["41+", "additive", "test", "60*"]
    assert any("* behind a count: under 100" in line for line in page.caption)
    assert any("named by its attention and by settings in which" in line for line in page.caption)
    assert len(rows) == len(page.frame) == 8
    assert set(VALUES) <= set(page.frame.columns)
    assert page.verdicts == []
