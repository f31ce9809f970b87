"""Tables on consoles of several widths: no number is cut or broken; heatmaps."""

import io
import re

import numpy as np
import pytest
from planted import write_planted, write_sizes
from rich.console import Console

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import TABLES
from seq2seq_bottleneck.tables.pages import make_page
from seq2seq_bottleneck.tables.render import heatmap

WIDTHS = (80, 140)


def printed(renderable, width=80):
    file = io.StringIO()
    Console(file=file, width=width, highlight=False, color_system=None).print(renderable)
    return file.getvalue()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    pair, sizes = (tmp_path_factory.mktemp(name) for name in ("pair", "sizes"))
    write_planted(pair, {"none": [0.1, 0.3, 0.5, 0.6, 0.9], "additive": [0.0] * 5}, seeds=1)
    write_sizes(
        sizes,
        {(8, "none"): [0.1, 0.3, 0.5, 0.6, 0.7], (8, "scaled-dot"): [0.0, 0.1, 0.1, 0.2, 0.2],
         (16, "none"): [0.1, 0.2, 0.4, 0.5, 0.6], (16, "scaled-dot"): [0.0, 0.0, 0.1, 0.1, 0.1]},
    )  # fmt: skip
    bundles = [Results.open(pair)] * 2 + [Results.open(sizes)] * 3
    return {name: make_page(name, bundle) for name, bundle in zip(TABLES, bundles, strict=True)}


def numbers(text):
    """Every number; a range gives its two ends."""
    return sorted(re.findall(r"[+-]?\d[\d,]*\.?\d*%?", text))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TABLES)
def test_every_width_has_the_same_whole_numbers(pages, name, width):
    text = printed(pages[name].table, width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "…" not in text
    assert numbers(text) == numbers(printed(pages[name].table, 400))


# Attention weights as shades.

WEIGHTS = np.array([[0.95, 0.04, 0.01], [0.15, 0.35, 0.5]])


def test_words_are_on_both_axes_and_every_weight_has_its_shade():
    assert heatmap(["a", "cat", "</s>"], ["chat", "</s>"], WEIGHTS, 80) == [
        "         <",
        "       c /",
        "       a s",
        "     a t >",
        "chat ██",
        "</s> ░░▒▒▓▓",
    ]
    for weight, shade in {0.0: " ", 0.099: " ", 0.1: "░", 0.3: "▒", 0.5: "▓", 0.8: "█"}.items():
        line = heatmap(["x", "y"], ["z"], np.array([[weight, 1.0]]), 80)[-1]
        assert line == f"z {shade * 2}██"
