"""Every file of a finished run and of a bundle, damaged: the reader that uses it says which."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from executing import executed, killed_at, smoke
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from listed import write_relisted

from seq2seq_bottleneck.results.bundle import Results, read_table
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import (
    STORE,
    find_runs,
    read_experiments,
    read_settings,
    read_texts,
)
from seq2seq_bottleneck.results.schema import COUNTED
from seq2seq_bottleneck.runs.checkpoint import load_vocabularies
from seq2seq_bottleneck.runs.store import write_status
from seq2seq_bottleneck.runs.sweep import declare_runs, gather
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed
from seq2seq_bottleneck.settings.sweep import Cell

pytestmark = pytest.mark.exhaustive(sample="session")
SMALL = smoke(
    "corpus.copy_words=30", "corpus.tokens=subwords", "corpus.source_vocabulary=300",
    "corpus.target_vocabulary=300", "corpus.test_pairs=20", "training.updates=6",
    "training.validations=2", "scoring.resamples=20",
)  # fmt: skip
Reader = Callable[[Path], object]


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """An output folder: a run in its store, the bundle, a study's table."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run = out / STORE / executed(out / STORE, SMALL)[-1]["run"]
    cell = Cell("", SMALL, "none")
    declare_runs(out, "mine", [cell], {cell: run.name})
    gather(out)
    table = f"run,arm,value\n{run.name},none,1.5\n"
    write_listed(out, [("probes/length.csv", table.encode())])
    return out


@pytest.fixture(scope="module")
def bundle(out, tmp_path_factory) -> Path:
    """The same bundle without its store."""
    folder = tmp_path_factory.mktemp("away") / "bundle"
    shutil.copytree(out, folder, ignore=lambda *_: [STORE])
    return folder


def run_of(out: Path) -> Path:
    (run,) = find_runs(out).done
    return run


def vocabularies(run: Path) -> object:
    return load_vocabularies(run, read_settings(run).corpus)


def weights(run: Path) -> list:
    return [leaf.tolist() for leaf in load_run(run).weights["decoder"]["output_bias"][...]]


OF_A_RUN: dict[str, Reader] = {
    "settings.json": read_settings,
    "weights.safetensors": weights,
    "source.vocabulary": vocabularies,
    "source.subwords.model": vocabularies,
    "hypotheses.jsonl": read_texts,
    "sentences.csv": lambda run: read_table(run / "sentences.csv", COUNTED),
    "scores.csv": lambda run: Results.open(run.parent).runs.to_csv(),
    "examples.json": lambda run: list(Results.open(run.parent).examples()),
    "status.json": lambda run: [path.name for path in find_runs(run.parent).done],
}
"""What reads each file of a finished run's folder."""
OF_A_BUNDLE: dict[str, Reader] = {
    "runs.csv": lambda folder: Results.open(folder).runs.to_csv(),
    "sentences.csv.gz": lambda folder: list(Results.open(folder).sentences),
    "examples.json.gz": lambda folder: list(Results.open(folder).examples()),
    "probes/length.csv": lambda folder: read_table(
        folder / "probes" / "length.csv", {"run": "str"}
    ),
    "experiments.json": read_experiments,
}


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """The content emptied, cut, or with one bit flipped."""
    place = draw(st.integers(0, len(whole) - 1))
    if draw(st.booleans()):
        return whole[:place]
    flipped = whole[place] ^ 1 << draw(st.integers(0, 7))
    return whole[:place] + bytes([flipped]) + whole[place + 1 :]


def one_line(error: UserError) -> str:
    assert "\n" not in str(error)
    return str(error)


quickly = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMED = [("run", name) for name in sorted({*OF_A_RUN} - {"status.json"})]
NAMED += [("bundle", name) for name in sorted(OF_A_BUNDLE)]


@pytest.mark.parametrize(("where", "name"), NAMED)
@quickly
@given(data=st.data())
def test_a_damaged_file_is_named(out, bundle, where, name, data):
    folder, readers = (run_of(out), OF_A_RUN) if where == "run" else (bundle, OF_A_BUNDLE)
    path = folder / name
    whole = path.read_bytes()
    try:
        path.write_bytes(data.draw(damaged(whole)))
        with pytest.raises(UserError) as raised:
            readers[name](folder)
        assert str(path) in one_line(raised.value)
        assert "; " in str(raised.value)  # what to do
    finally:
        path.write_bytes(whole)


def test_a_finished_run_that_lost_its_sums_is_damaged_and_so_is_a_bundle(out, bundle, tmp_path):
    store = shutil.copytree(out, tmp_path / "store")
    (run_of(store) / "SHA256SUMS").unlink()
    with pytest.raises(UserError, match="its folder has no SHA256SUMS"):
        Results.open(store)
    away = shutil.copytree(bundle, tmp_path / "away")
    (away / "SHA256SUMS").unlink()
    with pytest.raises(UserError, match="its folder has no SHA256SUMS"):
        Results.open(away)


LAST = 5
"""The last write of a bundle: of the checksums, after one of both versions' and four of files."""


@pytest.mark.parametrize("step", range(LAST + 3))
def test_a_bundle_whose_writer_is_killed_is_the_old_or_the_new_or_says_so(out, tmp_path, step):
    """Two of its files change: a run's experiment, and a run that is not done."""
    store, folder = shutil.copytree(out / STORE, tmp_path / STORE), tmp_path / "bundle"
    (run,) = find_runs(store).done
    write_bundle(Results.open(tmp_path), folder)
    write_status(store / "begun", "running")
    declared = {"other": {run.name: ["none", ""]}}
    write_relisted(tmp_path / "experiments.json", json.dumps(declared))
    with killed_at(step, (os, "replace")) as killed:
        write_bundle(Results.open(tmp_path), folder)
    assert killed or step > LAST
    try:
        read = Results.open(folder)
        seen = set(read.runs["experiment"]), set(read.environment["unfinished"])
    except UserError as error:
        seen = one_line(error)
    if step < 2:
        assert seen == ({""}, set())
    elif step >= LAST:
        assert seen == ({"other"}, {"begun"})
    else:
        assert "an export or a merge was stopped" in seen
    write_bundle(Results.open(tmp_path), folder)
    assert set(Results.open(folder).environment["unfinished"]) == {"begun"}
