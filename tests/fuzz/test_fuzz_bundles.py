"""Bundles and stores in which some file was changed: a table, or one line with the file.

A change that the sums know of may be one of numbers, and then gives other tables; one that they do
not know of is told, or changes nothing.
"""

import csv
import gzip
import io
import json
import shutil
from pathlib import Path

import pytest
from hostile import SIGNS, fault_of, spoilt, try_cases
from hypothesis import strategies as st
from lanes import draws
from small_results import (
    OF_TRANSLATOR,
    STUDIED,
    readers,
    translator,
    write_small,
    write_translator,
)

from seq2seq_bottleneck.results.probes import load_probe
from seq2seq_bottleneck.settings.sums import write_listed
from seq2seq_bottleneck.tables.names import TABLES

TABLES_OF_STUDIES = tuple(f"probes/{study}.csv" for study in STUDIED)
BUNDLE = ("runs.csv", "environment.json", "sentences.csv.gz", "examples.json.gz",
          "learning.csv", *TABLES_OF_STUDIES)  # fmt: skip
STATUS, GROUPS = "status.json", "../../groups.json"
STORE = (STATUS, "settings.json", "environment.json", "scores.csv", "sentences.csv",
         "examples.json", "hypotheses.jsonl", "log.jsonl", GROUPS)  # fmt: skip
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
    if draw(st.integers(0, 3)) == 0 or not name.endswith((".json", ".jsonl", ".csv")):
        return spoilt(draw, data)
    if name.endswith(".json"):
        return json.dumps(change_json(draw, json.loads(data))).encode()
    if name.endswith(".jsonl"):
        lines = data.splitlines()
        place = draw(st.integers(0, len(lines) - 1))
        lines[place] = json.dumps(change_json(draw, json.loads(lines[place]))).encode()
        return b"\n".join([*lines, b""])
    return change_csv(draw, data.decode()).encode(errors="surrogatepass")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    write_small(folder)
    return folder


@pytest.fixture
def bundle(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "b", ignore=shutil.ignore_patterns("runs")))


@pytest.fixture
def store(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "s"))


def look(folder, name, table):
    """Try all that reads a file: each gives something, or says what is wrong."""
    for read in readers(name, table):
        fault = fault_of(read, folder)
        assert fault is None or str(fault).strip()


def held_by(folder, names):
    return {name: (folder / name).read_bytes() for name in names}


class Shortly(bytes):
    """A file's bytes, of which a failing case shows the beginning: hypothesis takes no more."""

    def __repr__(self):
        return f"{bytes(self)[:2_000]!r}, {len(self):,} bytes"


@st.composite
def changes(draw, held, often):
    """A file changed, and the table that is asked for; of some files more often than of others."""
    name = draw(st.sampled_from([*often, *held]))
    return name, Shortly(changed(draw, name, held[name])), draw(st.sampled_from(TABLES))


@pytest.mark.parametrize("budget", draws(16, 500))
def test_bundles(bundle, budget):
    held = held_by(bundle, BUNDLE)

    def check(case):
        name, data, table = case
        write_listed(bundle, (held | {name: data}).items())  # no checksum keeps it from being read
        look(bundle, name, table)

    try_cases(check, changes(held, BUNDLE[:2] * 4 + BUNDLE[2:5] * 2), budget)


def twice(rows):
    rows.append(next(row for row in rows if not row[rows[0].index("seed")]))


def blank(column, step):
    def changed(rows):
        for row in rows[1::step]:
            row[rows[0].index(column)] = ""

    return changed


def rewrite(bundle, study, change):
    """Change the rows of a study's table, as somebody does who lists it as it is then."""
    path = bundle / "probes" / f"{study}.csv"
    rows = list(csv.reader(io.StringIO(path.read_text())))
    change(rows)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_listed(bundle, [(f"probes/{study}.csv", text.getvalue().encode())])


@pytest.mark.parametrize(
    ("study", "change"),
    [("information", twice), ("alignment", blank("n", 1)), ("dimensions", blank("updates", 2))],
)
def test_a_table_of_a_study_with_rows_that_do_not_fit_is_named(bundle, study, change):
    """Faults that were found: what was made of such a table ended in an error of ours."""
    rewrite(bundle, study, change)
    table, _ = readers(f"probes/{study}.csv")
    assert f"probes/{study}.csv' cannot be read (" in str(fault_of(table, bundle))


def test_a_table_of_a_study_that_names_no_run_is_made(bundle):
    """It warned once, of what pandas 4 refuses: a column without a value is none of text."""
    rewrite(bundle, "alignment", blank("run", 1))
    assert set(load_probe(bundle, "alignment")["run"]) == {""}
    table, _ = readers("probes/alignment.csv")
    assert fault_of(table, bundle) is None


@pytest.mark.parametrize("budget", draws(12, 500))
def test_stores(store, budget):
    run = store / "runs" / "none1x1"
    held = held_by(run, STORE)

    def check(case):
        name, data, table = case
        files = held | {name: data}
        (run / STATUS).write_bytes(files.pop(STATUS))
        write_listed(store, [("groups.json", files.pop(GROUPS))])
        write_listed(run, files.items())
        look(store, name, table)

    try_cases(check, changes(held, ()), budget)


@pytest.mark.parametrize("budget", draws(4, 100))
def test_networks(tmp_path, budget):
    """Words and weights that are not as they were, with sums that say so."""
    run = write_translator(tmp_path)
    held = held_by(run, OF_TRANSLATOR)
    assert translator(tmp_path)

    def check(case):
        name, data, _ = case
        write_listed(run, (held | {name: data}).items())
        translator(tmp_path)

    try_cases(check, changes(held, ()), budget)


@st.composite
def damages(draw, held):
    """A file cut, emptied, with a byte turned over, or gone (None); its sums know nothing of it."""
    name = draw(st.sampled_from(sorted(held)))
    data = held[name]
    match draw(st.sampled_from(["gone", "cut", "turned", "turned"])):
        case "gone":
            return name, None
        case "cut":
            return name, data[: draw(st.integers(0, max(len(data) - 1, 0)))]
    place, bit = draw(st.integers(0, len(data) - 1)), 1 << draw(st.integers(0, 7))
    return name, data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


def told_or_alike(folder, inside, asked, budget):
    """Damage files inside a folder one by one: what is read is as before, or a file is named.

    ``asked`` gives what reads a file.
    """
    paths = [path for path in inside.rglob("*") if path.is_file() and path.name[0] != "."]
    held = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}
    before = {table: [read(folder) for read in asked(table)] for table in {*map(table_of, held)}}

    def check(case):
        name, data = case
        for read, known in zip(asked(name), before[table_of(name)], strict=True):
            damage(folder / name, data)
            found = []
            fault = fault_of(lambda _, read=read, found=found: found.append(read(folder)), name)
            (folder / name).write_bytes(held[name])
            assert str(folder) in str(fault) if fault else found == [known], name

    try_cases(check, damages(held), budget)


def table_of(name):
    """The table of a study that a file is; empty where it is none."""
    return name if name in TABLES_OF_STUDIES else ""


def damage(path, data):
    path.unlink() if data is None else path.write_bytes(data)


@pytest.mark.parametrize("budget", draws(12, 250))
def test_damage_of_a_bundle_is_told_or_changes_nothing(bundle, budget):
    told_or_alike(bundle, bundle, lambda name: readers(name, "vindication"), budget)


@pytest.mark.parametrize("budget", draws(12, 250))
def test_damage_of_a_store_is_told_or_changes_nothing(store, budget):
    told_or_alike(store, store / "runs", lambda name: readers(name, "vindication"), budget)


@pytest.mark.parametrize("budget", draws(4, 100))
def test_damage_of_a_network_is_told_or_changes_nothing(tmp_path, budget):
    write_translator(tmp_path)
    told_or_alike(tmp_path, tmp_path, lambda _: [translator], budget)


@pytest.mark.slow
def test_what_is_looked_at_is_read_where_nothing_is_changed(bundle, store):
    assert not (bundle / "runs").exists()
    for folder in (store, bundle):
        for name in ("", *TABLES_OF_STUDIES):
            for read in readers(name, TABLES[1]):
                assert read(folder)
