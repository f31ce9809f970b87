"""Weights as shades of text."""

import numpy as np
import pytest

from seq2seq_bottleneck.tables.heatmap import CELL, SHADES, heatmap, legend, shades_for

WEIGHTS = np.array([[0.95, 0.04, 0.01], [0.15, 0.35, 0.5]])


def test_words_stand_on_both_axes_and_every_weight_has_its_shade():
    assert heatmap(["a", "cat", "</s>"], ["chat", "</s>"], WEIGHTS, 80) == [
        "         <",
        "       c /",
        "       a s",
        "     a t >",
        "chat ██",
        "</s> ░░▒▒▓▓",
    ]


@pytest.mark.parametrize(
    ("weight", "shade"),
    [(0.0, " "), (0.099, " "), (0.1, "░"), (0.3, "▒"), (0.5, "▓"), (0.8, "█"), (1.0, "█")],
)
def test_shades_begin_where_the_legend_says(weight, shade):
    line = heatmap(["x", "y"], ["z"], np.array([[weight, 1.0]]), 80)[-1]
    assert line == f"z {shade * CELL}{'█' * CELL}"


def test_a_long_source_is_cut_into_pieces_that_fit():
    weights = np.eye(50)
    words = [f"w{place}" for place in range(50)]
    lines = heatmap(words, words, weights, 40)
    assert max(map(len, lines)) <= 40
    fit = (40 - 4) // CELL
    assert lines.count("") == -(-50 // fit) - 1
    assert sum("█" in line for line in lines) == 50


def test_words_and_weights_must_agree():
    with pytest.raises(ValueError, match="2 x 2 words"):
        heatmap(["a", "b"], ["c", "d"], WEIGHTS, 80)


def test_a_terminal_without_the_shades_gets_plain_ones_and_a_legend_of_them():
    assert shades_for("utf-8") == SHADES
    assert legend() == "weight: ' ' < .1 <= ░ < .3 <= ▒ < .5 <= ▓ < .8 <= █"
    for encoding in ("ascii", "latin-1"):
        shades = shades_for(encoding)
        assert legend(shades) == "weight: ' ' < .1 <= . < .3 <= : < .5 <= + < .8 <= #"
        assert heatmap(["a", "cat", "</s>"], ["chat", "</s>"], WEIGHTS, 80, shades)[-2:] == [
            "chat ##",
            "</s> ..::++",
        ]
