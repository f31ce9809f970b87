"""Sweeps that no claim rests on: on the page with question, seeds, table and command."""

import pandas as pd
import pytest
from page_parser import Page
from planted import write_planted
from planted_arms import HIGH, LOW, Store
from planted_report import ARMS, write_results

from seq2seq_bottleneck.report.commands import Ways, of_further
from seq2seq_bottleneck.report.further import further
from seq2seq_bottleneck.report.page import make_report
from seq2seq_bottleneck.report.sections import further as further_html
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.sweep import load_sweep
from seq2seq_bottleneck.tables.pages import make_page

OWN = "<b>my own"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pair that claims rest on, a side question of one seed, a pair of a user's of two."""
    whole = tmp_path_factory.mktemp("whole")
    write_results(whole / "vindication")
    forced = Store(whole / "teacher_forcing")
    for share in (1.0, 0.5):
        for arm, shares in {"none": LOW, "additive": HIGH}.items():
            forced.add(f"{arm}-{share}", arm, shares, training={"teacher_forcing": share})
    forced.write()
    write_planted(whole / OWN, ARMS)
    return whole


@pytest.fixture(scope="module")
def sections(folder):
    """Each as it stands on the page, by its folder's name."""
    found = list(further(folder, [folder / "vindication"]))
    return {
        one.folder.name: Page(further_html(one, place, of_further(one)))
        for place, one in enumerate(found, start=1)
    }


def test_a_side_question_has_its_question_its_seed_and_every_arms_bleu(folder, sections):
    section = sections["teacher_forcing"].by_id("further-2")
    question = load_sweep("teacher_forcing").question.partition("?")[0]
    assert f"{question}?" in section.text
    assert "One seed, 1:" in section.text
    (table,) = section.all("table")
    frame = make_page("arms", load_bundle(folder / "teacher_forcing")).frame
    assert len(frame) == 4 * 5
    for row in frame.to_dict("records"):
        assert row["arm"] in table.text
        assert f"{row['bleu']:.1f}{row['bleu_low']:.1f} to {row['bleu_high']:.1f}" in table.text
    where = folder / "teacher_forcing"
    assert section.all("pre")[0].text == f"bottleneck table arms --results {where}"


def test_a_pair_has_the_slides_second_table_with_its_verdicts(folder, sections):
    section = sections[OWN].by_id("further-1")
    assert "Seeds 1, 2." in section.text
    assert [node.text for node in section.all("figcaption")] == [f"{OWN}."]
    shown = make_page("vindication", load_bundle(folder / OWN))
    assert shown.judged
    assert all(one.because[1:] in section.text for one in shown.judged)
    gains = [f"{row['gain']:+.1f}" for row in shown.frame.to_dict("records")]
    assert all(gain in section.all("table")[0].text for gain in gains)
    assert f"bottleneck table vindication --results '{folder / OWN}'" in section.text


def test_a_folders_name_is_text(sections):
    assert sections[OWN].named("h3")[0].text == OWN
    assert sections[OWN].named("b") == []


def test_where_no_table_can_be_made_it_says_why(tmp_path):
    apart = Store(tmp_path / "apart")
    for name, edges in (("a", "5,11,21,31,41"), ("b", "5,21")):
        apart.add(name, "none", LOW, scoring={"edges": edges})
    apart.write()
    (one,) = further(tmp_path, [])
    assert of_further(one) == Ways()
    text = Page(further_html(one, 1, Ways())).by_id("further-1").text
    assert "other buckets" in text


@pytest.mark.exhaustive(sample="session")
def test_on_the_page_stand_those_that_no_claim_rests_on_and_their_runs_at_the_end(folder):
    page = Page(make_report(folder))
    heads = [node.text for node in page.by_id("further").all("h3")]
    assert heads == [OWN, "teacher_forcing"]
    runs = pd.read_csv(folder / "teacher_forcing" / "runs.csv")["run"]
    assert all(run in page.by_id("runs").text for run in set(runs))
