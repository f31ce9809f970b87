"""The page in a real browser: it runs, it answers, and markup in the text stays text."""

import json

import pytest
from browser import executable, visit
from listed import write_relisted
from page_parser import parse
from planted_report import CLOSING, PAIR, SCRIPT, write_hostile, write_results

from seq2seq_bottleneck.report.page import write_report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        executable() is None, reason="no chromium, chromium-browser or google-chrome on PATH"
    ),
]


def explorer(page, folder):
    """The explorer of a page, after its script has run without an error."""
    dom, console = visit(page.as_uri(), folder)
    assert console == []
    return parse(dom.replace("<!DOCTYPE html>", ""))


def test_the_explorer_shows_the_longest_sentence_that_fits(tmp_path):
    results = write_results(tmp_path / "results")
    for path in results.glob("runs/*/examples.json"):
        examples = json.loads(path.read_text())
        other = dict(examples[0], sentence=1, source=["dogs", "run", "</s>"], reference="x")
        other["weights"] = [row[:3] for row in examples[0]["weights"]]
        write_relisted(path, json.dumps([*examples, other]))
    write_report(results, tmp_path / "report.html")
    page = explorer(tmp_path / "report.html", tmp_path)
    assert "hidden" not in page.by_id("explorer-app").attributes
    assert len(page.by_id("explorer-choice").all("option")) == 2
    shown = page.by_id("explorer-shown")
    assert shown.all("dd")[0].text == PAIR[0]
    maps = [table for table in shown.all("table") if "heat" in table.attributes.get("class", "")]
    assert [table.attributes["class"] for table in maps] == ["heat arm-none", "heat arm-additive"]
    for table in maps:
        rows = table.all("tbody")[0].all("tr")
        assert len(rows) == 4
        assert all(len(row.all("td")) == len(PAIR[0].split()) + 1 for row in rows)
        assert rows[-1].all("td")[0].attributes["title"].endswith(": 0.25")


def test_markup_in_the_text_stays_text(tmp_path):
    page = tmp_path / "report.html"
    write_report(write_hostile(tmp_path / "results"), page)
    shown = explorer(page, tmp_path).by_id("explorer-shown")
    assert SCRIPT in shown.all("dd")[0].text
    assert CLOSING in shown.all("thead")[0].text
