"""Tables as HTML: the terminal's cells, with heads that say what they head."""

from page_parser import Page
from rich.table import Table
from rich.text import Text

from seq2seq_bottleneck.report.tables import Grid, grids, table_html
from seq2seq_bottleneck.tables.render import barred, new_table


def _table(title=""):
    table = new_table(title, ["source\nwords", "arm", "n", "un-\ntrained"], texts=2)
    table.add_row("5-10", "none", "200", "48.4\n46.0..50.1")
    table.add_row("5-10", "additive", "200", "")
    table.add_row("11-20", "none", "80*", "[bold]7[/bold]")
    return table


def test_a_table_of_the_terminal_has_its_caption_heads_and_cells():
    (grid,) = grids(_table("A title"), "unused")
    assert grid == Grid(
        caption="A title",
        heads=("source\nwords", "arm", "n", "un-\ntrained"),
        rows=(
            ("5-10", "none", "200", "48.4\n46.0..50.1"),
            ("5-10", "additive", "200", ""),
            ("11-20", "none", "80*", "7"),
        ),
        headed=2,
    )


def test_tables_under_each_other_are_apart_and_take_the_title_above_them():
    stack = Table.grid()
    stack.add_row(Text("First", style="bold"))
    stack.add_row(_table())
    stack.add_row(_table("Second"))
    assert [grid.caption for grid in grids(stack, "The page's")] == ["First", "Second"]
    assert [grid.caption for grid in grids(_table(), "The page's")] == ["The page's"]


def test_bars_for_a_terminal_are_undone():
    (plain,) = grids(barred(lambda width: _table("x" * width)), "plain")
    assert plain.caption == "plain"


def test_rows_of_one_name_share_its_head_and_every_head_has_a_scope():
    page = Page(table_html(next(grids(_table("A title"), ""))))
    (table,) = page.named("table")
    assert table.all("caption")[0].text == "A title"
    assert [th.text for th in table.all("thead")[0].all("th")] == [
        "source words", "arm", "n", "untrained"
    ]  # fmt: skip
    first, second = table.all("tbody")
    assert first.all("th")[0].attributes["rowspan"] == "2"
    assert [th.attributes["scope"] for th in first.all("th")] == ["rowgroup", "row", "row"]
    assert [td.text for td in first.all("td")] == ["200", "48.446.0 to 50.1", "200", ""]
    assert first.all("small")[0].text == "46.0 to 50.1"
    assert "rowspan" not in second.all("th")[0].attributes
    assert [span.attributes["class"] for span in table.all("span")[1:]] == [
        "swatch arm-none", "swatch arm-additive", "swatch arm-none"
    ]  # fmt: skip


def test_a_row_of_one_cell_heads_those_below_it():
    table = new_table("T", ["source", "n"])
    table.add_row("[bold]Nouns[/bold]")
    table.add_row("cat", "3")
    made = Page(table_html(next(grids(table, ""))))
    head = made.named("tbody")[0].all("th")[0]
    assert (head.text, head.attributes["colspan"], head.attributes["scope"]) == (
        "Nouns", "2", "rowgroup"
    )  # fmt: skip


def test_text_in_a_table_is_escaped():
    grid = Grid("<i>", ("<b>",), (("<script>",),), 1)
    page = Page(table_html(grid))
    assert page.named("script") == []
    assert page.named("tbody")[0].text == "<script>"
    assert page.named("div")[0].attributes["aria-label"] == "<i>"
