"""Every file of a finished run and of a bundle, damaged: the reader that uses it says which."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from executing import executed, killed_at, smoke
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from listed import write_relisted

from seq2seq_bottleneck.questions.probing import is_kept, keep, read_kept
from seq2seq_bottleneck.questions.question import find_study
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import (
    STORE,
    find_runs,
    read_checked,
    read_experiments,
    read_object,
    read_settings,
    read_texts,
    rests_on,
    run_rows,
)
from seq2seq_bottleneck.runs.checkpoint import load_vocabularies
from seq2seq_bottleneck.runs.store import RunFolder
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import SUMS, write_listed

pytestmark = pytest.mark.exhaustive(sample="session")
SMALL = smoke(
    "corpus.copy_words=30", "corpus.tokens=subwords", "corpus.source_vocabulary=300",
    "corpus.target_vocabulary=300", "corpus.test_pairs=20", "training.updates=6",
    "training.validations=2", "scoring.resamples=20",
)  # fmt: skip
STUDY = find_study("length")
Reader = Callable[[Path], object]


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """An output folder: a run in its store, measured by a study; bundle, groups, a table."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run = out / STORE / executed(out / STORE, SMALL)[-1]["run"]
    keep(run, STUDY, {"source_words": [5, 6], "tokens": [7.5, 8.5]})
    gather(out, {"mine": {run.name: ["none", ""]}})
    table = f"run,arm,value\n{run.name},none,1.5\n"
    write_listed(out, [("probes/length.csv", table.encode())])
    return out


@pytest.fixture(scope="module")
def bundle(out, tmp_path_factory) -> Path:
    """The same away from its store."""
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


def kept(run: Path) -> list:
    columns = read_kept(run, read_settings(run), STUDY).found
    return [is_kept(run, STUDY), {name: column.tolist() for name, column in columns.items()}]


def counts(folder: Path) -> dict[str, list]:
    sentences = Results.open(folder).sentences
    return {run: [item.words.tolist(), item.statistics.tolist()] for run, item in sentences.items()}


OF_A_RUN: dict[str, Reader] = {
    "settings.json": read_settings,
    "environment.json": lambda run: read_object(run / "environment.json"),
    "log.jsonl": lambda run: read_checked(run / "log.jsonl"),
    "weights.safetensors": weights,
    "source.vocabulary": vocabularies,
    "target.vocabulary": vocabularies,
    "source.subwords.model": vocabularies,
    "target.subwords.model": vocabularies,
    "hypotheses.jsonl": read_texts,
    "sentences.csv": lambda run: run_rows(run / "sentences.csv"),
    "scores.csv": lambda run: Results.open(run.parent).runs.to_csv(),
    "examples.json": lambda run: list(Results.open(run.parent).examples()),
    "probes/length.csv": kept,
    "probes/length.json": kept,
    "status.json": lambda run: [path.name for path in find_runs(run.parent).done],
}
"""What reads each file of a finished run's folder."""
OF_A_BUNDLE: dict[str, Reader] = {
    "runs.csv": lambda folder: Results.open(folder).runs.to_csv(),
    "sentences.csv.gz": counts,
    "examples.json.gz": lambda folder: list(Results.open(folder).examples()),
    "environment.json": lambda folder: Results.open(folder).environment,
    "probes/length.csv": lambda folder: rests_on(folder / "probes" / "length.csv"),
    "experiments.json": read_experiments,
}


def files_of(folder: Path) -> set[str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    names = {path.relative_to(folder).as_posix() for path in paths}
    return {name for name in names if not name.startswith("runs/")}


def sha256sum(folder: Path) -> int:
    """An independent judge of the sums: coreutils."""
    command = ["sha256sum", "--check", "--strict", "--quiet", SUMS]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


def test_every_file_has_its_reader_here_and_coreutils_agree(out):
    assert files_of(run_of(out)) == {*OF_A_RUN, SUMS}
    assert files_of(out) == {*OF_A_BUNDLE, SUMS}
    assert sha256sum(run_of(out)) == sha256sum(out) == 0


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Emptied, cut, or one bit turned over."""
    place = draw(st.integers(0, len(whole) - 1))
    if draw(st.booleans()):
        return whole[:place]
    flipped = whole[place] ^ 1 << draw(st.integers(0, 7))
    return whole[:place] + bytes([flipped]) + whole[place + 1 :]


def one_line(error: UserError) -> str:
    assert "\n" not in str(error)
    return str(error)


quickly = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
        assert "; " in str(raised.value)  # the way out
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("name", ["status.json", SUMS])
@quickly
@given(data=st.data())
def test_a_damaged_status_or_sum_is_told_or_changes_nothing(out, name, data):
    run = run_of(out)
    path, read = run / name, data.draw(st.sampled_from(sorted(OF_A_RUN)))
    before, whole = OF_A_RUN[read](run), path.read_bytes()
    try:
        path.write_bytes(data.draw(damaged(whole)))
        assert OF_A_RUN[read](run) == before
    except UserError as error:
        assert str(run) in one_line(error)  # noqa: PT017
    finally:
        path.write_bytes(whole)


def test_a_finished_run_that_lost_its_sums_is_damaged_and_so_is_a_bundle(out, bundle, tmp_path):
    store = shutil.copytree(out, tmp_path / "store")
    (run_of(store) / SUMS).unlink()
    with pytest.raises(UserError, match=f"its folder has no {SUMS}.*--remove"):
        Results.open(store)
    away = shutil.copytree(bundle, tmp_path / "away")
    (away / SUMS).unlink()
    with pytest.raises(UserError, match=f"its folder has no {SUMS}"):
        Results.open(away)


def test_a_file_that_is_not_listed_is_damaged(out, tmp_path):
    store = shutil.copytree(out, tmp_path / "store")
    (store / "probes" / "fit.csv").write_text("run,arm\n")
    with pytest.raises(UserError, match=f"{SUMS} does not list it.*bottleneck study fit"):
        rests_on(store / "probes" / "fit.csv")


def numbers(folder: Path) -> str:
    """The tidy table but for its experiment and what is timed."""
    timed = ["experiment", "arm", "baseline", "train_seconds", "train_tokens_per_second"]
    return Results.open(folder).runs.drop(columns=timed).to_csv()


def test_a_run_that_lost_its_status_is_done_again_by_what_made_it(out, tmp_path):
    store = shutil.copytree(out / STORE, tmp_path / STORE)
    (store / run_of(out).name / "status.json").unlink()
    with pytest.raises(UserError, match=r"status\.json' cannot be read \(it is missing\)"):
        Results.open(store)
    executed(store, SMALL)
    assert numbers(store) == numbers(out)


@pytest.mark.parametrize("step", range(3))
def test_a_run_killed_at_its_first_files_stops_nobody(out, tmp_path, step):
    """Before its status, before its settings, before what it runs on."""
    with killed_at(step, (os, "replace")) as killed:
        executed(tmp_path, SMALL)
    assert killed
    name = run_of(out).name
    assert (tmp_path / name).is_dir()
    assert [run.name for run in find_runs(tmp_path).unfinished] == [name] * (step > 0)
    executed(tmp_path, SMALL)
    assert numbers(tmp_path) == numbers(out)


LAST = 6
"""The last write of a bundle: of the checksums, after one of both versions' and five of files."""


@pytest.mark.parametrize("step", range(LAST + 3))
def test_a_bundle_whose_writer_is_killed_is_the_old_or_the_new_or_says_so(out, tmp_path, step):
    """Two files of it change: the experiment of a run, and a run that is not done."""
    store, folder = shutil.copytree(out / STORE, tmp_path / STORE), tmp_path / "bundle"
    (run,) = find_runs(store).done
    write_bundle([run], folder)
    RunFolder(store, "begun").write_status("running")
    declared = {"other": {run.name: ["none", ""]}}
    write_relisted(tmp_path / "experiments.json", json.dumps(declared))
    with killed_at(step, (os, "replace")) as killed:
        write_bundle([run], folder)
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
    write_bundle([run], folder)
    assert set(Results.open(folder).environment["unfinished"]) == {"begun"}
    assert sha256sum(folder) == 0
