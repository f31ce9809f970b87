"""The page as text: one file, whole, with every number that was measured and nothing let in."""

import hashlib
import json
import re
import subprocess
import sys
from base64 import b64encode
from itertools import pairwise
from urllib.parse import unquote

import pytest
from page_parser import LOADING, Page
from planted_arms import with_controls
from planted_report import (
    CLOSING,
    LENGTH_RATIO,
    QUOTES,
    SCRIPT,
    SEPARATORS,
    without_store,
    write_hostile,
    write_length,
    write_results,
)

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.figures.style import GROUND
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.report.page import NO_SCRIPT, make_report, write_report
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import NAMES
from seq2seq_bottleneck.tables.decided import decide_results
from seq2seq_bottleneck.tables.pages import slide_pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_results(tmp_path_factory.mktemp("results"), seeds=2)


@pytest.fixture(scope="module")
def text(folder):
    return make_report(folder)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


@pytest.fixture(scope="module")
def hostile_text(tmp_path_factory):
    """Of a bundle away from its store."""
    folder = tmp_path_factory.mktemp("own") / f"<b>{SCRIPT[:8]}"
    return make_report(without_store(write_hostile(folder)))


@pytest.fixture(scope="module", params=["plain", "hostile", "study alone"])
def any_page(request, tmp_path_factory, text, hostile_text):
    if request.param != "study alone":
        return Page(text if request.param == "plain" else hostile_text)
    folder = tmp_path_factory.mktemp("other")
    write_length(folder)
    return Page(make_report(folder))


@pytest.mark.slow
def test_ids_are_unique_and_every_link_and_label_leads_to_one(any_page):
    ids = [node.attributes["id"] for node in any_page.nodes if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in any_page.nodes:
        if node.name == "a":
            assert node.attributes["href"].removeprefix("#") in ids
        for name in ("aria-labelledby", "for"):
            assert node.attributes.get(name, ids[0]) in ids


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(any_page):
    loaded = [node.attributes[name] for node in any_page.nodes for name in LOADING
              if name in node.attributes]  # fmt: skip
    assert all(address.startswith("data:image/svg+xml,") for address in loaded)
    assert any_page.named("link") == []
    assert "url(" not in any_page.named("style")[0].text
    assert "@import" not in any_page.named("style")[0].text


@pytest.mark.slow
def test_the_policy_allows_for_the_pages_own_style_and_script_alone(any_page):
    (meta,) = [node for node in any_page.named("meta") if "http-equiv" in node.attributes]
    rules = dict(rule.strip().split(" ", 1) for rule in meta.attributes["content"].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    scripts = [node for node in any_page.named("script") if "type" not in node.attributes]
    for kind, nodes in (("style", any_page.named("style")), ("script", scripts)):
        assert len(nodes) <= 1
        for node in nodes:
            digest = b64encode(hashlib.sha256(node.text.encode()).digest()).decode()
            assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    for node in any_page.nodes:
        assert "style" not in node.attributes
        assert not [name for name in node.attributes if name.startswith("on")]


@pytest.mark.slow
def test_headings_are_in_order_and_the_language_is_told(any_page):
    levels = [int(node.name[1]) for node in any_page.nodes if re.fullmatch("h[1-6]", node.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert any_page.named("html")[0].attributes["lang"] == "en"
    assert any_page.named("body")[0].children[0].attributes["href"] == "#tables"


@pytest.mark.slow
def test_tables_have_captions_heads_with_scope_and_as_many_cells_in_each_row(any_page):
    for table in any_page.named("table"):
        assert table.all("caption")[0].text
        assert table.all("tbody")
        assert all(th.attributes["scope"] for th in table.all("th"))
        assert len(set(_widths(table))) == 1


def _widths(table):
    """How many columns each row fills, cells that reach down from above among them."""
    for part in (*table.all("thead"), *table.all("tbody")):
        hanging = []
        for row in part.all("tr"):
            hanging = [(wide, rows - 1) for wide, rows in hanging if rows > 1]
            hanging += [(_span(cell, "colspan"), _span(cell, "rowspan")) for cell in row.children]
            yield sum(wide for wide, _ in hanging)


def _span(cell, name):
    return int(cell.attributes.get(name) or 1)


@pytest.mark.slow
def test_pictures_say_what_they_show(page):
    figures = page.named("figure")
    assert len(figures) >= 3
    for figure in figures:
        (image,) = figure.all("img")
        assert image.attributes["alt"]
        assert GROUND.lower() in _drawn(image)


def _drawn(image):
    """The image, whose letters are letters, so that it is small."""
    drawn = unquote(image.attributes["src"].partition(",")[2])
    assert "<text" in drawn
    assert "<script" not in drawn
    return drawn


@pytest.mark.slow
def test_every_claim_has_its_verdict_its_sentence_its_rule_and_a_command(folder, page):
    decisions = {one.claim.id: one for one in decide_results(folder)}
    assert set(decisions) == {claim.id for claim in CLAIMS}
    for name, decision in decisions.items():
        within = page.by_id("tables" if name.startswith("L-") else name)
        text = within.text.replace("`", "")
        verdict = decision.verdict
        assert verdict.verdict in text
        assert verdict.because[1:].replace("`", "") in text
        assert verdict.rule.replace("`", "") in text
        assert ("To be measured" in text) == (verdict.verdict == "not measured" and name[0] == "C")
        if decision.command:
            assert decision.command in within.all("pre")[0].text
            assert "To measure it" in text or name.startswith("L-")


@pytest.mark.slow
def test_the_two_tables_stand_first_with_printed_and_measured_side_by_side(folder, page):
    first, second = page.by_id("tables").all("table")
    failure, vindication = (held.frame for held in slide_pages(load_bundle(folder)))
    row = _cells(first)[1]
    measured = failure.iloc[1]
    assert row[0] == "11-20slide: 10-20 words"
    low, high = (f"{measured[f'bleu_{end}']:.1f}" for end in ("low", "high"))
    assert row[2:4] == ["28.5", f"{measured['bleu']:.1f}{low} to {high}"]
    assert row[4] == "-19%"
    assert row[5].startswith(f"{measured['quality_drop']:+.0f}%")
    assert row[6:8] == ["5:1", f"{measured['compression_ratio']:.1f}:1"]
    row, measured = _cells(second)[4], vindication.iloc[4]
    assert row[2] == "8.1"
    assert row[4] == "24.3"
    assert row[5].startswith(f"{measured['bleu_attention']:.1f}")
    assert row[6].startswith(f"{measured['gain']:+.1f}")
    assert row[7] == "+200%"
    ids = [node.attributes["id"] for node in page.named("section")]
    assert ids[:3] == ["tables", "claims", "printed"]
    assert [one for one in ids if re.fullmatch(r"C\d+", one)] == [f"C{n}" for n in range(1, 15)]
    assert ids[-2:] == ["explorer", "runs"]


def _cells(table):
    return [[cell.text for cell in row.children] for row in table.all("tbody")[0].all("tr")]


@pytest.mark.slow
def test_a_studys_numbers_stand_in_its_table_with_n_and_interval(page):
    table = page.by_id("C11").all("table")[0]
    for ratio in LENGTH_RATIO.values():
        assert f"{ratio:.2f}{ratio - 0.01:.2f} to {ratio + 0.01:.2f}" in table.text
    assert table.text.count("120") == 10
    assert "bottleneck study length --results" in page.by_id("C11").all("pre")[0].text


@pytest.mark.slow
def test_what_nothing_measured_says_so_and_has_no_table(page):
    section = page.by_id("C3")
    assert "not measured" in section.text
    assert section.all("table") == []
    assert "bottleneck study survival --results" in section.all("pre")[0].text
    assert "To measure it again" not in section.text


@pytest.mark.slow
def test_the_printed_numbers_are_all_there(page):
    ids = {node.attributes.get("id") for node in page.by_id("printed").all("th")}
    assert {f"printed-{name}" for name in SLIDES} <= ids


@pytest.mark.slow
def test_settings_environment_and_signature_stand_at_the_end(folder, page):
    section = page.by_id("runs")
    bundle = load_bundle(folder)
    apart = {"model.attention", "training.seed"}
    for name in set(NAMES) - apart:
        assert f"{name.partition('.')[2]} = " in section.text
    assert {"attention", "seed"} <= {th.text for th in section.all("th")}
    assert bundle.runs["signature"].iloc[0] in section.text
    for run in set(bundle.runs["run"]):
        assert run in section.text
        assert bundle.facts(run)["fingerprint"] in section.text


@pytest.mark.slow
def test_markup_in_words_settings_notes_and_file_names_is_text(hostile_text):
    page = Page(hostile_text)
    assert [node.attributes.get("type") for node in page.named("script")] == [
        "application/json", None
    ]  # fmt: skip
    assert len(page.named("img")) == len(page.named("figure")) > 0
    assert page.named("b") == []
    runs = page.by_id("runs").text
    assert f"source = {SCRIPT}.en" in runs
    assert f"target = {QUOTES}.fr" in runs
    assert CLOSING in runs
    assert SCRIPT[:8] in page.named("title")[0].text
    data = json.loads(page.by_id("explorer-data").text)
    assert data["sentences"][0]["source"] == [SCRIPT, CLOSING, QUOTES, SEPARATORS, "</s>"]
    assert "\u2028" not in hostile_text
    assert "owned" not in "".join(node.text for node in page.named("script")[1:])


@pytest.mark.slow
def test_without_scripts_the_explorer_is_hidden_and_says_why(page):
    assert "hidden" in page.by_id("explorer-app").attributes
    assert page.by_id("explorer-shown").children == []
    assert page.by_id("explorer").all("noscript")[0].text == NO_SCRIPT
    outside = [node for node in page.nodes if "hidden" in node.attributes]
    assert outside == [page.by_id("explorer-app")]


@pytest.mark.slow
def test_without_further_sweeps_it_says_what_makes_them(page):
    section = page.by_id("further")
    assert "bottleneck sweep" in section.text
    assert section.all("h3") == []


@pytest.mark.exhaustive(sample="session")
def test_equal_results_give_equal_bytes(folder, text):
    assert make_report(folder) == text


@pytest.mark.slow
def test_a_folder_without_results_is_refused_and_nothing_is_written(tmp_path):
    made = tmp_path / "report.html"
    with pytest.raises(UserError, match="no results in"):
        write_report(tmp_path, made)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_page_is_made_without_jax():
    code = (
        "import sys\nimport seq2seq_bottleneck.report.page\n"
        "print([name for name in ('jax', 'flax', 'optax') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.exhaustive(sample="session")
def test_a_folder_of_results_folders_makes_one_page_each_claim_from_where_it_is_decided(tmp_path):
    pair = write_results(tmp_path / "vindication", seeds=1)
    controls = with_controls(tmp_path / "controls").write()
    page = Page(make_report(tmp_path))
    assert len(page.by_id("tables").all("table")) == 2
    assert f"--results {pair}" in page.by_id("tables").text
    assert f"bottleneck sweep controls --out {controls}" in page.by_id("C10").text
    assert [str(pair), str(controls)] == [
        node.text for node in page.by_id("runs").all("h3") if str(tmp_path) in node.text
    ]
    ids = [node.attributes["id"] for node in page.nodes if "id" in node.attributes]
    assert len(ids) == len(set(ids))
