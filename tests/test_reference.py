"""The committed reference results: tables are those of the command, numbers those of the files."""

import csv
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.report.export_all import GROWTH, TABLES_FOLDER
from seq2seq_bottleneck.results.discovery import results_inside
from seq2seq_bottleneck.tables.pages import study_pages

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
README, RESULTS = (
    (ROOT / name).read_text(encoding="utf8") for name in ("README.md", "results/README.md")
)
CLAIM = {claim.id: claim for claim in CLAIMS}
SIDE = ("training_length", "attention_types", "context_is_hidden", "cells", "teacher_forcing")
"""Sweeps whose questions are beside the lecture's own."""
TABLES = sorted(REFERENCE.glob(f"*/{TABLES_FOLDER}/*.csv"))
TOLD = (REFERENCE / "claims.csv").read_text(encoding="utf8").splitlines()
DECIDED = {row["id"]: row for row in csv.DictReader(TOLD)}
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NOT_MEASURED_HERE = re.compile(r"\b\d{4}-\d\d-\d\d|\b\d+-\d+\b|\b41\+|\b[CL]\d+|\b95 %|\bal\. 2014")
"""Days, length buckets, ids, the width of every interval, a paper's year."""
LINK = re.compile(r"\]\((\S+\.csv|\S+/tables/\S+\.md)\)")
COMMAND = re.compile(r"`(?:bottleneck claims --results (\S+))?(?: ?--where (\S+))?`")
"""A command that decides claims; after it stands what else the same results are asked with."""
SECTION = re.compile(r"^### ([^\n]+?): [^\n]+\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (L-[\w-]+|C\d+) \| [^|]+ \| \**([\w ]+?)\** \| ([^|]+) \|$", re.MULTILINE)


def test_readme_has_every_claim_with_the_verdict_and_the_numbers_of_the_files():
    rows = ROW.findall(README)
    assert [name for name, *_ in rows] == [claim.id for claim in CLAIMS]
    for name, verdict, found in rows:
        decided = DECIDED[name]
        assert verdict == decided["verdict"], name
        if verdict == "not measured":
            assert f"`bottleneck {CLAIM[name].command}`" in found, name
        else:
            assert NUMBER.findall(found), name
            known = {*NUMBER.findall(decided["because"]), "95"}  # per cent, of every interval
            assert {*NUMBER.findall(found)} <= known, name


SIDE_ROW = re.compile(r"^\| \[(\w+)\]\((\S+)\) \| [^|]+\? \| ([^|]+) \|$", re.MULTILINE)


def test_the_results_page_has_every_side_question_with_the_numbers_of_its_file():
    rows = SIDE_ROW.findall(RESULTS)
    assert {name for name, *_ in rows} == {name for name in SIDE if (REFERENCE / name).is_dir()}
    for name, link, found in rows:
        assert link == f"reference/{name}/tables/arms.md"
        values, arms = (
            _numbers(REFERENCE.parent / link),
            set(_frame(REFERENCE.parent / link)["arm"]),
        )
        said = NUMBER.findall(NOT_MEASURED_HERE.sub("", found))
        assert said
        known = {*NUMBER.findall(" ".join(arms))}
        assert [each for each in said if each not in known and not _is_rounded(each, values)] == []


ANSWERS = dict(SECTION.findall((REFERENCE / "README.md").read_text("utf8")))


@pytest.fixture(scope="module")
def lecture():
    """All numbers of the lecture, as printed and as recomputed."""
    with redirect_stdout(io.StringIO()) as held:
        assert run(["lecture", "--format", "csv"]) == 0
    return set(NUMBER.findall(held.getvalue()))


@pytest.mark.slow
@pytest.mark.parametrize("heading", ANSWERS)
def test_the_answers_numbers_are_those_of_the_files_that_they_link(heading, lecture, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = ANSWERS[heading]
    names = [name for name in heading.split(", ") if name in DECIDED]
    told = "".join(found[name]["because"] for found in _decided_by(text) for name in names)
    known = {*lecture, *NUMBER.findall(told.replace(",", ""))}
    values = np.concatenate([[], *(_numbers(REFERENCE / link) for link in LINK.findall(text))])
    said = NUMBER.findall(NOT_MEASURED_HERE.sub("", LINK.sub("]", text)).replace(",", ""))
    assert said
    assert [each for each in said if each not in known and not _is_rounded(each, values)] == []


def _decided_by(text):
    """The claims as committed, then as each command that the text names decides them."""
    yield DECIDED
    folder = ""
    for results, where in COMMAND.findall(" ".join(text.split())):
        folder = results or folder
        if folder:
            command = ["claims", "--results", folder, "--format", "csv"]
            yield _claims(command + (["--where", where] if where else []))


def _claims(command):
    with redirect_stdout(io.StringIO()) as held:
        assert run(command) == 0
    return {row["id"]: row for row in csv.DictReader(held.getvalue().splitlines())}


def _frame(path):
    """The numbers of a CSV, or of the one beside a table in Markdown."""
    return pd.read_csv(path.with_suffix(".csv"))


def _numbers(path):
    frame = _frame(path).select_dtypes("number")
    return np.abs(frame.to_numpy(dtype=float).ravel())


def _is_rounded(said, values):
    """Whether it is one of these, or of these in per cent, to as many digits as are told."""
    digits = len(said.partition(".")[2])
    return any(
        (np.abs(values * times - float(said)) <= 0.5001 / 10**digits).any() for times in (1, 100)
    )


def test_every_claim_that_is_decided_has_its_answer():
    answered = {name for heading in ANSWERS for name in heading.split(", ")}
    measured = {name for name, row in DECIDED.items() if row["verdict"] != "not measured"}
    assert measured - {"L-VIND-short", "L-VIND-rising", "L-VIND-largest"} <= answered


@pytest.mark.slow
def test_claims_are_decided_anew_as_they_are_committed(monkeypatch):
    monkeypatch.chdir(ROOT)
    again = _claims(["claims", "--results", "results/reference", "--format", "csv"])
    told = ("verdict", "because", "measure", "runs")
    assert {name: [row[key] for key in told] for name, row in again.items()} == {
        name: [row[key] for key in told] for name, row in DECIDED.items()
    }


def in_its_lane(path):
    """The main job's tables are slow; of the other folders', whose numbers `golden` has, one is."""
    mark = pytest.mark.slow if path.stem in MAIN else pytest.mark.exhaustive(sample="test")
    return pytest.param(path, id=f"{path.parts[-3]}-{path.stem}", marks=mark)


MAIN = ("failure_pattern", "vindication")


@pytest.mark.parametrize("path", list(map(in_its_lane, TABLES)))
def test_tables_of_the_committed_bundles_are_the_committed_tables(path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    folder = path.parents[1].relative_to(ROOT)
    found, markdown = (_table(folder, path.stem, form, capsys) for form in ("csv", "markdown"))
    printed = [path.stem, GROWTH] if path.stem == "cost" else [path.stem]
    texts = [path.with_name(f"{name}.md").read_text(encoding="utf8") for name in printed]
    assert markdown == "\n".join(texts)
    found = pd.read_csv(io.StringIO(found))
    pd.testing.assert_frame_equal(found, pd.read_csv(path), rtol=1e-9)


def _table(folder, name, form, capsys):
    if name == GROWTH:  # printed under `table cost`, and alone in no form for programs
        return study_pages("cost", folder)[1].render(form)
    assert run(["table", name, "--results", str(folder), "--format", form]) == 0
    return capsys.readouterr().out


def test_every_part_has_its_tables_figures_and_no_weights():
    parts = results_inside(REFERENCE)
    assert parts
    for part in parts:
        assert list(part.glob("tables/*.md"))
        assert list(part.glob("figures/*.svg"))
    files = [path for path in REFERENCE.rglob("*") if path.is_file() and "runs" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 15e6
    assert (REFERENCE / "report.html").stat().st_size < 3e6


def _anchors(text):
    """Ids of a page's headings, as a reader's page of Markdown makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("README.md", 5),
        ("experiments/README.md", 1),
        ("results/README.md", 10),
        ("results/reference/README.md", 10),
    ],
)
def test_every_link_of_the_pages_leads_to_a_file_or_a_heading(page, least):
    text = (ROOT / page).read_text(encoding="utf8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    inside = {link.removeprefix("#") for link in links if link.startswith("#")}
    files = [link for link in links if not link.startswith(("#", "https://"))]
    assert len(files) >= least
    assert inside <= _anchors(text)
    assert [link for link in files if not (ROOT / page).parent.joinpath(link).exists()] == []
