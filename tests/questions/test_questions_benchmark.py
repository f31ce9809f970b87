"""The points, what a user may name and what not, and the rows that a worker's result gives."""

import csv
from pathlib import Path
from typing import Any

import pytest

from seq2seq_bottleneck.questions.benchmark import (
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
    assert [sizes.name for sizes in points({"length": (30, 50)})] == ["base", "length 50"]
    for sizes, varied in plan.items():
        changed = [name for name in VARIED if getattr(sizes, name) != getattr(BASE, name)]
        assert varied == (tuple(changed) or tuple(VARIED))
    assert BASE in plan
    planned = {(name, getattr(sizes, name)) for sizes, varied in plan.items() for name in varied}
    assert planned == {(name, size) for name, sizes in variation.items() for size in sizes}


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
        ("length=8,4,8", {"length": (4, 8)}),
        ("context", {"context_size": DEFAULT["context_size"]}),
        (
            "length=4,vocabulary=32_000,500,batch_size",
            {"length": (4,), "vocabulary": (500, 32_000), "batch_size": DEFAULT["batch_size"]},
        ),
    ],
)
def test_variations_are_read(text: str, expected: Variation) -> None:
    assert parse_variation(text, DEFAULT) == expected


@pytest.mark.parametrize(
    ("parse", "text", "parts"),
    [
        (parse_variation, "lenght", ["'lenght'", "did you mean 'length'"]),
        (parse_variation, "length=0", ["length=0", "from 1 up"]),
        (parse_variation, "length=4,-8", ["-8", "from 1 up"]),
        (parse_variation, "length=1.5", ["1.5", "whole"]),
        (parse_variation, "length=", ["length=", "whole"]),
        (parse_variation, "length=ten", ["ten"]),
        (parse_variation, "length=4,ten", ["'ten'"]),
        (parse_variation, "vocabulary=4", ["vocabulary=4", "from 5 up"]),
        (parse_variation, "10,20", ["'10'", "length=10"]),
        (parse_variation, " , ", ["name at least one of length, context, batch, vocabulary"]),
        (parse_arms, "aditive", ["'aditive'", "did you mean 'additive'"]),
        (parse_arms, ",", ["name at least one"]),
    ],
)
def test_what_cannot_be_measured_is_said(parse: Any, text: str, parts: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        parse(text, *[DEFAULT] * (parse is parse_variation))
    assert all(part in str(error.value) for part in parts), str(error.value)


SIZES = Sizes(length=10, batch_size=8)
RESULT: dict[str, Any] = {
    "machine": {"machine": "M", "device": "cpu: cpu", "threads": 1, "version": "1", "jax": "2"},
    "arms": {
        "none": {"peak_bytes": 3_000_000, "seconds": [1.0, 2.0, 3.0], "steps": 4},
        "dot": {"peak_bytes": 5_000_000, "seconds": [2.0, 2.5, 12.0], "steps": 2},
    },
}


def test_the_file_has_medians_sizes_machine_and_attentions_part_round_by_round(
    tmp_path: Path,
) -> None:
    rows = [point_row(SIZES, arm, RESULT) | {"varied": "length"} for arm in ("none", "dot")]
    rows[0]["seconds"] = 0.1 + 0.2  # every digit is written
    write(tmp_path, rows)
    with (tmp_path / "probes" / "cost.csv").open() as file:
        none, dot = csv.DictReader(file)
    assert list(dot) == list(COLUMNS)
    assert float(none["seconds"]) == 0.1 + 0.2
    assert float(none["target_tokens_per_second"]) == 10 * 8 / 2.0
    assert (none["attention_seconds"], none["steps"]) == ("", "4")
    expected = {
        "arm": "dot", "placement": "input", "length": "10", "context_size": "256",
        "hidden_size": "256", "seconds": "2.5", "seconds_low": "2.0", "seconds_high": "12.0",
        "repeats": "3", "steps": "2", "peak_mb": "5.0", "machine": "M", "threads": "1",
        # Differences 1, .5, 9 and shares .5, .2, .75: not those of the medians, 0.5 and 0.2.
        "attention_seconds": "1.0", "attention_seconds_low": "0.5", "attention_seconds_high": "9.0",
        "attention_share": "0.5", "attention_share_high": "0.75", "attention_mb": "2.0",
        "reason": "",
    }  # fmt: skip
    assert {name: dot[name] for name in expected} == expected


LOST = {"peak_bytes": 5_000_000, "reason": "a step needs 99.0 GB, 2.0 GB are free"}


@pytest.mark.parametrize(
    ("result", "arm", "expected"),
    [
        ({"arms": RESULT["arms"] | {"dot": LOST}}, "none", (2.0, None, 3.0, "")),
        ({"arms": {"dot": LOST}}, "dot", (None, None, 5.0, LOST["reason"])),
        # Without a baseline there is a time, and no part of attention's own.
        ({"arms": RESULT["arms"] | {"none": LOST}}, "dot", (2.5, None, 5.0, "")),
        ({"reason": "it was ended by signal 9"}, "none",
         (None, None, None, "it was ended by signal 9")),
    ],
)  # fmt: skip
def test_an_arm_that_failed_has_a_reason_and_the_others_have_their_numbers(
    result: dict[str, Any], arm: str, expected: tuple
) -> None:
    row = point_row(SIZES, arm, result)
    names = ("seconds", "attention_seconds", "peak_mb", "reason")
    assert tuple(row[name] for name in names) == expected
