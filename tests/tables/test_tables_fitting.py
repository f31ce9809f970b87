"""Tables on consoles of several widths and encodings: nothing cut, nothing broken, room used."""

import io
import re

import pytest
from planted import write_planted, write_sizes
from rich.console import Console
from rich.table import Table

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.tables.fitting import (
    MEASURE,
    Spreading,
    least_width,
    print_prose,
    shows,
)
from seq2seq_bottleneck.tables.names import FORMATS, TABLES
from seq2seq_bottleneck.tables.pages import make_page, print_page, render
from seq2seq_bottleneck.tables.render import EIGHTHS, SCALE, bar, new_table

WIDTHS = (80, 100, 140, 200)
BLOCKS = EIGHTHS.strip()


class Encoded(io.StringIO):
    """A terminal's file that says which signs it can show."""

    def __init__(self, encoding):
        super().__init__()
        self.given = encoding

    @property
    def encoding(self):
        return self.given


def printed(what, width=80, encoding="utf-8"):
    held = Encoded(encoding)
    console = Console(file=held, width=width, highlight=False, color_system=None)
    if hasattr(what, "caption") and hasattr(what, "judged"):
        print_page(what, console)
    else:
        console.print(what)
    return held.getvalue()


def ranged(values):
    table = new_table("Title", ["source\nwords", "BLEU", "BP"])
    for name, value, low, high in values:
        table.add_row(name, f"{value:.1f}\n{low:.1f}..{high:.1f}" if value else "", "1.00")
    return table


TWO = (("5-10", 53.1, 48.4, 57.4), ("41+", 7.4, 6.7, 7.9), ("none", 0, 0, 0))


def test_ranges_stand_below_where_it_is_narrow_and_beside_in_a_column_where_there_is_room():
    table = ranged(TWO)
    narrow, wide = printed(table, 28).splitlines(), printed(table, 60).splitlines()
    place = next(n for n, line in enumerate(narrow) if "53.1" in line)
    assert narrow[place + 1].split() == ["48.4..57.4"]
    assert "range" not in " ".join(narrow)
    (first,) = [line for line in wide if "53.1" in line]
    assert first.split() == ["5-10", "53.1", "48.4..57.4", "1.00"]
    (head,) = [line for line in wide if "BLEU" in line]
    assert head.index("BLEU") + 4 == first.index("53.1") + 4
    assert head.index("range") + 5 == first.index("48.4..57.4") + 10


def test_what_is_in_two_lines_and_no_range_is_put_in_one_where_there_is_room():
    table = new_table("", ["source\npart", "value"])
    table.add_row("seen\n1-9", "0.98\n0.99")
    table.add_row("all", "1.00")
    table.add_section()
    assert [line.split() for line in printed(table, 14).splitlines() if line.strip()][3:] == [
        ["seen", "0.98"],
        ["1-9", "0.99"],
        ["all", "1.00"],
    ]
    assert ["seen", "1-9", "0.98", "0.99"] in [line.split() for line in printed(table).splitlines()]


def test_texts_stand_on_the_left_whatever_their_heads_and_numbers_on_the_right():
    table = new_table("", ["cell", "arm", "source"], texts=2)
    table.add_row("a", "b", "1")
    table.add_row("long", "wider", "100,000")
    lines = [line for line in printed(table).splitlines() if line.strip()]
    assert [line.rstrip() for line in (lines[0], *lines[2:])] == [
        " cell  arm     source",
        " a     b            1",
        " long  wider  100,000",
    ]


def test_tables_in_a_grid_spread_too():
    grid = Table.grid()
    grid.add_row(ranged(TWO))
    grid.add_row(ranged(TWO[:1]))
    assert printed(grid, 60).count("range") == 2
    assert "range" not in printed(grid, 28)
    assert max(map(len, printed(grid, 60).splitlines())) <= 60


def test_columns_move_together_before_a_number_is_broken():
    table = ranged(TWO)
    console = Console(file=io.StringIO(), width=80)
    width = least_width(table, console) - 2
    text = printed(table, width)
    assert max(map(len, text.splitlines())) <= width
    assert "48.4..57.4" in text


@pytest.mark.parametrize(
    ("bleu", "shown"),
    [
        (0.0, ""),
        (0.1, "▏"),
        (2.5, "▏"),
        (12.5, "▋"),
        (50.0, "██▌"),
        (87.5, "████▍"),
        (99.9, "█████"),
        (100.0, "█████"),
    ],
)
def test_a_bar_is_as_long_as_its_bleu(bleu, shown):
    assert bar(bleu, 5) == shown.ljust(5)


def eighths(drawn):
    """How long a bar is."""
    return sum(EIGHTHS.index(sign) for sign in drawn)


def test_bars_are_exact_to_the_eighth_of_a_column():
    for count in range(81):
        drawn = bar(count * 100 / 80, 10)
        assert eighths(drawn) == count
        assert len(drawn) == 10


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    pair, sizes = (tmp_path_factory.mktemp(name) for name in ("pair", "sizes"))
    write_planted(pair, {"none": [0.1, 0.3, 0.5, 0.6, 0.9], "additive": [0.0] * 5}, seeds=1)
    write_sizes(
        sizes,
        {(8, "none"): [0.1, 0.3, 0.5, 0.6, 0.7], (8, "scaled-dot"): [0.0, 0.1, 0.1, 0.2, 0.2],
         (16, "none"): [0.1, 0.2, 0.4, 0.5, 0.6], (16, "scaled-dot"): [0.0, 0.0, 0.1, 0.1, 0.1]},
    )  # fmt: skip
    bundles = [load_bundle(pair)] * 2 + [load_bundle(sizes)] * 3
    return {name: make_page(name, each) for name, each in zip(TABLES, bundles, strict=True)}


def numbers(text):
    """Every number, whole, but for those of the bars' scale; ranges as their two ends."""
    return sorted(re.findall(r"[+-]?\d[\d,]*\.?\d*%?", text.replace(SCALE, "")))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TABLES)
def test_every_width_shows_the_same_whole_numbers(pages, name, width):
    table = pages[name].table
    text = printed(table, width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "…" not in text
    assert numbers(text) == numbers(printed(table, 400))


@pytest.mark.parametrize("name", TABLES[:3])
def test_a_wide_console_takes_fewer_lines(pages, name):
    page = pages[name]
    assert len(printed(page.table, 200).splitlines()) < len(printed(page.table).splitlines())


BARRED = TABLES[:3]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", BARRED)
def test_bars_stand_beside_their_numbers_with_their_scale(pages, name, width):
    page = pages[name]
    text = printed(page.table, width)
    found = re.findall(rf"([{BLOCKS}]+) +(\d+\.\d)\b", text)
    assert found
    longest = max(len(drawn) for drawn, _ in found)
    size = 10 if longest > 5 else 5
    for drawn, bleu in found:
        assert eighths(drawn) == pytest.approx(float(bleu) * size * 8 / 100, abs=1)
    assert SCALE in text


def test_bars_go_where_even_tight_columns_leave_no_room(pages):
    assert SCALE not in printed(pages["vindication"].table, 60)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "no-such-encoding"])
@pytest.mark.parametrize("name", BARRED)
def test_where_the_encoding_has_no_blocks_there_are_none(pages, name, encoding):
    page = pages[name]
    text = printed(page.table, encoding=encoding)
    assert not set(text) & set(BLOCKS)
    assert SCALE not in text
    assert numbers(text) == numbers(printed(page.table))
    assert not shows(encoding, BLOCKS)


@pytest.mark.parametrize("form", FORMATS[1:])
@pytest.mark.parametrize("name", TABLES)
def test_no_form_for_other_programs_has_bars(pages, name, form):
    text = render(pages[name], form)
    assert not set(text) & set(BLOCKS)
    assert SCALE not in text


@pytest.mark.parametrize("width", WIDTHS)
def test_prose_is_broken_at_a_readable_length_and_taken_as_it_stands(width):
    words = "a [bold]word[/bold] :cat: [1] "
    held = io.StringIO()
    print_prose(Console(file=held, width=width), [words * 30, "end"])
    text = held.getvalue()
    assert max(map(len, text.splitlines())) <= min(width, MEASURE)
    assert " ".join(text.split()) == f"{words * 30}end"


def test_a_spreading_table_measures_as_it_prints():
    console = Console(file=io.StringIO(), width=60)
    table = ranged(TWO)
    assert isinstance(table, Spreading)
    for width in (28, 60):
        options = console.options.update_width(width)
        shown = max(len(line.rstrip()) for line in printed(table, width).splitlines())
        assert shown <= table.__rich_measure__(console, options).maximum <= width
