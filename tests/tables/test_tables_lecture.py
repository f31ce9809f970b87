"""The audit as a table in every form, and what it reads from the grammar and from a bundle."""

import io

import pytest
from rich.console import Console

from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.lecture.walkthroughs import audit
from seq2seq_bottleneck.tables.lecture import (
    audit_page,
    lecture_evidence,
    print_walkthrough,
)


@pytest.fixture(scope="module")
def evidence():
    return lecture_evidence(None)


def printed(width, show):
    text = io.StringIO()
    show(Console(file=text, width=width, highlight=False))
    lines = text.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    assert "…" not in text.getvalue()
    return text.getvalue()


def test_the_audit_fits_the_terminal_and_leaves_nothing_out(evidence):
    page = audit_page([audit(name, evidence) for name in SLIDES])
    text = " ".join(printed(80, lambda console: page.print(console)).split())
    for row in page.frame.to_dict("records"):
        assert f"{row['id']} {row['topic']}: {row['verdict']} printed " in text
        assert row["why"] in text
    counts = page.caption[0].split(".")[0].split(", ")
    assert sum(int(part.split()[-1]) for part in counts) == len(SLIDES)


def test_a_walkthrough_fits_the_terminal_and_marks_its_matrix(evidence):
    text = printed(80, lambda console: print_walkthrough(audit("L10", evidence), console))
    assert text.startswith("L10  ")
    rows = [line.split()[:7] for line in text.splitlines()]
    assert ["chat", "0.02", "[0.29]*", "0.18", "0.21", "0.01", "0.29*"] in rows
    assert ["tapis", "0.14", "0.05", "0.32*", "0.21", "0.06", "[0.23]"] in rows


def test_the_grammars_alignment_joins_the_tokens_of_a_word(evidence):
    source, target, links = evidence.alignment
    assert source == ["the", "black", "cat", "sat", "on", "the", "mat"]
    assert target == ["le", "chat", "noir", "s'est", "assis", "sur", "le", "tapis"]
    assert links == [[0], [2], [1], [3, 4], [5], [6], [7]]
