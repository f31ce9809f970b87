"""The committed reference results: the commands print the same tables, README the same numbers."""

import csv
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.cli.main import run

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
README = (ROOT / "README.md").read_text(encoding="utf8")
CLAIM_LINES = (REFERENCE / "claims.csv").read_text(encoding="utf8").splitlines()
DECIDED = {row["id"]: row for row in csv.DictReader(CLAIM_LINES)}
NUMBER = re.compile(r"\d+(?:\.\d+)?")
ROW = re.compile(r"^\| (L-[\w-]+|C\d+) \| [^|]+ \| \**([\w ]+?)\** \| ([^|]+) \|$", re.MULTILINE)


def output(*arguments):
    """What a command prints."""
    with redirect_stdout(io.StringIO()) as text:
        assert run([*arguments]) == 0
    return text.getvalue()


def claims(*options):
    rows = output("table", "claims", "--format", "csv", "--results", *options).splitlines()
    return {row["id"]: row for row in csv.DictReader(rows)}


def test_readme_has_every_claim_with_the_verdict_and_the_numbers_of_the_files():
    rows = ROW.findall(README)
    assert [name for name, *_ in rows] == [claim.id for claim in CLAIMS]
    for name, verdict, text in rows:
        assert verdict == DECIDED[name]["verdict"] != "not measured", name
        numbers = {*NUMBER.findall(text)}
        known = {*NUMBER.findall(DECIDED[name]["because"]), "95"}  # the per cent of every interval
        assert set() < numbers <= known, name


@pytest.mark.slow
def test_claims_decided_again_equal_the_committed_ones(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert "`bottleneck table claims --results results/reference`" in README
    again = claims("results/reference")
    columns = ("verdict", "because", "measure", "runs")
    assert {name: [row[key] for key in columns] for name, row in again.items()} == {
        name: [row[key] for key in columns] for name, row in DECIDED.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["vindication/failure_pattern", "vindication/vindication", "bench/cost"]
)
def test_tables_of_the_committed_bundles_are_the_committed_tables(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    part, table = name.split("/")
    command = ("table", table, "--results", f"results/reference/{part}", "--format", "markdown")
    assert output(*command) == (REFERENCE / part / "tables" / f"{table}.md").read_text("utf8")


FINDINGS = (ROOT / "results" / "README.md").read_text(encoding="utf8")
SECTIONS = dict(re.findall(r"^##+ ((?:L|C|Side|Real).*)\n([^#]+)", FINDINGS, re.MULTILINE))
QUOTED = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<![\w.])\.\d+")
RANGE = re.compile(r"[\d.]+(?: ?%)? \[[^\]]+\]")
BUCKET = re.compile(r"\b(?:5-10|11-20|21-30|31-40|41-60)\b|41\+")


def quoted(text):
    """The numbers of a text with their decimals, without those in names of buckets."""
    texts = [number.replace(",", "") for number in QUOTED.findall(BUCKET.sub("", text))]
    return [(float(number), len(number.partition(".")[2])) for number in texts]


def sources_of(heading, text):
    """Rows of numbers of the linked files, and of the heading's ids: of claims and slides."""
    ids = re.findall(r"(?:L|C)-?[\w-]+", heading.partition(":")[0])
    links = [name for name in re.findall(r"\]\(([^)]+)\)", text) if name.endswith((".md", ".csv"))]
    files = [(ROOT / "results" / name).read_text(encoding="utf8") for name in links]
    decided = [row for name, row in DECIDED.items() if name.startswith(tuple(ids))]
    slides = csv.DictReader(output("lecture", "--format", "csv").splitlines())
    rows = [" ".join(row.values()) for row in [*decided, *slides] if row["id"] in ids]
    rows += [row["because"] for row in decided]
    lines = [line for file in files for line in file.splitlines()]
    return [[number for number, _ in quoted(row)] for row in [*rows, *lines]]


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_number_of_an_answer_is_that_of_its_files(heading):
    text = SECTIONS[heading]
    rows = sources_of(heading, text)

    def is_known(numbers):
        return any(
            all(any(abs(scale * known - x) <= 0.5001 * 10**-d for known in row) for x, d in numbers)
            for row in rows
            for scale in (1, 100)
        )

    plain = re.sub(r"\]\([^)]*\)", "]", text)
    alone = [[number] for number in quoted(RANGE.sub("", plain))]
    ranges = [quoted(part) for part in RANGE.findall(plain)]
    assert [numbers for numbers in [*alone, *ranges] if not is_known(numbers)] == []


def anchors(text):
    """Ids of a page's headings, as Markdown renderers make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("folder", [".", "experiments", "results"])
def test_every_link_of_the_pages_leads_to_a_file_or_a_heading(folder):
    page = ROOT / folder / "README.md"
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf8"))
    parts = [link.partition("#") for link in links if not link.startswith("https://")]
    assert parts
    for name, _, heading in parts:
        target = ROOT / folder / name if name else page
        assert target.exists(), name
        assert not heading or heading in anchors(target.read_text(encoding="utf8")), heading
