"""The page as text: one file, whole, with every number that was measured and no markup let in."""

import hashlib
import json
import re
from base64 import b64encode
from io import StringIO
from itertools import pairwise
from pathlib import Path
from random import Random
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from listed import write_relisted
from page_parser import LOADING, parse
from planted_arms import with_controls
from planted_cost import plant_costs
from planted_report import (
    CLOSING,
    PAIR,
    QUOTES,
    SCRIPT,
    SEPARATORS,
    SOURCE,
    without_store,
    write_hostile,
    write_length,
    write_results,
)
from rich.table import Table
from rich.text import Text

from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.vocabulary import plain, tokenize
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.report.page import (
    cell,
    explorer_data,
    find_pair,
    make_report,
    make_views,
    prose,
    readable,
)
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import SETTING_COLUMNS, TABLES
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.tables.claims import decide_results
from seq2seq_bottleneck.tables.comparison import describe
from seq2seq_bottleneck.tables.pages import make_page

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
GRAMMAR = CorpusSettings()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_results(tmp_path_factory.mktemp("results"), seeds=2)


@pytest.fixture(scope="module")
def text(folder):
    return make_report(folder)


@pytest.fixture(scope="module")
def page(text):
    return parse(text)


@pytest.fixture(scope="module")
def hostile_text(tmp_path_factory):
    """The page of a bundle without its store."""
    folder = tmp_path_factory.mktemp("other") / f"<b>{SCRIPT[:8]}"
    return make_report(without_store(write_hostile(folder)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "hostile", "study alone"])
def test_nothing_is_loaded_links_lead_somewhere_and_tables_have_heads(name, request, tmp_path):
    if name == "study alone":
        write_length(tmp_path)
        page = parse(make_report(tmp_path))
    else:
        page = parse(request.getfixturevalue("text" if name == "plain" else "hostile_text"))
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
    parts = [node.attributes["id"] for node in page.by_id("questions").all("section")]
    assert named == ["tables", "explorer", "claims", *parts, "printed", "runs"]
    levels = [int(node.name[1]) for node in page.nodes if re.fullmatch("h[1-6]", node.name)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in page.all("table"):
        assert table.all("caption")[0].text
        assert all(th.attributes["scope"] for th in table.all("th"))
        rows = [[int(item.attributes.get("colspan", 1)) for item in row.children]
                for row in table.all("tr")]  # fmt: skip
        assert len(set(map(sum, rows))) == 1


def printed(table, title):
    """The title and the cells of the tables that a terminal shows, read without the page's code."""
    if isinstance(table, Table) and not table.show_header:
        for part in table.columns[0].cells:
            yield from printed(part, title)
    elif isinstance(table, Table):
        cells = [text for column in table.columns for text in column.cells]
        plain = [cell.plain if isinstance(cell, Text) else str(cell) for cell in cells]
        yield str(table.title or title), [line for text in plain for line in text.split("\n")]


@pytest.mark.parametrize(
    "bundle",
    [
        pytest.param("planted", marks=pytest.mark.slow),
        pytest.param("vindication", marks=pytest.mark.exhaustive(sample="test")),
        pytest.param("capacity", marks=pytest.mark.exhaustive(sample="test")),
    ],
)
def test_every_number_of_every_table_is_on_the_page(bundle, folder, page):
    if bundle != "planted":
        folder = REFERENCE / bundle
        page = parse(make_report(folder))
    captions = {table.all("caption")[0].text: table for table in page.all("table")}
    names = [path.stem for path in (folder / "probes").glob("*.csv")]
    names += [] if bundle == "capacity" else ["failure-pattern", "vindication"]
    assert names
    for name in names:
        made = make_page(name, Results.open(folder))
        for title, lines in printed(made.table, made.title):
            body = captions[title].all("tbody")[0].text
            assert [line for line in lines if line.replace("..", " to ") not in body] == []
        assert all(line.replace("`", "") in page.text for line in made.caption)


@pytest.mark.slow
def test_every_claim_has_its_verdict_its_number_its_rule_and_its_command(folder, page):
    decisions = decide_results(folder)
    parts = [node.attributes["id"] for node in page.by_id("questions").all("section")]
    assert parts == ["C11"]  # nothing measured the others
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
    assert page.by_id("missing").all("summary")[0].text.startswith("Not measured: C1, C2, C3, ")


@pytest.mark.slow
def test_figures_printed_numbers_runs_and_what_cannot_be_drawn_are_there(folder, page):
    assert "did not log their validation loss" in page.by_id("tables").text
    images = [unquote(node.attributes["src"]) for node in page.all("img")]
    assert len(images) == len(page.all("figure")) == 2
    assert all("<text" in image and "<script" not in image for image in images)
    ids = {node.attributes.get("id") for node in page.by_id("printed").all("th")}
    assert {f"printed-{name}" for name in SLIDES} <= ids
    runs = Results.open(folder).runs
    assert "4 runs: grammar; 10 training pairs; context 32; 10 upd" in page.by_id("runs").text
    (link,) = page.by_id("runs").all("a")
    settings = pd.read_csv(StringIO(unquote(link.attributes["href"].partition(",")[2])))
    assert set(SETTING_COLUMNS) <= set(settings)
    assert list(settings["run"]) == list(runs["run"].unique())
    assert runs["signature"].iloc[0] in page.by_id("tables").text
    # Without scripts the explorer is hidden.
    assert "hidden" in page.by_id("explorer-app").attributes
    assert "JavaScript" in page.by_id("explorer").all("noscript")[0].text


@pytest.mark.slow
def test_no_folder_of_the_machine_is_on_the_page(folder, text, hostile_text):
    """Commands and reasons name the results folder by its own name alone."""
    assert f"bottleneck study survival --results {folder.name}<" in text
    for page in (text, hostile_text):
        assert str(folder.parent) not in unquote(page)


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
    assert cell("48.4\n46.0..<b>") == "48.4 <small>46.0 to &lt;b&gt;</small>"
    assert cell("un-\ntrained <i>") == "untrained &lt;i&gt;"
    assert prose("`a <x>` & `b") == "<code>a &lt;x&gt;</code> &amp; `b"


def test_of_two_experiments_a_table_has_the_claims_own_or_the_first(tmp_path):
    folder = with_controls(tmp_path).folder
    first = {"nones1": ["none", ""], "uniforms1": ["uniform", "none"]}
    pair = {"nones1": ["none", ""], "additives1": ["additive", "none"]}
    experiments = {"first": first, "vindication": pair}
    write_relisted(folder / "experiments.json", json.dumps(experiments))
    bundle = Results.open(folder)
    pages, _, reasons = make_views(TABLES, folder, bundle, lambda *_: None)
    arms = {page.name: set(page.frame["arm"]) for page in pages if "arm" in page.frame}
    assert (len(pages), reasons) == (len(TABLES), {})
    assert (arms["arms"], "additive" in pages[1].title) == ({"none", "uniform"}, True)
    assert describe(bundle.runs[bundle.runs["experiment"] != ""]) == (
        "first: 2 runs: none, uniform, seed 1; vindication: 2 runs: none, additive, seed 1"
    )


@pytest.mark.exhaustive(sample="session")
def test_equal_results_give_equal_bytes_and_each_claim_is_from_its_folder(folder, text, tmp_path):
    heard = []
    assert make_report(folder, heard.append) == text
    assert heard == ["The claims", "The two tables and the explorer", "C11 (11 of 14)"]
    write_results(tmp_path / "vindication", seeds=1)
    with_controls(tmp_path / "controls").write()
    plant_costs(tmp_path / "bench")
    page = parse(make_report(tmp_path))
    for claim in ("C10", "C11", "C9"):
        assert page.by_id(claim).all("table")
        assert page.by_id(claim).all("img")
    heads = [Path(node.text).name for node in page.by_id("runs").all("code")]
    assert heads == ["vindication", "controls"]


# The explorer: what it says of a sentence is what the question survival and `diagnose` say of it.


def shown(text):
    """Tokens as examples have them."""
    return [plain(token) for token in tokenize(text)]


@pytest.mark.parametrize("words", [3, 13, 55])
def test_the_grammars_pair_is_found_from_the_shown_tokens_and_no_other(words):
    random, turned = Random(words), CorpusSettings(reverse_direction=True)
    for _ in range(20):
        pair = english_french().draw(random, words)
        same = find_pair(shown(pair.source), pair.target, GRAMMAR)
        assert (same.source, same.target, same.links) == (pair.source, pair.target, pair.links)
        same = find_pair(shown(pair.target), pair.source, turned)
        assert (same.source, same.target) == (pair.target, pair.source)
        assert sorted((ours, theirs) for theirs, ours in same.links) == sorted(pair.links)
    assert find_pair(shown(PAIR[0]), "le chien", GRAMMAR) is None
    assert find_pair(shown("colourless green ideas"), PAIR[1], GRAMMAR) is None
    files = CorpusSettings(name="files", source="a", target="b")
    assert find_pair(shown(PAIR[0]), PAIR[1], files) is None


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
    # Of text without links the reference's words are looked for.
    (sentence,) = explorer_data(Results.open(write_hostile(tmp_path / "other")))["sentences"]
    assert not sentence["linked"]
    words = [word for word, _ in sentence["words"]]
    fates = dict(zip(words, sentence["arms"][0]["fates"], strict=True))
    assert fates["script"] == ["in part", "script"]  # once of three times
    assert fates["amp"] == ["survived", "amp"]


def test_the_lectures_own_sentences_come_first(tmp_path):
    folder = write_results(tmp_path)
    for path in (folder / "runs").glob("*/examples.json"):
        (example,) = json.loads(path.read_text())
        write_relisted(path, json.dumps([example, example | {"sentence": -2}]))
    sentences = explorer_data(Results.open(folder))["sentences"]
    assert [sentence["lecture"] for sentence in sentences] == [True, False]


def test_words_are_put_together_as_a_person_reads_them():
    french = ["mardi", ",", "l'", "homme", "qu’", "il", "voit", "."]
    assert readable(french) == "mardi, l'homme qu’il voit."
    assert readable(["martin", "'s", "dress"]) == "martin's dress"
