"""The page as text: one complete file with every measured number, and the data's markup escaped."""

import hashlib
import json
import re
from base64 import b64encode
from urllib.parse import unquote

import numpy as np
import pytest
from page_parser import LOADING, parse
from planted_report import (
    CLOSING,
    PAIR,
    QUOTES,
    SCRIPT,
    SEPARATORS,
    SOURCE,
    without_store,
    write_hostile,
    write_results,
)

from seq2seq_bottleneck.report.page import explorer_data, write_report
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.tables.claims import decide_all
from seq2seq_bottleneck.tables.pages import make_page

GRAMMAR = CorpusSettings()


def page_text(folder):
    """The page of a folder, written next to it."""
    write_report(folder, folder.parent / "page.html")
    return (folder.parent / "page.html").read_text(encoding="utf8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_results(tmp_path_factory.mktemp("results"), seeds=2)


@pytest.fixture(scope="module")
def text(folder):
    return page_text(folder)


@pytest.fixture(scope="module")
def page(text):
    return parse(text)


@pytest.fixture(scope="module")
def hostile_text(tmp_path_factory):
    """The page of a bundle without its store."""
    folder = tmp_path_factory.mktemp("other") / f"<b>{SCRIPT[:8]}"
    return page_text(without_store(write_hostile(folder)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["text", "hostile_text"])
def test_nothing_is_loaded_links_lead_somewhere_and_tables_have_heads(name, request):
    page = parse(request.getfixturevalue(name))
    addresses = [
        node.attributes[key] for node in page.nodes for key in LOADING if key in node.attributes
    ]
    assert all(address.startswith("data:image/svg+xml,") for address in addresses)
    assert page.all("link") == []
    (style,) = page.all("style")
    assert not re.search(r"url\(|@import", style.text)
    (meta,) = [node for node in page.all("meta") if "http-equiv" in node.attributes]
    rules = dict(rule.strip().split(" ", 1) for rule in meta.attributes["content"].split(";"))
    assert (rules["default-src"], rules["img-src"]) == ("'none'", "data:")
    for node in page.all("script"):
        if "type" not in node.attributes:
            digest = b64encode(hashlib.sha256(node.text.encode()).digest()).decode()
            assert rules["script-src"] == f"'sha256-{digest}'"
    assert not [key for node in page.nodes for key in node.attributes if key[:2] == "on"]
    ids = [node.attributes["id"] for node in page.nodes if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    links = [node.attributes["href"] for node in page.all("a") if "download" not in node.attributes]
    assert {link.removeprefix("#") for link in links} <= set(ids)
    (contents,) = page.all("nav")
    named = [link.attributes["href"][1:] for link in contents.all("a")]
    questions = [node for node in page.nodes if node.attributes.get("id") == "questions"]
    parts = [part.attributes["id"] for node in questions for part in node.all("section")]
    assert named == ["tables", "explorer", "claims", *parts, "printed", "runs"]
    for table in page.all("table"):
        assert table.all("caption")[0].text
        assert all(th.attributes["scope"] for th in table.all("th"))
        rows = [[int(item.attributes.get("colspan", 1)) for item in row.children]
                for row in table.all("tr")]  # fmt: skip
        assert len(set(map(sum, rows))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["length", "failure-pattern", "vindication"])
def test_every_number_of_every_table_is_on_the_page(name, folder, page):
    made = make_page(name, Results.open(folder))
    (table,) = [item for item in page.all("table") if item.all("caption")[0].text == made.title]
    body = table.all("tbody")[0].text
    printed = made.table if made.table.show_header else next(made.table.columns[0].cells)
    texts = [str(text) for column in printed.columns for text in column.cells]
    lines = [line.replace("..", " to ") for text in texts for line in text.split("\n")]
    assert [line for line in lines if line not in body] == []
    assert all(line.replace("`", "") in page.text for line in made.caption)


@pytest.mark.slow
def test_every_claim_has_its_verdict_its_number_its_rule_and_its_command(folder, text, page):
    assert str(folder.parent) not in unquote(text)  # no path of this machine is on the page
    decisions = decide_all(folder)
    parts = [node.attributes["id"] for node in page.by_id("questions").all("section")]
    assert parts == ["C11"]  # the others were not measured
    rows = page.by_id("claims").all("tbody")[0].all("tr")
    assert [row.children[0].text for row in rows] == [item.claim.id for item in decisions]
    for item, row in zip(decisions, rows, strict=True):
        verdict, name = item.verdict, item.claim.id
        place = name if name in parts else "tables" if item.measured else "missing"
        assert row.all("a")[0].attributes["href"] == f"#{place}"
        section = page.by_id(place)
        shown = section.text.replace("`", "")
        assert row.children[2].text.strip() == verdict.verdict
        command = item.command.replace(f"{folder.parent}/", "")
        for part in (verdict.because[1:], verdict.rule if item.measured else command):
            assert part.replace("`", "") in shown
        number = row.children[3].text
        if verdict.value is None:
            assert number == ""
        else:
            assert float(number.split()[0]) == pytest.approx(verdict.value, abs=0.05)
            assert number in section.text or name.startswith("L-")


@pytest.mark.slow
def test_markup_in_words_notes_and_folder_names_is_text(hostile_text):
    page = parse(hostile_text)
    kinds = [node.attributes.get("type") for node in page.all("script")]
    assert kinds == ["application/json", None]
    assert len(page.all("img")) == len(page.all("figure")) > 0
    assert page.all("b") == []
    notes = " ".join(node.text for node in page.by_id("tables").all("li"))
    for text in (SCRIPT, CLOSING, "a\ufffdb\ufffd[2J\ufffd"):
        assert text in notes
    assert SCRIPT[:8] in page.all("title")[0].text
    data = json.loads(page.by_id("explorer-data").text)
    assert data["sentences"][0]["source"] == [SCRIPT, CLOSING, QUOTES, SEPARATORS, "</s>"]
    assert "\u2028" not in hostile_text
    assert "owned" not in "".join(node.text for node in page.all("script")[1:])


# The explorer judges a sentence as the question survival and `diagnose` do.


def test_the_data_are_those_of_the_examples(tmp_path):
    data = explorer_data(Results.open(write_results(tmp_path / "grammar", seeds=2)))
    assert [arm["name"] for arm in data["arms"]] == ["none", "additive"]
    assert all("seed 1" in arm["run"] for arm in data["arms"])
    (sentence,) = data["sentences"]
    assert (sentence["text"], sentence["reference"]) == PAIR
    assert (sentence["source"], sentence["linked"]) == (SOURCE, True)
    assert sentence["words"] == [["the", "le"], ["cat", "chat"], ["sat", "s' est assis"]]
    first = sentence["arms"][0]
    assert first["fates"] == [["survived", "le"], ["survived", "chat"], ["in part", "est assis"]]
    assert first["weights"][0] == [1000, 0, 0, 0]
    assert first["weights"][-1] == [250, 250, 500, 0]
    assert np.array(first["weights"]).shape == (len(first["output"]), len(SOURCE))
    # In text without links, the reference's words are looked for.
    (sentence,) = explorer_data(Results.open(write_hostile(tmp_path / "other")))["sentences"]
    assert not sentence["linked"]
    words = [word for word, _ in sentence["words"]]
    fates = dict(zip(words, sentence["arms"][0]["fates"], strict=True))
    assert fates["script"] == ["in part", "script"]  # once, not three times
    assert fates["amp"] == ["survived", "amp"]
