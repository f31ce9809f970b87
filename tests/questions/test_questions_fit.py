"""C12: training and test sentences: planted counts summed up, a real run, the table."""

import numpy as np
import pytest

from seq2seq_bottleneck.questions.fit import QUESTION, probe
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.results.folders import SENTENCES, run_rows
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.settings.run import resolve


@pytest.mark.exhaustive(sample="session")
def test_the_test_sentences_have_the_runs_own_losses_and_counts(subject):
    found = probe(subject, lambda _: None)
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
