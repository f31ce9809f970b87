"""The audit as a table in every form, and what it reads from the grammar and from a bundle."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from listed import write_relisted
from rich.console import Console

from seq2seq_bottleneck.lecture.attention_walks import walk
from seq2seq_bottleneck.lecture.audit import AUDITS, audit_all
from seq2seq_bottleneck.lecture.evidence import Evidence
from seq2seq_bottleneck.lecture.formulas import ON_PAPER
from seq2seq_bottleneck.lecture.grid import Grid
from seq2seq_bottleneck.lecture.sentences import slide_grid
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.results.cost import COST_EXPONENTS
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.audit import (
    COLUMNS,
    audit_page,
    grammar_alignment,
    measured_exponent,
)
from seq2seq_bottleneck.tables.pages import print_page, render
from seq2seq_bottleneck.tables.walks import grid_table, print_walk

HEADS = "arm,varied,quantity,part,exponent,low,high,points,from,to\n"


@pytest.fixture(scope="module")
def evidence():
    return Evidence(grammar_alignment(SLIDES.l16.english))


@pytest.fixture(scope="module")
def page(evidence):
    return audit_page(audit_all(evidence))


def printed(width, show):
    held = io.StringIO()
    show(Console(file=held, width=width, highlight=False))
    lines = held.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    assert "…" not in held.getvalue()
    return held.getvalue()


def test_csv_and_json_parse_back_with_a_row_an_id(page):
    read = pd.read_csv(io.StringIO(render(page, "csv")))
    assert list(read.columns) == list(COLUMNS)
    assert list(read["id"]) == list(AUDITS)
    pd.testing.assert_frame_equal(read, page.frame)
    rows = json.loads(render(page, "json"))["rows"]
    assert pd.DataFrame(rows).equals(page.frame)


def test_markdown_has_a_row_an_id_and_the_rules(page):
    text = render(page, "markdown")
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == 1 + len(AUDITS)
    for word in set(page.frame["verdict"]):
        assert f"- {word}: " in text


@pytest.mark.parametrize("width", [80, 120])
def test_the_audit_fits_the_terminal_and_leaves_nothing_out(page, width):
    text = " ".join(printed(width, lambda console: print_page(page, console)).split())
    for row in page.frame.to_dict("records"):
        assert f"{row['id']} {row['topic']}: {row['verdict']} printed " in text
        assert row["why"] in text
    counts = page.caption[0].split(".")[0].split(", ")
    assert sum(int(part.split()[-1]) for part in counts) == len(AUDITS)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", AUDITS)
def test_walks_fit_the_terminal(evidence, name, width):
    audit = AUDITS[name](evidence)
    steps = walk(name, evidence, ON_PAPER)
    text = printed(width, lambda console: print_walk(audit, steps, console))
    assert text.startswith(f"{name}  {audit.topic}\n")
    assert f"\n{len(steps)}. " in text
    assert f"Verdict: {audit.verdict}: " in text


def test_a_finding_of_ours_is_marked_otherwise_than_a_slip(evidence):
    audit, steps = AUDITS["L8"](evidence), walk("L8", evidence, ON_PAPER)
    lines = printed(80, lambda console: print_walk(audit, steps, console)).splitlines()
    found = [line.strip() for line in lines if "9:1 becomes" in line]
    assert found[0] == "Ours: 9:1 becomes 2.2:1, the difference is flattened."
    assert [line.strip() for line in lines if line.strip().startswith("!")] == [
        "! The slide prints the weights 0.64 0.36, not 0.690 0.310.",
        "! The slide calls this sparsity: exp is never 0, so no weight is.",
    ]


def test_the_matrix_is_drawn_with_its_marks():
    text = printed(80, lambda console: console.print(grid_table(slide_grid(SLIDES.l10))))
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines()[2:] if line.strip()}
    assert rows["chat"] == ["0.02", "[0.29]*", "0.18", "0.21", "0.01", "0.29*"]
    assert rows["tapis"] == ["0.14", "0.05", "0.32*", "0.21", "0.06", "[0.23]"]
    assert text.count("*") == 9
    assert text.count("[") == 7


def test_a_learned_matrix_stands_beside_the_slides_where_there_is_room(evidence):
    slide = slide_grid(SLIDES.l10)
    weights = np.full((7, 7), 1 / 7)
    learned = Grid("learned", slide.rows, (*slide.columns, "</s>"), weights, slide.gold, "A note.")
    evidence = replace(evidence, learned=learned)
    audit, steps = AUDITS["L10"](evidence), walk("L10", evidence, ON_PAPER)
    wide, narrow = (
        printed(width, lambda console: print_walk(audit, steps, console)) for width in (120, 80)
    )
    titles = ["the", "slide's", "learned"]
    assert titles in [line.split() for line in wide.splitlines()]
    assert titles not in [line.split() for line in narrow.splitlines()]
    assert "   A note." in narrow.splitlines()


def test_the_grammars_alignment_joins_the_tokens_of_a_word():
    own = grammar_alignment("The black cat sat on the mat")
    assert own.target == ("le", "chat", "noir", "s'est", "assis", "sur", "le", "tapis")
    assert own.phrases == [(a.lower(), b.lower()) for a, b in SLIDES.l16.links]
    assert own.crossings == [("black", "cat")]
    assert own.one_to_many == ["sat"]
    with pytest.raises(ValueError, match="does not make"):
        grammar_alignment("colourless green ideas")


def test_the_exponent_is_that_of_dot_attentions_own_part_over_length(tmp_path):
    assert measured_exponent(tmp_path) is None
    path = tmp_path / COST_EXPONENTS
    rows = [
        "additive,length,attention_seconds,upper,1.8,1.7,1.9,5,10,80",
        "dot-output,length,attention_seconds,upper,1.7,1.6,1.8,5,10,80",
        "dot,length,seconds,upper,1.1,1.0,1.2,5,10,80",
        "dot,context_size,attention_seconds,upper,1.0,0.9,1.1,5,10,80",
        "dot,length,attention_seconds,upper,1.95,1.9,2.0,5,10,80",
        "dot,length,attention_seconds,all,1.2,1.1,1.3,9,10,160",
        "none,length,attention_seconds,upper,,,,0,,",
    ]
    write_relisted(path, HEADS + "\n".join(rows) + "\n")
    found = measured_exponent(tmp_path)
    assert (found.arm, found.value, found.low, found.high) == ("dot-output", 1.7, 1.6, 1.8)
    write_relisted(path, HEADS + "\n".join([rows[0], *rows[2:]]) + "\n")
    assert measured_exponent(tmp_path).value == 1.95
    write_relisted(path, HEADS + rows[0] + "\n")
    assert measured_exponent(tmp_path).arm == "additive"
    write_relisted(path, HEADS + rows[-1] + "\n")
    assert measured_exponent(tmp_path) is None
    write_relisted(path, "nothing\n1\n")
    with pytest.raises(UserError, match=r"cost_exponents\.csv' cannot be read"):
        measured_exponent(tmp_path)


def test_recomputed_numbers_do_not_come_from_the_printed_ones(page):
    """Independent: the softmax of L7's scores by another route."""
    scores = np.array([0.09, 0.94, 0.20])
    weights = 1 / np.exp(scores[None, :] - scores[:, None]).sum(axis=1)
    row = page.frame.set_index("id").loc["L7"]
    assert " ".join(f"{weight:.3f}" for weight in weights) in row["recomputed"]
