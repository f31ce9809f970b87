"""``bottleneck bench``: the plan, a real tiny benchmark, what stops it."""

import json
import os

import pandas as pd
import pytest

from seq2seq_bottleneck.questions.cost import COLUMNS
from seq2seq_bottleneck.runs import pool


@pytest.mark.exhaustive(sample="session")
def test_dry_run_lists_the_points_and_the_arms(ok, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = ok("bench --dry-run").out
    for part in ("length 200", "context_size 1,024", "vocabulary 32,000", "base"):
        assert part in text
    assert "19 points x 5 arms (none, additive, dot, none-output, dot-output)" in text
    text = ok("bench --dry-run --quick --arms dot-output --vary batch").out
    assert "2 points x 2 arms (none-output, dot-output)" in text
    assert os.listdir(tmp_path) == []


@pytest.mark.exhaustive(sample="session")
def test_a_tiny_benchmark_end_to_end_leaves_out_what_fits_no_memory(ok, tmp_path):
    out = tmp_path / "out"
    options = "--vary length=2,4,vocabulary=40000000000 --arms dot --repeats 1 --out"
    printed = ok("bench", options, out)
    assert "By length (tokens per side)" in printed.out
    assert "C9: not measured" in printed.out
    assert "Machine: " in printed.out
    assert "Without numbers: vocabulary 40,000,000,000 none" in " ".join(printed.out.split())
    assert "(2 of 3 points" in printed.err
    costs = pd.read_csv(out / "probes" / "cost.csv")
    assert list(costs.columns) == list(COLUMNS)
    costs = costs[costs["varied"] == "length"]
    assert list(zip(costs["length"], costs["arm"], strict=True)) == [
        (2, "none"), (2, "dot"), (4, "none"), (4, "dot")
    ]  # fmt: skip
    assert (costs["seconds"] > 0).all()
    assert (costs["threads"] == 1).all()
    assert costs[costs["arm"] == "dot"]["attention_share"].notna().all()
    none = costs[costs["arm"] == "none"].set_index("length")
    assert none["peak_mb"].loc[4] >= none["peak_mb"].loc[2] > 0
    pages = json.loads(ok("table cost --format json --results", out).out)
    assert [page["name"] for page in pages] == ["cost", "cost_exponents"]


def test_where_nothing_could_be_measured_or_it_is_interrupted_nothing_is_written(
    fails, tmp_path, monkeypatch
):
    monkeypatch.setattr(pool, "worker_environment", lambda: {"PYTHONPATH": os.devnull})
    monkeypatch.setattr("sys.executable", "/bin/false")
    message = fails("bench --quiet --out", tmp_path / "new")
    assert "nothing could be measured" in message
    assert "code 1" in message

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "worker_environment", interrupt)
    assert "interrupted" in fails("bench --quiet --out", tmp_path / "new", code=130)
    assert os.listdir(tmp_path) == []
