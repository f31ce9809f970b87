"""The points: one size at a time, each measured once; what a user may name and what not."""

import pytest

from seq2seq_bottleneck.bench.grid import (
    BASE,
    DEFAULT,
    DEFAULT_ARMS,
    QUICK,
    QUICK_ARMS,
    Arm,
    Sizes,
    parse_arms,
    parse_variation,
    points,
)
from seq2seq_bottleneck.results.cost import VARIED
from seq2seq_bottleneck.settings.errors import UsageError


@pytest.mark.parametrize("variation", [DEFAULT, QUICK])
def test_every_point_differs_from_the_base_in_at_most_one_size(variation):
    assert tuple(variation) == VARIED
    found = points(variation)
    assert len({point.sizes for point in found}) == len(found)
    for point in found:
        changed = [name for name in VARIED if getattr(point.sizes, name) != getattr(BASE, name)]
        assert point.varied == (tuple(changed) or VARIED)
    held = {(name, getattr(point.sizes, name)) for point in found for name in point.varied}
    assert held == {(name, size) for name, sizes in variation.items() for size in sizes}


def test_the_default_has_the_base_the_issue_names():
    assert Sizes(30, 256, 64, 2_000, 100) == BASE
    assert {10, 20, 50, 100, 200} <= set(DEFAULT["length"])
    assert all(getattr(BASE, name) in sizes for name, sizes in DEFAULT.items())
    assert points({"length": (30, 50)})[0].name == "base"
    assert points({"length": (30, 50)})[1].name == "length 50"


def test_the_model_is_the_lectures_with_hidden_equal_to_context():
    model = Sizes(context_size=64).model(Arm("dot", "output"))
    assert (model.attention, model.placement) == ("dot", "output")
    assert (model.context_size, model.hidden, model.attention_width) == (64, 64, 64)
    assert not model.hidden_apart


def test_each_arm_comes_with_the_one_without_attention_in_its_placement():
    names = [arm.name for arm in parse_arms("dot-output, additive")]
    assert names == ["none-output", "dot-output", "none", "additive"]
    assert [arm.name for arm in parse_arms("scaled-dot-output")] == [
        "none-output",
        "scaled-dot-output",
    ]
    assert parse_arms("none,none") == [Arm("none", "input")]
    assert parse_arms("dot")[1].baseline == "none"
    assert parse_arms("dot-output")[1].baseline == "none-output"
    for names in (DEFAULT_ARMS, QUICK_ARMS):
        assert tuple(arm.name for arm in parse_arms(",".join(names))) == names


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
def test_variations_are_read(text, expected):
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
def test_what_cannot_be_varied_is_said(text, parts):
    with pytest.raises(UsageError) as error:
        parse_variation(text, DEFAULT)
    assert all(part in str(error.value) for part in parts), str(error.value)


@pytest.mark.parametrize(("text", "part"), [("aditive", "'additive'"), (",", "name at least one")])
def test_an_unknown_arm_is_said(text, part):
    with pytest.raises(UsageError, match=part):
        parse_arms(text)
