"""From a worker's events to rows: medians, shares round by round, failures with their reasons."""

import csv

import pytest

from seq2seq_bottleneck.bench.grid import BASE, Arm, Point, Sizes
from seq2seq_bottleneck.bench.measure import attention_part, point_rows, timing, write
from seq2seq_bottleneck.results.cost import COST_COLUMNS, EXPONENT_COLUMNS

NONE, DOT = Arm("none", "input"), Arm("dot", "input")
READY = {"phase": "ready", "machine": "M", "device": "cpu: cpu", "threads": 1,
         "version": "1", "jax": "2"}  # fmt: skip
COMPILED = [
    {"phase": "compiled", "arm": "none", "peak_bytes": 3_000_000},
    {"phase": "compiled", "arm": "dot", "peak_bytes": 5_000_000},
]
DONE = {
    "phase": "done",
    "seconds": {"none": [1.0, 2.0, 3.0], "dot": [2.0, 2.5, 12.0]},
    "steps": {"none": 4, "dot": 2},
}
POINT = Point(Sizes(length=10, batch_size=8), ("length",))


def test_timing_is_median_least_greatest_and_tokens_a_second():
    row = timing([0.5, 0.2, 0.4], 100, 3)
    assert (row["seconds"], row["seconds_low"], row["seconds_high"]) == (0.4, 0.2, 0.5)
    assert row["target_tokens_per_second"] == pytest.approx(250.0)
    assert (row["repeats"], row["steps"]) == (3, 3)


def test_attentions_part_is_taken_round_by_round():
    part = attention_part(DOT, DONE["seconds"], {"none": 3.0, "dot": 5.0})
    # Differences 1, .5, 9 and shares .5, .2, .75: not those of the medians, 0.5 and 0.2.
    assert part["attention_seconds"] == 1.0
    assert (part["attention_seconds_low"], part["attention_seconds_high"]) == (0.5, 9.0)
    assert part["attention_share"] == 0.5
    low, high = part["attention_share_low"], part["attention_share_high"]
    assert (low, high) == pytest.approx((0.2, 0.75))
    assert part["attention_mb"] == 2.0
    assert attention_part(NONE, DONE["seconds"], {"none": 3.0}) == {}
    assert attention_part(Arm("dot", "output"), {"dot-output": [1.0]}, {"dot-output": 1.0}) == {}


def test_a_point_gives_a_row_an_arm_with_sizes_and_machine():
    none, dot = point_rows(POINT, [NONE, DOT], [READY, *COMPILED, DONE])
    assert set(dot) == set(COST_COLUMNS)
    assert (dot["arm"], dot["placement"], dot["varied"]) == ("dot", "input", "length")
    assert (dot["length"], dot["context_size"], dot["hidden_size"]) == (10, 256, 256)
    assert (dot["seconds"], none["seconds"], dot["peak_mb"]) == (2.5, 2.0, 5.0)
    assert none["target_tokens_per_second"] == pytest.approx(10 * 8 / 2.0)
    assert none["attention_seconds"] is None
    assert (dot["machine"], dot["threads"], dot["reason"]) == ("M", 1, "")


def test_the_base_stands_in_every_variation():
    rows = point_rows(Point(BASE, ("length", "vocabulary")), [NONE], [READY, *COMPILED, DONE])
    assert [row["varied"] for row in rows] == ["length", "vocabulary"]
    assert len({row["seconds"] for row in rows}) == 1


def test_an_arm_that_failed_has_a_reason_and_the_others_their_numbers():
    lost = {"phase": "failed", "arm": "dot", "reason": "a step needs 99.0 GB, 2.0 GB are free"}
    done = DONE | {"seconds": {"none": [1.0]}, "steps": {"none": 1}}
    none, dot = point_rows(POINT, [NONE, DOT], [READY, *COMPILED, lost, done])
    assert none["seconds"] == 1.0
    assert dot["seconds"] is None
    assert dot["reason"].startswith("a step needs 99.0 GB")
    assert dot["peak_mb"] == 5.0


def test_a_process_that_died_has_no_numbers_at_all():
    broken = {"phase": "broken", "reason": "its process was ended by signal 9"}
    for row in point_rows(POINT, [NONE, DOT], [READY, broken]):
        assert row["seconds"] is None
        assert row["reason"] == "its process was ended by signal 9"


def test_the_files_have_their_columns_and_every_digit(tmp_path):
    rows = [
        row
        for length in (10, 20, 40)
        for row in point_rows(
            Point(Sizes(length=length), ("length",)),
            [NONE, DOT],
            [
                READY,
                *COMPILED,
                DONE | {"seconds": {"none": [0.1 * length], "dot": [0.1 * length + length**2]}},
            ],
        )
    ]
    write(tmp_path, rows)
    with (tmp_path / "probes" / "cost.csv").open() as file:
        costs = list(csv.DictReader(file))
    assert list(costs[0]) == list(COST_COLUMNS)
    assert [float(row["seconds"]) for row in costs] == [row["seconds"] for row in rows]
    assert costs[0]["attention_share"] == ""
    with (tmp_path / "probes" / "cost_exponents.csv").open() as file:
        fits = list(csv.DictReader(file))
    assert list(fits[0]) == list(EXPONENT_COLUMNS)
    (own,) = [row for row in fits if (row["quantity"], row["part"]) == ("attention_seconds", "all")]
    assert float(own["exponent"]) == pytest.approx(2.0, abs=1e-9)
