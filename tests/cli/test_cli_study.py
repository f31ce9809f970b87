"""``bottleneck study`` if nothing has to be measured, and a tiny benchmark."""

import csv
import io
import json

import pandas as pd
import pytest
from planted import write_planted
from planted_arms import LOW
from planted_cost import plant_costs

from seq2seq_bottleneck.questions import benchmark
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

ARMS = {"none": LOW, "additive": [0.1] * 5}
OWN_GOLD = "--gold links --source en --target fr"


def test_the_cost_is_what_the_benchmark_measured(tmp_path, ok):
    plant_costs(tmp_path)
    text = ok("table cost --results", tmp_path).out
    assert "By length (tokens per side)" in text
    assert "C9: " in text
    rows = csv.DictReader(io.StringIO(ok("table cost --format csv --results", tmp_path).out))
    dot = {int(row["bucket"]): float(row["seconds"]) for row in rows
           if row["arm"] == "dot" and row["seconds"]}  # fmt: skip
    assert dot == {n: pytest.approx((n + n**2 / 100) / 1e3) for n in (10, 20, 40, 80, 160)}


def test_a_dry_run_on_finished_runs_names_them_and_measures_nothing(tmp_path, ok):
    write_planted(tmp_path, ARMS, seeds=1)
    before = sorted(tmp_path.rglob("*"))
    text = ok("study length --dry-run --results", tmp_path).out
    assert text.endswith(f" 2 runs of {tmp_path}: additive1x1, none1x1\n")
    text = ok("study alignment --dry-run", OWN_GOLD, "--results", tmp_path).out
    assert text.endswith(f" 1 run of {tmp_path}: additive1x1\n")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.exhaustive(sample="session")
def test_a_tiny_benchmark_end_to_end(ok, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "QUICK_LENGTHS", (2, 4))
    out = tmp_path / "out"
    printed = ok("study cost --quick --results", out)
    assert "By length (tokens per side)" in printed.out
    assert "C9: not measured" in printed.out
    assert "(1 of 2)" in printed.err
    costs = pd.read_csv(out / "probes" / "cost.csv")
    assert list(costs.columns) == list(PROBE_COLUMNS)
    steps = costs[costs["measure"] == "seconds"]
    pairs = list(zip(steps["bucket"], steps["arm"], strict=True))
    assert pairs == [(length, arm) for length in (2, 4) for arm in benchmark.ARMS]
    assert (steps["value"] > 0).all()
    assert sum(costs["measure"] == "attention_share") == 2 * 3
    assert json.loads(ok("table cost --format json --results", out).out)["name"] == "cost"
