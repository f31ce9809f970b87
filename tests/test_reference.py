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
from seq2seq_bottleneck.results.folders import results_inside

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
README, RESULTS = (
    (ROOT / name).read_text(encoding="utf8") for name in ("README.md", "results/README.md")
)
SIDE = ("training_length", "attention_types", "context_is_hidden", "cells", "teacher_forcing")
"""Sweeps whose questions are beside the lecture's own."""
CLAIM_LINES = (REFERENCE / "claims.csv").read_text(encoding="utf8").splitlines()
DECIDED = {row["id"]: row for row in csv.DictReader(CLAIM_LINES)}
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NOT_MEASURED_HERE = re.compile(r"\b\d{4}-\d\d-\d\d|\b\d+-\d+\b|\b41\+|\b[CL]\d+|\b95 %|\bal\. 2014")
"""Days, length buckets, ids, the width of every interval, a paper's year."""
LINK = re.compile(r"\]\((\S+\.csv|\S+/tables/\S+\.md)\)")
COMMAND = re.compile(r"`(?:bottleneck claims --results (\S+))?(?: ?--where (\S+))?`")
"""A command that decides claims; after it stands what else the same results are asked with."""
SECTION = re.compile(r"^### ([^\n]+?): [^\n]+\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ANSWERS = dict(SECTION.findall((REFERENCE / "README.md").read_text("utf8")))
ROW = re.compile(r"^\| (L-[\w-]+|C\d+) \| [^|]+ \| \**([\w ]+?)\** \| ([^|]+) \|$", re.MULTILINE)
SIDE_ROW = re.compile(r"^\| \[(\w+)\]\((\S+)\) \| [^|]+\? \| ([^|]+) \|$", re.MULTILINE)


def output(*arguments):
    """What a command prints."""
    with redirect_stdout(io.StringIO()) as text:
        assert run([*arguments]) == 0
    return text.getvalue()


def claims(*options):
    rows = output("claims", "--format", "csv", "--results", *options).splitlines()
    return {row["id"]: row for row in csv.DictReader(rows)}


def values_of(path):
    """The numbers of a CSV, or of the one beside a table in Markdown, without their signs."""
    frame = pd.read_csv(path.with_suffix(".csv")).select_dtypes("number")
    return np.abs(frame.to_numpy(dtype=float).ravel())


def unknown_numbers(text, known, values):
    """Those of a text that are neither known nor, to as many digits, values or per cents."""

    def is_rounded(number):
        digits = len(number.partition(".")[2])
        distances = np.abs(np.outer(values, (1, 100)) - float(number))
        return bool((distances <= 0.5001 / 10**digits).any())

    numbers = NUMBER.findall(NOT_MEASURED_HERE.sub("", text))
    assert numbers
    return [number for number in numbers if number not in known and not is_rounded(number)]


def test_readme_has_every_claim_with_the_verdict_and_the_numbers_of_the_files():
    rows = ROW.findall(README)
    assert [name for name, *_ in rows] == [claim.id for claim in CLAIMS]
    for name, verdict, text in rows:
        assert verdict == DECIDED[name]["verdict"] != "not measured", name
        numbers = {*NUMBER.findall(text)}
        known = {*NUMBER.findall(DECIDED[name]["because"]), "95"}  # per cent, of every interval
        assert set() < numbers <= known, name
    answered = {name for heading in ANSWERS for name in heading.split(", ")}
    assert DECIDED.keys() - {"L-VIND-short", "L-VIND-rising", "L-VIND-largest"} <= answered


def test_the_results_page_has_every_side_question_with_the_numbers_of_its_file():
    rows = SIDE_ROW.findall(RESULTS)
    assert {name for name, *_ in rows} == {name for name in SIDE if (REFERENCE / name).is_dir()}
    for name, link, text in rows:
        assert link == f"reference/{name}/tables/arms.md"
        path = ROOT / "results" / link
        arms = {*NUMBER.findall(" ".join(set(pd.read_csv(path.with_suffix(".csv"))["arm"])))}
        assert unknown_numbers(text, arms, values_of(path)) == []


@pytest.fixture(scope="module")
def lecture():
    """All numbers of the lecture, as printed and as recomputed."""
    return {*NUMBER.findall(output("lecture", "--format", "csv"))}


@pytest.mark.slow
@pytest.mark.parametrize("heading", ANSWERS)
def test_the_answers_numbers_are_those_of_the_files_that_they_link(heading, lecture, monkeypatch):
    """Or of the claims as committed, or as each command that the text names decides them."""
    monkeypatch.chdir(ROOT)
    text, folder, decisions = ANSWERS[heading], "", [DECIDED]
    for results, where in COMMAND.findall(" ".join(text.split())):
        folder = results or folder
        if folder:
            decisions.append(claims(folder, *(["--where", where] if where else [])))
    names = [name for name in heading.split(", ") if name in DECIDED]
    because = "".join(rows[name]["because"] for rows in decisions for name in names)
    known = {*lecture, *NUMBER.findall(because.replace(",", ""))}
    values = np.concatenate([[], *(values_of(REFERENCE / link) for link in LINK.findall(text))])
    plain = NOT_MEASURED_HERE.sub("", LINK.sub("]", text)).replace(",", "")
    assert unknown_numbers(plain, known, values) == []


@pytest.mark.slow
def test_claims_are_decided_anew_as_they_are_committed(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert "`bottleneck claims --results results/reference`" in README
    again = claims("results/reference")
    columns = ("verdict", "because", "measure", "runs")
    assert {name: [row[key] for key in columns] for name, row in again.items()} == {
        name: [row[key] for key in columns] for name, row in DECIDED.items()
    }


SLOW = ("vindication/failure_pattern", "vindication/vindication", "bench/cost")


def in_their_lanes():
    """The committed tables: those of the main job and the costs are slow, the rest exhaustive."""
    for path in sorted(REFERENCE.glob("*/tables/*.csv")):
        name = f"{path.parts[-3]}/{path.stem}"
        mark = pytest.mark.slow if name in SLOW else pytest.mark.exhaustive(sample="test")
        yield pytest.param(path, id=name, marks=mark)


@pytest.mark.parametrize("file", [*in_their_lanes()])
def test_tables_of_the_committed_bundles_are_the_committed_tables(file, monkeypatch):
    """Of the rest the numbers alone; columns may be added."""
    monkeypatch.chdir(ROOT)
    folder = str(file.parents[1].relative_to(ROOT))
    text = file.with_suffix(".md").read_text(encoding="utf8")
    table = ("table", file.stem, "--results", folder, "--format")
    if f"{file.parts[-3]}/{file.stem}" in SLOW:
        assert output(*table, "markdown") == text
    frame, committed = pd.read_csv(io.StringIO(output(*table, "csv"))), pd.read_csv(file)
    pd.testing.assert_frame_equal(frame[[*committed.columns]], committed, rtol=1e-9)


def test_every_part_has_its_tables_figures_and_no_weights():
    parts = results_inside(REFERENCE)
    assert parts
    for part in parts:
        assert list(part.glob("tables/*.md"))
        assert list(part.glob("figures/*.svg"))
    files = [path for path in REFERENCE.rglob("*") if path.is_file() and "runs" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 15e6
    assert (REFERENCE / "report.html").stat().st_size < 3e6


def anchors(text):
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
    files = [link for link in links if not link.startswith(("#", "https://"))]
    assert len(files) >= least
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= anchors(text)
    assert [link for link in files if not (ROOT / page).parent.joinpath(link).exists()] == []
