"""Bundles and stores of which some file was damaged: it is named, or nothing changes."""

import shutil
from pathlib import Path

import pytest
from hostile import fault_of, try_cases
from hypothesis import strategies as st
from lanes import draws
from small_results import STUDIED, readers, translator, write_small, write_translator

from seq2seq_bottleneck.tables.names import TABLES

TABLES_OF_STUDIES = tuple(f"probes/{study}.csv" for study in STUDIED)


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
