"""The audit as a table in every form, and what it reads from the grammar and from a bundle."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from seq2seq_bottleneck.lecture.slides import SLIDES, Evidence, Grid
from seq2seq_bottleneck.lecture.walkthroughs import audit, audit_all
from seq2seq_bottleneck.tables.lecture import (
    COLUMNS,
    audit_page,
    grammar_alignment,
    lecture_evidence,
    print_walkthrough,
)


@pytest.fixture(scope="module")
def evidence():
    return lecture_evidence(None)


@pytest.fixture(scope="module")
def page(evidence):
    return audit_page(audit_all(evidence))


def printed(width, show):
    text = io.StringIO()
    show(Console(file=text, width=width, highlight=False))
    lines = text.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    assert "…" not in text.getvalue()
    return text.getvalue()


def test_the_csv_has_a_row_an_id(page):
    read = pd.read_csv(io.StringIO(page.render("csv")))
    assert list(read.columns) == list(COLUMNS)
    assert list(read["id"]) == list(SLIDES)


def test_the_audit_fits_the_terminal_and_leaves_nothing_out(page):
    text = " ".join(printed(80, lambda console: page.print(console)).split())
    for row in page.frame.to_dict("records"):
        assert f"{row['id']} {row['topic']}: {row['verdict']} printed " in text
        assert row["why"] in text
    counts = page.caption[0].split(".")[0].split(", ")
    assert sum(int(part.split()[-1]) for part in counts) == len(SLIDES)


@pytest.mark.parametrize("name", SLIDES)
def test_walkthroughs_fit_the_terminal(evidence, name):
    result = audit(name, evidence)
    text = printed(80, lambda console: print_walkthrough(result, console))
    assert text.startswith(f"{name}  {result.topic}\n")
    assert f"\n{len(result.steps)}. " in text
    assert f"Verdict: {result.verdict}: " in text
    for check in result.checks:
        assert f"\n   {check.name}: {check.judgement}" in text


def test_matrices_are_drawn_with_their_marks_beside_each_other_where_there_is_room(evidence):
    slide = SLIDES["L10"]
    weights, ended = np.full((7, 7), 1 / 7), [*slide["english"], "</s>"]
    learned = Grid("learned", slide["french"], ended, weights, slide["gold"])
    result = audit("L10", Evidence(evidence.alignment, learned=learned))
    wide, narrow = (
        printed(width, lambda console: print_walkthrough(result, console)) for width in (120, 80)
    )
    titles = ["the", "slide's", "learned"]
    assert titles in [line.split() for line in wide.splitlines()]
    assert titles not in [line.split() for line in narrow.splitlines()]
    rows = [line.split() for line in narrow.splitlines() if line.split()]
    assert ["chat", "0.02", "[0.29]*", "0.18", "0.21", "0.01", "0.29*"] in [row[:7] for row in rows]
    assert ["tapis", "0.14", "0.05", "0.32*", "0.21", "0.06", "[0.23]"] in [row[:7] for row in rows]


def test_the_grammars_alignment_joins_the_tokens_of_a_word():
    source, target, links = grammar_alignment("The black cat sat on the mat")
    assert source == ["the", "black", "cat", "sat", "on", "the", "mat"]
    assert target == ["le", "chat", "noir", "s'est", "assis", "sur", "le", "tapis"]
    assert links == [[0], [2], [1], [3, 4], [5], [6], [7]]
    with pytest.raises(ValueError, match="does not make"):
        grammar_alignment("colourless green ideas")
