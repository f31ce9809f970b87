"""Arms keep their look, and are told apart without colour too."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from seq2seq_bottleneck.figures.style import ATTENTION, line_of, marks, shades

ATTENTIONS = ["none", "dot", "scaled-dot", "general", "additive", "uniform"]


def test_an_attention_looks_the_same_whatever_stands_beside_it():
    together = marks(ATTENTIONS)
    for arm in ATTENTIONS:
        assert marks(["uniform layers=2", arm])[arm] == together[arm]
    assert len({mark.colour for mark in together.values()}) == len(ATTENTIONS) + 1
    assert len({mark.marker for mark in together.values()}) == len(ATTENTIONS) + 1


def test_arms_of_one_attention_share_its_colour_and_not_its_marker():
    found = marks(["dot-output", "dot layers=2", "dot", "scaled-dot"])
    dots = [found[arm] for arm in ("dot", "dot-output", "dot layers=2")]
    assert {mark.colour for mark in dots} == {ATTENTION["dot"]}
    assert len({mark.marker for mark in found.values()}) == 5
    assert found["scaled-dot"].colour == ATTENTION["scaled-dot"]


def test_arms_that_no_attention_names_differ_in_colour_and_marker():
    first, second = (marks(["size=64", "size=128"])[arm] for arm in ("size=64", "size=128"))
    assert first.colour != second.colour
    assert first.marker != second.marker


def test_the_trained_line_is_drawn_through_and_untrained_is_the_same_everywhere():
    for controls in (["", "untrained"], ["in the source", "", "shuffled", "untrained"]):
        assert line_of(controls, "") == "-"
        assert line_of(controls, "untrained") == "--"
    assert line_of(["3,200 updates", "1,600 updates"], "3,200 updates") == "-"
    assert line_of(["3,200 updates", "1,600 updates"], "1,600 updates") != "-"


@pytest.mark.parametrize("colour", ATTENTION.values())
def test_shades_rise_in_grey_and_one_alone_is_the_colour(colour):
    def grey(shade):
        return np.dot(to_rgb(shade), (0.2126, 0.7152, 0.0722))

    assert shades(colour, 1) == [colour.lower()]
    for count in (2, 5, 9):
        assert (np.diff([grey(shade) for shade in shades(colour, count)]) < -0.03).all()
