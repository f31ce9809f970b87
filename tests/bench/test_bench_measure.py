"""The points, what a user may name and what not, and the rows that a worker's result gives."""

import csv
from pathlib import Path
from typing import Any

import pytest

from seq2seq_bottleneck.bench.measure import (
    DEFAULT,
    DEFAULT_ARMS,
    QUICK,
    QUICK_ARMS,
    Sizes,
    Variation,
    parse_arms,
    parse_variation,
    point_row,
    points,
    write,
)
from seq2seq_bottleneck.questions.cost import COLUMNS, VARIED
from seq2seq_bottleneck.settings.errors import UsageError

BASE = Sizes()


@pytest.mark.parametrize("variation", [DEFAULT, QUICK])
def test_every_point_differs_from_the_base_in_at_most_one_size(variation: Variation) -> None:
    assert list(variation) == list(VARIED) == list(Sizes._fields)
    plan = points(variation)
    for sizes, varied in plan.items():
        changed = [name for name in VARIED if getattr(sizes, name) != getattr(BASE, name)]
        assert varied == (tuple(changed) or tuple(VARIED))
    planned = {(name, getattr(sizes, name)) for sizes, varied in plan.items() for name in varied}
    assert planned == {(name, size) for name, sizes in variation.items() for size in sizes}


def test_the_default_has_the_base_and_points_are_named_by_what_is_varied() -> None:
    assert Sizes(30, 256, 64, 2_000) == BASE
    assert all(getattr(BASE, name) in sizes for name, sizes in DEFAULT.items())
    assert [sizes.name for sizes in points({"length": (30, 50)})] == ["base", "length 50"]


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        ("dot-output, additive", "none-output,dot-output,none,additive"),
        ("scaled-dot-output", "none-output,scaled-dot-output"),
        ("none,none", "none"),
        (DEFAULT_ARMS, DEFAULT_ARMS),
        (QUICK_ARMS, QUICK_ARMS),
    ],
)
def test_each_arm_comes_with_the_baseline_of_its_placement(text: str, arms: str) -> None:
    assert ",".join(parse_arms(text)) == arms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("length=4,8", {"length": (4, 8)}),
        ("length=8,4,8", {"length": (4, 8)}),
        ("context", {"context_size": DEFAULT["context_size"]}),
        ("batch_size", {"batch_size": DEFAULT["batch_size"]}),
        (
            "length=4,vocabulary=32_000,500,batch",
            {"length": (4,), "vocabulary": (500, 32_000), "batch_size": DEFAULT["batch_size"]},
        ),
    ],
)
def test_variations_are_read(text: str, expected: Variation) -> None:
    assert parse_variation(text, DEFAULT) == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("lenght", ["'lenght'", "did you mean 'length'"]),
        ("length=0", ["length=0", "from 1 up"]),
        ("length=4,-8", ["-8", "from 1 up"]),
        ("length=1.5", ["1.5", "whole"]),
        ("length=", ["length=", "whole"]),
        ("length=ten", ["ten"]),
        ("length=4,ten", ["'ten'"]),
        ("vocabulary=4", ["vocabulary=4", "from 5 up"]),
        ("10,20", ["'10'", "length=10"]),
        (" , ", ["name at least one of length, context, batch, vocabulary"]),
    ],
)
def test_what_cannot_be_varied_is_said(text: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        parse_variation(text, DEFAULT)
    assert all(part in str(error.value) for part in parts), str(error.value)


@pytest.mark.parametrize(("text", "part"), [("aditive", "'additive'"), (",", "name at least one")])
def test_an_unknown_arm_is_said(text: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        parse_arms(text)


SIZES = Sizes(length=10, batch_size=8)
RESULT: dict[str, Any] = {
    "machine": {"machine": "M", "device": "cpu: cpu", "threads": 1, "version": "1", "jax": "2"},
    "arms": {
        "none": {"peak_bytes": 3_000_000, "seconds": [1.0, 2.0, 3.0], "steps": 4},
        "dot": {"peak_bytes": 5_000_000, "seconds": [2.0, 2.5, 12.0], "steps": 2},
    },
}


def test_a_row_has_medians_sizes_machine_and_attentions_part_round_by_round() -> None:
    none, dot = (point_row(SIZES, arm, RESULT) for arm in ("none", "dot"))
    assert set(dot) == set(COLUMNS)
    assert (dot["arm"], dot["placement"]) == ("dot", "input")
    assert (dot["length"], dot["context_size"], dot["hidden_size"]) == (10, 256, 256)
    assert [dot[name] for name in ("seconds", "seconds_low", "seconds_high")] == [2.5, 2.0, 12.0]
    assert (dot["repeats"], dot["steps"], dot["peak_mb"]) == (3, 2, 5.0)
    assert none["target_tokens_per_second"] == pytest.approx(10 * 8 / 2.0)
    assert (dot["machine"], dot["threads"], dot["reason"]) == ("M", 1, "")
    # Differences 1, .5, 9 and shares .5, .2, .75: not those of the medians, 0.5 and 0.2.
    assert [dot[f"attention_seconds{end}"] for end in ("", "_low", "_high")] == [1.0, 0.5, 9.0]
    shares = [dot[f"attention_share{end}"] for end in ("", "_low", "_high")]
    assert shares == pytest.approx([0.5, 0.2, 0.75])
    assert dot["attention_mb"] == 2.0
    assert none["attention_seconds"] is None


def test_an_arm_that_failed_has_a_reason_and_the_others_have_their_numbers() -> None:
    lost = {"peak_bytes": 5_000_000, "reason": "a step needs 99.0 GB, 2.0 GB are free"}
    result = RESULT | {"arms": RESULT["arms"] | {"dot": lost}}
    none, dot = (point_row(SIZES, arm, result) for arm in ("none", "dot"))
    assert none["seconds"] == 2.0
    assert (dot["seconds"], dot["peak_mb"], dot["reason"]) == (None, 5.0, lost["reason"])
    # Without a baseline there is a time, and no part of attention's own.
    dot = point_row(SIZES, "dot", RESULT | {"arms": {"dot": RESULT["arms"]["dot"], "none": lost}})
    assert (dot["seconds"], dot["attention_seconds"]) == (2.5, None)


def test_a_process_that_died_has_no_numbers_at_all() -> None:
    row = point_row(SIZES, "none", {"reason": "its process was ended by signal 9"})
    assert (row["seconds"], row["reason"]) == (None, "its process was ended by signal 9")


def test_the_file_has_its_columns_and_every_digit(tmp_path: Path) -> None:
    rows = [point_row(SIZES, arm, RESULT) | {"varied": "length"} for arm in ("none", "dot")]
    rows[0]["seconds"] = 0.1 + 0.2
    write(tmp_path, rows)
    with (tmp_path / "probes" / "cost.csv").open() as file:
        costs = list(csv.DictReader(file))
    assert list(costs[0]) == list(COLUMNS)
    assert float(costs[0]["seconds"]) == 0.1 + 0.2
    assert (costs[0]["attention_share"], costs[0]["steps"], costs[1]["threads"]) == ("", "4", "1")
