"""Every table in every form: parsed back, escaped; small numbers, open ends, blanks; verdicts."""

import csv as csv_module
import io
import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from planted import write_planted
from rich.console import Console

from seq2seq_bottleneck.claims.verdict import Verdict
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import TABLES
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.tables.page import Page, in_line
from seq2seq_bottleneck.tables.pages import make_page
from seq2seq_bottleneck.tables.render import cell, tables_in

FALLING = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1, 0.1, 0.1, 0.1, 0.1]}
AWKWARD = "50 % & $1_000 #{a|b} ~^ <x> *y* `z` \\"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    write_planted(folder, FALLING, seeds=1, keep=frozenset({7, 15, 25, 35}))
    return Results.open(folder)


@pytest.fixture(scope="module", params=TABLES)
def page(request, bundle):
    return make_page(request.param, bundle)


def test_csv_and_json_parse_back_with_all_that_belongs_to_the_table(page):
    frame = page.frame
    read = pd.read_csv(io.StringIO(page.render("csv")), keep_default_na=False, na_values="")
    assert list(read.columns) == list(frame.columns)
    assert read["bucket"].tolist() == frame["bucket"].tolist()
    numbers = frame.select_dtypes("number").columns
    np.testing.assert_allclose(read[numbers], frame[numbers], atol=5.1e-5)
    described = json.loads(page.render("json"))
    assert (described["name"], described["title"]) == (page.name, page.title)
    assert [Verdict(**verdict) for verdict in described["verdicts"]] == page.judged
    assert described["caption"] == page.caption


def test_markdown_has_every_row_and_line(page):
    lines = page.render("markdown").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    ((_, rows_shown),) = tables_in(page.table)
    known = [[in_line(text) for text in row] for row in rows_shown]
    assert {len(row) for row in rows} == {len(known[0])}
    whole = [unescape("".join(row).replace("\\", "")) for row in (rows[0], *rows[2:])]
    assert [text.split() for text in whole] == [" ".join(row).split() for row in known]
    notes = [line for line in lines if line.startswith("- ")]
    assert len(notes) == 2 * len(page.judged) + len(page.caption)


def test_latex_has_every_row_and_as_many_cells_as_columns(page):
    text = page.render("latex")
    body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
    rows = [re.split(r"(?<!\\)&", line) for line in body.splitlines() if line.endswith(r"\\")]
    (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", text)
    assert len(rows) == len(tables_in(page.table)[0][1])
    assert {len(row) for row in rows} == {len(columns)}


def test_like_the_slide_a_table_is_fit_to_paste_in_every_form(bundle):
    page = make_page("vindication", bundle, like_slide=True)
    heads = ["Sentence Length", "No Attention", "With Attention", "Improvement"]
    rows = [heads, *page.frame.to_numpy().tolist()]
    assert list(csv_module.reader(io.StringIO(page.render("csv")))) == rows
    lines = [line for line in page.render("markdown").splitlines() if line.startswith("|")]
    assert [line[2:-2].split(" | ") for line in (lines[0], *lines[2:])] == rows
    assert json.loads(page.render("json"))["rows"][0] == dict(zip(heads, rows[1], strict=True))
    text = page.render("latex")
    assert r"\begin{tabular}{lrrr}" in text
    assert [line.replace(r"\%", "%").removesuffix(r" \\").split(" & ")
            for line in text.splitlines() if " & " in line] == rows  # fmt: skip
    (caption,) = re.findall(r"\\caption\{(.*)\}\n", text)
    assert caption.replace("\\", "") == f"{page.title}. {' '.join(page.caption)}"
    assert not re.search(r"(?<!\\)[%_#]", text)


def test_a_page_prints_one_line_per_verdict_and_what_was_run_or_everything(bundle):
    page = make_page("vindication", bundle)
    short, full = io.StringIO(), io.StringIO()
    page.print(Console(file=short, width=400))
    page.print(Console(file=full, width=80, highlight=False), details=True)
    lines = short.getvalue().splitlines()
    assert len([line for line in lines if line.startswith("L-VIND")]) == len(page.judged)
    assert "10 training pairs; context 32; " in " ".join(lines[-3:])
    assert "Rule:" not in short.getvalue()
    verdicts = [part for item in page.judged for part in (item.because, f"Rule: {item.rule}")]
    for line in (*verdicts, *page.caption):
        assert " ".join(line.split()) in " ".join(full.getvalue().split())


def test_unknown_names_are_usage_errors_with_the_nearest(bundle):
    with pytest.raises(UsageError, match="table 'contextsize'; did you mean 'context-size'"):
        make_page("contextsize", bundle)
    with pytest.raises(UsageError, match="unknown format 'markdwn'; did you mean 'markdown'"):
        make_page("vindication", bundle).render("markdwn")


def test_awkward_text_is_escaped():
    frame = pd.DataFrame({"a_b": [AWKWARD], "n": [3]})
    page = Page("t", "t", frame, "", [], [AWKWARD])
    text = page.render("latex")
    for part in (
        r"50 \% \& \$1\_000 \#\{a|b\} \textasciitilde{}",
        r" *y* `z` \textbackslash{} & 3 \\",
        r"a\_b & n \\",
        r"\begin{tabular}{lr}",
    ):
        assert part in text
    text = page.render("markdown")
    expected = r"50 % & $1\_000 #{a\|b} ~^ &lt;x&gt; \*y\* \`z\` " + "\\\\"
    assert f"| {expected} | 3 |" in text
    assert f"- {expected}" in text


@pytest.mark.parametrize(
    ("numbers", "note", "merged"),
    [
        ((1.5, 1.25, 2), "", "1.50 [1.25, 2.00]"),
        ((np.nan, np.nan, np.nan), "", ""),
        # An unknown end is open; a bound has a sign.
        ((60.0, 59.8, 60.0), "value at least, high at least", ">60.00 [59.80, >60.00]"),
        ((2.0, 2.0, 2.5), "value under, low under", "<2.00 [<2.00, 2.50]"),
        ((3.9, 3.1, np.nan), "value at least", ">3.90 [3.10, open]"),
        ((0.75, None, None), "censored: 512", "0.75"),
    ],
)
def test_an_interval_is_next_to_its_value_and_blanks_stay_blank(numbers, note, merged):
    assert in_line(cell(*numbers, form="{:.2f}", note=note)) == merged
