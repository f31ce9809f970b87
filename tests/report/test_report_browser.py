"""The page in a real browser: it runs, it answers, it asks nothing of anybody, it fits a phone."""

import json
from pathlib import Path

import pytest
from browser import executable, visit
from listed import write_relisted
from page_parser import parse
from planted_report import CLOSING, PAIR, SCRIPT, write_hostile, write_results

from seq2seq_bottleneck.report.page import make_report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        executable() is None, reason="no chromium, chromium-browser or google-chrome on PATH"
    ),
]
FRAME = """<!doctype html><body><iframe width=WIDTH height=800 src="report.html"></iframe>
<script>const frame = document.querySelector("iframe");
frame.onload = () => {
  const page = frame.contentDocument;
  const whole = page.documentElement;
  const sizes = [whole.clientWidth, whole.scrollWidth, whole.scrollHeight];
  frame.contentWindow.scrollTo(0, whole.scrollHeight);
  sizes.push(page.querySelector("nav").getBoundingClientRect().top);
  const choice = page.getElementById("explorer-choice");
  choice.focus();
  choice.value = "1";
  choice.dispatchEvent(new Event("change"));
  setTimeout(() => {
    const shown = page.querySelector("#explorer-shown dd").textContent;
    const focused = page.activeElement === choice;
    const hash = frame.contentWindow.location.hash;
    document.title = JSON.stringify([...sizes, shown, focused, hash, choice.value]);
  }, 500);
}</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page whose second sentence is another than its first."""
    folder = tmp_path_factory.mktemp("site")
    write_results(folder / "results")
    for path in (folder / "results").glob("runs/*/examples.json"):
        examples = json.loads(path.read_text())
        other = dict(examples[0], sentence=1, source=["dogs", "run", "</s>"], reference="x")
        other["weights"] = [row[:3] for row in examples[0]["weights"]]
        write_relisted(path, json.dumps([*examples, other]))
    (folder / "report.html").write_text(make_report(folder / "results"), encoding="utf8")
    return folder


def test_a_page_that_was_tampered_with_does_not_run(folder, tmp_path):
    """The policy holds: neither another script nor another image is taken."""
    text = (folder / "report.html").read_text(encoding="utf8")
    added = "<script>document.title='owned'</script>"
    image = "<img alt='' src='http://example.invalid/x.png'>"
    page = tmp_path / "page.html"
    page.write_text(text.replace("<main>", f"<main>{added}{image}", 1), encoding="utf8")
    visited = visit(page.as_uri(), tmp_path)
    assert sum("Content Security Policy" in line for line in visited.console) >= 2
    assert visited.requests == []
    assert "<title>owned" not in visited.dom


@pytest.mark.parametrize(("fragment", "source"), [("", PAIR[0]), ("#sentence=2", "dogs run"),
                                                  ("#sentence=99", PAIR[0])])  # fmt: skip
def test_the_explorer_answers_without_an_error_or_a_request(fragment, source, folder, tmp_path):
    visited = visit((folder / "report.html").as_uri() + fragment, tmp_path)
    assert visited.console == visited.requests == []
    page = parse(visited.dom.replace("<!DOCTYPE html>", ""))
    assert "hidden" not in page.by_id("explorer-app").attributes
    assert len(page.by_id("explorer-choice").all("option")) == 2
    shown = page.by_id("explorer-shown")
    assert shown.all("dd")[0].text == source
    maps = [table for table in shown.all("table") if "heat" in table.attributes.get("class", "")]
    assert [table.attributes["class"] for table in maps] == ["heat arm-none", "heat arm-additive"]
    captions = [table.all("caption")[0].text for table in maps]
    assert captions[0].startswith("No attention: every output word is made from the last state")
    assert captions[1].startswith("Where additive looked: a row for each output word")
    heads = [head.text for head in shown.all("h3")]
    assert (heads[1] == "additive: 2 of 3 source words kept, 1 more in part") == (source == PAIR[0])
    for table in maps:
        rows = table.all("tbody")[0].all("tr")
        assert len(rows) == 4
        assert all(len(row.all("td")) == len(source.split()) + 1 for row in rows)
        assert rows[-1].all("td")[0].attributes["title"].endswith(": 0.25")
        assert "opacity: 0.25" in rows[-1].all("i")[0].attributes["style"]


def test_markup_in_the_text_stays_text(tmp_path):
    page = tmp_path / "report.html"
    page.write_text(make_report(write_hostile(tmp_path / "results")), encoding="utf8")
    visited = visit(page.as_uri(), tmp_path)
    assert visited.console == visited.requests == []
    shown = parse(visited.dom.replace("<!DOCTYPE html>", "")).by_id("explorer-shown")
    assert SCRIPT in shown.all("dd")[0].text
    assert CLOSING in shown.all("thead")[0].text


def in_a_frame(width, folder, tmp_path):
    """What `FRAME` says of the page of a folder in a window of this width."""
    frame = folder / f"frame{width}.html"
    frame.write_text(FRAME.replace("WIDTH", str(width)))
    visited = visit(frame.as_uri(), tmp_path, "--window-size=1400,900", "--hide-scrollbars")
    assert visited.console == []
    return json.loads(parse(visited.dom).all("title")[0].text)


@pytest.mark.parametrize("width", [360, 1280])
def test_a_sentence_has_its_address_contents_stay_and_nothing_is_too_wide(width, folder, tmp_path):
    inner, scrolled, _, top, *chosen = in_a_frame(width, folder, tmp_path)
    assert (scrolled <= inner == width, top) == (True, 0)
    assert chosen == ["dogs run", True, "#sentence=2", "1"]


def test_the_page_of_the_reference_results_has_at_most_25_screens(tmp_path):
    reference = Path(__file__).parents[2] / "results" / "reference"
    (tmp_path / "report.html").write_text(make_report(reference), encoding="utf8")
    _, _, height, *_ = in_a_frame(1280, tmp_path, tmp_path)
    assert height <= 25 * 800
