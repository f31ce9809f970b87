"""A run writes its validation loss bucket by bucket, and its store and bundle have it."""

import json

import pandas as pd
import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.runs.checkpoint import StopRequest
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.run import resolve

pytestmark = pytest.mark.exhaustive(sample="session")

SETTINGS = resolve("smoke", ["corpus.name=copy", "corpus.copy_words=20", "scoring.edges=5,11,21"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """An output folder with one run, and that run's folder."""
    out, events = tmp_path_factory.mktemp("learning"), []
    execute([SETTINGS], out / STORE, lambda _, event: events.append(event), StopRequest())
    gather(out, {})
    return out, out / STORE / events[-1]["run"]


def test_the_log_has_every_validation_sentence_once(finished):
    _, run = finished
    corpus = load_corpus(SETTINGS.corpus, SETTINGS.scoring.lower_edges)
    words = pd.Series([pair.words for pair in corpus.valid])
    targets = pd.Series([len(pair.target.split()) + 1 for pair in corpus.valid])
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    found = {line["update"]: line["valid_buckets"] for line in lines if line["valid_buckets"]}
    assert list(found) == [20, 40]
    for line in lines:
        assert (line["valid_buckets"] is None) == (line["valid_loss"] is None)
    for buckets in found.values():
        assert list(buckets) == ["5-10", "11-20", "21+"]
        for name, (low, high) in zip(buckets, [(5, 10), (11, 20), (21, 999)], strict=True):
            inside = words.between(low, high)
            assert buckets[name]["sentences"] == inside.sum() > 2
            assert buckets[name]["tokens"] == targets[inside].sum()
    whole = found[40].values()
    mean = sum(each["nats"] for each in whole) / sum(each["tokens"] for each in whole)
    if words.min() >= 5:
        assert mean == pytest.approx(lines[-1]["valid_loss"], rel=1e-12)


def test_the_bundle_has_what_the_log_says(finished):
    out, run = finished
    read = load_bundle(out).learning()
    plain = pd.read_csv(out / "learning.csv")
    assert len(plain) == len(read) == 2 * 3
    assert list(plain["loss"]) == pytest.approx(list(read["loss"]), rel=1e-15)
    assert set(plain["run"]) == {run.name}
    last = json.loads((run / "log.jsonl").read_text().splitlines()[-1])["valid_buckets"]
    rows = plain[plain["update"] == 40].set_index("bucket")
    for name, held in last.items():
        assert rows.loc[name, "loss"] == pytest.approx(held["nats"] / held["tokens"], rel=1e-15)
        assert rows.loc[name, "standard_error"] == pytest.approx(held["standard_error"])
