"""Arms keep their look, and are told apart without colour too."""

import pytest

from seq2seq_bottleneck.figures.frame import LETTERS, balanced
from seq2seq_bottleneck.figures.style import DARK, LIGHT, line_of, mark_of, marks

ATTENTIONS = ["none", "dot", "scaled-dot", "general", "additive", "uniform"]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_an_attention_looks_the_same_whatever_stands_beside_it(theme):
    together = marks(ATTENTIONS, theme)
    for arm in ATTENTIONS:
        assert marks(["uniform layers=2", arm], theme)[arm] == together[arm]
    assert len({mark.colour for mark in together.values()}) == len(ATTENTIONS) + 1
    assert len({mark.marker for mark in together.values()}) == len(ATTENTIONS) + 1


def test_arms_of_one_attention_share_its_colour_and_not_its_marker():
    found = marks(["dot-output", "dot layers=2", "dot", "scaled-dot"], LIGHT)
    dots = [found[arm] for arm in ("dot", "dot-output", "dot layers=2")]
    assert {mark.colour for mark in dots} == {LIGHT.attention["dot"]}
    assert len({mark.marker for mark in found.values()}) == 5
    assert found["scaled-dot"].colour == LIGHT.attention["scaled-dot"]


def test_arms_that_no_attention_names_differ_in_colour_and_marker():
    first, second = (marks(["size=64", "size=128"], LIGHT)[arm] for arm in ("size=64", "size=128"))
    assert first.colour != second.colour
    assert first.marker != second.marker


def test_the_trained_line_is_drawn_through_and_untrained_is_the_same_everywhere():
    for controls in (["", "untrained"], ["in the source", "", "shuffled", "untrained"]):
        assert line_of(controls, "") == "-"
        assert line_of(controls, "untrained") == "--"
    assert line_of(["3,200 updates", "1,600 updates"], "3,200 updates") == "-"
    assert line_of(["3,200 updates", "1,600 updates"], "1,600 updates") != "-"


def test_what_is_no_arms_has_a_marker_a_control():
    controls = ["", "diagonal", "ibm1"]
    found = marks(["additive", ""], LIGHT)
    shared = [mark_of("", control, found, controls) for control in controls[1:]]
    assert shared[0].marker != shared[1].marker
    assert mark_of("additive", "diagonal", found, controls) == found["additive"]


@pytest.mark.parametrize("letters", [0, 1, 149, 150, 151, 290, 400])
def test_a_note_has_as_few_lines_as_it_needs_and_no_short_one(letters):
    note = ("abcd " * 100)[:letters].strip()
    lines = balanced(note)
    assert " ".join(lines) == note
    assert len(lines) == -(-len(note) // LETTERS)
    assert (
        len({len(line) for line in lines}) <= 1 or max(map(len, lines)) - min(map(len, lines)) <= 10
    )
