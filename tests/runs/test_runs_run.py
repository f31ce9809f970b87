"""What a run writes beside its scores: its log by bucket, what it ran on."""

import json

import jax
import pandas as pd
import pytest
from executing import executed, smoke

from seq2seq_bottleneck.corpus.corpus import load_corpus


@pytest.mark.exhaustive(sample="session")
def test_the_log_has_every_validation_sentence_once_and_the_environment_versions(tmp_path):
    settings = smoke("scoring.edges=5,11,21")
    run = tmp_path / executed(tmp_path, settings)[-1]["run"]
    versions = json.loads((run / "environment.json").read_text())["versions"]
    assert versions["jax"] == jax.__version__
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    words = pd.Series([pair.words for pair in corpus.valid])
    targets = pd.Series([len(pair.target.split()) + 1 for pair in corpus.valid])
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    logged = {line["update"]: line["valid_buckets"] for line in lines if line["valid_buckets"]}
    assert list(logged) == [20, 40]
    for line in lines:
        assert (line["valid_buckets"] is None) == (line["valid_loss"] is None)
    for buckets in logged.values():
        assert list(buckets) == ["5-10", "11-20", "21+"]
        for name, (low, high) in zip(buckets, [(5, 10), (11, 20), (21, 999)], strict=True):
            inside = words.between(low, high)
            assert buckets[name]["sentences"] == inside.sum() > 2
            assert buckets[name]["tokens"] == targets[inside].sum()
    whole = logged[40].values()
    mean = sum(item["nats"] for item in whole) / sum(item["tokens"] for item in whole)
    if words.min() >= 5:
        assert mean == pytest.approx(lines[-1]["valid_loss"], rel=1e-12)
