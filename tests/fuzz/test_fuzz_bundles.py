"""Bundles and stores in which some file was changed: a table, or one line with the file."""

import csv
import gzip
import io
import json
import shutil
from pathlib import Path

import pytest
from hostile import SIGNS, fault_of, spoilt, try_cases
from hypothesis import strategies as st
from planted import write_planted

from seq2seq_bottleneck.results.bundle import load_bundle, load_results, tidy_csv
from seq2seq_bottleneck.runs.stored import arms
from seq2seq_bottleneck.settings.sums import write_listed
from seq2seq_bottleneck.tables.names import TABLES
from seq2seq_bottleneck.tables.pages import make_page, render

BUNDLE = ("runs.csv", "environment.json", "sentences.csv.gz", "examples.json.gz",
          "learning.csv")  # fmt: skip
STATUS, GROUPS = "status.json", "../../groups.json"
STORE = (STATUS, "settings.json", "environment.json", "scores.csv", "sentences.csv",
         "examples.json", GROUPS)  # fmt: skip
strange = st.sampled_from(
    ["", "nan", "inf", "-1", "1e999", "9" * 30, "none", "True", "../x", "[]", "1,2", '"', *SIGNS]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | strange,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(strange, inner, max_size=2),
    max_leaves=4,
)


def change_json(draw, held):
    """The same with one value, some levels down, replaced, taken out or put in."""
    if not isinstance(held, dict | list) or not held or draw(st.integers(0, 3)) == 0:
        return draw(json_values)
    keys = list(held) if isinstance(held, dict) else list(range(len(held)))
    key = draw(st.sampled_from(keys))
    if draw(st.integers(0, 7)) == 0:
        del held[key]
    else:
        held[key] = change_json(draw, held[key])
    return held


def change_csv(draw, text):
    """The same table with a cell, a column's head or a row changed."""
    rows = list(csv.reader(io.StringIO(text))) or [[""]]
    row = draw(st.sampled_from(rows[: 1 + draw(st.integers(0, len(rows)))]))
    match draw(st.sampled_from(["cell", "cell", "cell", "less", "more", "twice", "gone"])):
        case "cell":
            row[draw(st.integers(0, len(row) - 1))] = draw(strange)
        case "less":
            row.pop()
        case "more":
            row.append(draw(strange))
        case "twice":
            rows.append(list(row))
        case _:
            rows.remove(row)
    held = io.StringIO()
    csv.writer(held, lineterminator=draw(st.sampled_from(["\n", "\n", "\r\n"]))).writerows(rows)
    return held.getvalue()


def changed(draw, name, data):
    """A file's bytes, changed in what they say or bit by bit."""
    if name.endswith(".gz"):
        inner = gzip.decompress(data)
        told = changed(draw, name.removesuffix(".gz"), inner)
        whole = gzip.compress(told, mtime=0)
        return spoilt(draw, whole) if draw(st.integers(0, 4)) == 0 else whole
    if draw(st.integers(0, 3)) == 0:
        return spoilt(draw, data)
    if name.endswith(".json"):
        return json.dumps(change_json(draw, json.loads(data))).encode()
    return change_csv(draw, data.decode()).encode(errors="surrogatepass")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Results of two arms, short enough that reading them takes milliseconds."""
    folder = tmp_path_factory.mktemp("whole")
    write_planted(folder, {"none": [0.5] * 5, "additive": [0.1] * 5}, 1, keep=frozenset({7, 15}))
    write_listed(folder, [("groups.json", b'{"none1x1": "a", "additive1x1": "a"}')])
    return folder


def look(folder, table=TABLES[0]):
    """What can be asked of results without a network: all that is read, and one of the tables."""
    fault_of(arms, folder)
    tidy_csv(load_results(folder))
    bundle = load_bundle(folder)
    for read in (bundle.learning, bundle.examples):
        fault_of(lambda read: read(), read)
    bundle.unfinished()
    render(make_page(table, bundle), "markdown")


@pytest.mark.parametrize("count", [12, pytest.param(500, marks=pytest.mark.slow)])
def test_bundles(whole, tmp_path, count):
    held = {name: (whole / name).read_bytes() for name in BUNDLE}
    folder = tmp_path / "bundle"
    folder.mkdir()

    def check(case):
        name, data, table = case
        write_listed(folder, (held | {name: data}).items())  # no checksum keeps it from being read
        look(folder, table)

    @st.composite
    def cases(draw):
        name = draw(st.sampled_from(BUNDLE[:2] * 2 + BUNDLE))
        return name, changed(draw, name, held[name]), draw(st.sampled_from(TABLES))

    try_cases(check, cases(), count)


@pytest.mark.parametrize("count", [12, pytest.param(500, marks=pytest.mark.slow)])
def test_stores(whole, tmp_path, count):
    folder = Path(shutil.copytree(whole, tmp_path / "out"))
    run = folder / "runs" / "none1x1"
    held = {name: (run / name).read_bytes() for name in STORE}

    def check(case):
        name, data, table = case
        files = held | {name: data}
        (run / STATUS).write_bytes(files.pop(STATUS))
        write_listed(folder, [("groups.json", files.pop(GROUPS))])
        write_listed(run, files.items())
        look(folder, table)

    @st.composite
    def cases(draw):
        name = draw(st.sampled_from(STORE))
        return name, changed(draw, name, held[name]), draw(st.sampled_from(TABLES))

    try_cases(check, cases(), count)


def test_what_is_looked_at_is_read_where_nothing_is_changed(whole, tmp_path):
    bundle = Path(shutil.copytree(whole, tmp_path / "b", ignore=shutil.ignore_patterns("runs")))
    assert not (bundle / "runs").exists()
    for folder in (whole, bundle):
        for table in TABLES[:2]:
            look(folder, table)
