"""Every file of a finished run and of a bundle, damaged: the reader that uses it says which."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from executing import executed, smoke
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.questions.probing import is_kept, keep, read_kept
from seq2seq_bottleneck.questions.question import find_study
from seq2seq_bottleneck.results.bundle import learning_rows, load_bundle, load_results
from seq2seq_bottleneck.results.discovery import find_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import (
    STORE,
    read_groups,
    read_object,
    read_outputs,
    read_settings,
    run_rows,
)
from seq2seq_bottleneck.results.probes import rests_on
from seq2seq_bottleneck.runs.network_files import load_vocabularies
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


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder: a run in its store, measured by a study; bundle, groups, a table."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run = out / STORE / executed(out / STORE, SMALL)[-1]["run"]
    keep(run, STUDY, {"source_words": [5, 6], "tokens": [7.5, 8.5]})
    gather(out, {run.name: "a group"})
    table = f"run,arm,value\n{run.name},none,1.5\n"
    write_listed(out, [("probes/length.csv", table.encode())])
    return out


class Killed(BaseException):
    """The end of the process, in a test."""


def run_of(out: Path) -> Path:
    (run,) = find_runs(out).done
    return run


def vocabularies(run: Path) -> object:
    return load_vocabularies(run, read_settings(run).corpus)


def weights(run: Path) -> list:
    return [leaf.tolist() for leaf in load_run(run).weights["decoder"]["output_bias"][...]]


def kept(run: Path) -> list:
    found = read_kept(run, read_settings(run), STUDY).found
    return [is_kept(run, STUDY), {name: column.tolist() for name, column in found.items()}]


OF_A_RUN: dict[str, Callable[[Path], object]] = {
    "settings.json": read_settings,
    "environment.json": lambda run: read_object(run / "environment.json"),
    "log.jsonl": lambda run: learning_rows(run),
    "weights.safetensors": weights,
    "source.vocabulary": vocabularies,
    "target.vocabulary": vocabularies,
    "source.subwords.model": vocabularies,
    "target.subwords.model": vocabularies,
    "hypotheses.jsonl": read_outputs,
    "sentences.csv": lambda run: list(run_rows(run / "sentences.csv")),
    "scores.csv": lambda run: load_results(run.parent).to_csv(),
    "examples.json": lambda run: load_bundle(run.parent).examples(),
    "probes/length.csv": kept,
    "probes/length.json": kept,
    "status.json": lambda run: [path.name for path in find_runs(run.parent).done],
}
"""What reads each file of a finished run's folder."""


def counts(folder: Path) -> dict[str, list]:
    held = load_bundle(folder).sentences
    return {run: [each.words.tolist(), each.statistics.tolist()] for run, each in held.items()}


OF_A_BUNDLE: dict[str, Callable[[Path], object]] = {
    "runs.csv": lambda folder: load_results(folder).to_csv(),
    "sentences.csv.gz": counts,
    "learning.csv": lambda folder: load_bundle(folder).learning().to_csv(),
    "examples.json.gz": lambda folder: load_bundle(folder).examples(),
    "environment.json": lambda folder: load_bundle(folder).environment,
    "probes/length.csv": lambda folder: rests_on(folder / "probes" / "length.csv"),
    "groups.json": read_groups,
}


def files_of(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found if path.name[0] != "."}


def sha256sum(folder: Path) -> int:
    """An independent judge of the sums: coreutils."""
    command = ["sha256sum", "--check", "--strict", "--quiet", SUMS]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode


def test_every_file_has_its_reader_here_and_coreutils_agree(out: Path) -> None:
    run = run_of(out)
    assert files_of(run) == {*OF_A_RUN, SUMS}
    assert {name for name in files_of(out) if not name.startswith("runs/")} == {
        *OF_A_BUNDLE,
        SUMS,
    }
    assert sha256sum(run) == sha256sum(out) == 0


@st.composite
def damages(draw: st.DrawFn, size: int) -> Callable[[bytes], bytes]:
    """Emptied, cut, or one bit turned over."""
    kind = draw(st.sampled_from(["empty", "cut", "bit"]))
    if kind == "empty":
        return lambda content: content[:0]
    if kind == "cut":
        kept = draw(st.integers(1, size - 1))
        return lambda content: content[:kept]
    place, bit = draw(st.integers(0, size - 1)), 1 << draw(st.integers(0, 7))
    return lambda content: content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]


def one_line(error: UserError) -> str:
    said = str(error)
    assert "\n" not in said
    return said


quickly = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def is_told(path: Path, damage: Callable[[bytes], bytes], read: Callable[[], object]) -> None:
    """A damaged file is an error that names it; mended it is read as before."""
    whole = path.read_bytes()
    try:
        path.write_bytes(damage(whole))
        with pytest.raises(UserError) as raised:
            read()
        assert str(path) in one_line(raised.value)
        assert "; " in str(raised.value)  # the way out
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("name", sorted({*OF_A_RUN} - {"status.json"}))
@quickly
@given(data=st.data())
def test_a_damaged_file_of_a_run_is_named(out: Path, name: str, data: st.DataObject) -> None:
    run = run_of(out)
    damage = data.draw(damages((run / name).stat().st_size))
    is_told(run / name, damage, lambda: OF_A_RUN[name](run))


@pytest.fixture(scope="module")
def bundle(out: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same away from its store."""
    folder = tmp_path_factory.mktemp("away") / "bundle"
    shutil.copytree(out, folder, ignore=lambda *_: [STORE])
    return folder


@pytest.mark.parametrize("name", sorted(OF_A_BUNDLE))
@quickly
@given(data=st.data())
def test_a_damaged_file_of_a_bundle_is_named(bundle: Path, name: str, data: st.DataObject) -> None:
    damage = data.draw(damages((bundle / name).stat().st_size))
    is_told(bundle / name, damage, lambda: OF_A_BUNDLE[name](bundle))


@pytest.mark.parametrize("name", ["status.json", SUMS])
@quickly
@given(data=st.data())
def test_a_damaged_status_or_sum_is_told_or_changes_nothing(
    out: Path, name: str, data: st.DataObject
) -> None:
    run = run_of(out)
    path, read = run / name, data.draw(st.sampled_from(sorted(OF_A_RUN)))
    before, whole = OF_A_RUN[read](run), path.read_bytes()
    try:
        path.write_bytes(data.draw(damages(len(whole)))(whole))
        assert OF_A_RUN[read](run) == before
    except UserError as error:
        told = str(run) in one_line(error)
        assert told
    finally:
        path.write_bytes(whole)


def test_a_finished_run_that_lost_its_sums_is_damaged_and_so_is_a_bundle(
    out: Path, bundle: Path, tmp_path: Path
) -> None:
    store = shutil.copytree(out, tmp_path / "store")
    (run_of(store) / SUMS).unlink()
    with pytest.raises(UserError, match=f"its folder has no {SUMS}.*--remove"):
        load_results(store)
    away = shutil.copytree(bundle, tmp_path / "away")
    (away / SUMS).unlink()
    with pytest.raises(UserError, match=f"its folder has no {SUMS}"):
        load_results(away)


def numbers(folder: Path) -> str:
    """The tidy table but for its group and what is timed."""
    timed = ["group", "train_seconds", "train_tokens_per_second"]
    return load_results(folder).drop(columns=timed).to_csv()


def test_a_run_that_lost_its_status_is_done_again_by_what_made_it(
    out: Path, tmp_path: Path
) -> None:
    store = shutil.copytree(out / STORE, tmp_path / STORE)
    (store / run_of(out).name / "status.json").unlink()
    with pytest.raises(UserError, match=r"status\.json' is missing.*to finish"):
        load_results(store)
    executed(store, SMALL)
    assert numbers(store) == numbers(out)


@pytest.mark.parametrize("step", range(3))
def test_a_run_killed_at_its_first_files_stops_nobody(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Before its status, before its settings, before what it runs on."""
    steps, replace = count(), os.replace

    def replaced(*arguments):
        if next(steps) == step:
            raise Killed
        replace(*arguments)

    with monkeypatch.context() as dying:
        dying.setattr(os, "replace", replaced)
        with pytest.raises(Killed):
            executed(tmp_path, SMALL)
    name = run_of(out).name
    assert (tmp_path / name).is_dir()
    assert [run.name for run in find_runs(tmp_path).unfinished] == [name] * (step > 0)
    executed(tmp_path, SMALL)
    assert numbers(tmp_path) == numbers(out)


def test_a_file_that_is_not_listed_is_damaged(out: Path, tmp_path: Path) -> None:
    store = shutil.copytree(out, tmp_path / "store")
    (store / "probes" / "fit.csv").write_text("run,arm\n")
    with pytest.raises(UserError, match=f"{SUMS} does not list it.*bottleneck study fit"):
        rests_on(store / "probes" / "fit.csv")


LAST = 6
"""The last write of a bundle: of the checksums, after one of both versions' and five of files."""


@pytest.mark.parametrize("step", range(LAST + 3))
def test_a_bundle_whose_writer_is_killed_is_the_old_or_the_new_or_says_so(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Two files of it change: the group of a run, and a run that is not done."""
    store, folder = shutil.copytree(out / STORE, tmp_path / STORE), tmp_path / "bundle"
    (run,) = find_runs(store).done
    write_bundle([run], folder, {})
    RunFolder(store, "begun").write_status("running")
    steps, replace = count(), os.replace

    def replaced(*arguments):
        if next(steps) == step:
            raise Killed
        replace(*arguments)

    monkeypatch.setattr(os, "replace", replaced)
    with suppress(Killed):
        write_bundle([run], folder, {run.name: "other"})
    monkeypatch.undo()
    assert next(steps) > step or step > LAST
    try:
        held = load_bundle(folder)
        seen = set(held.runs["group"]), set(held.unfinished()["run"])
    except UserError as error:
        seen = one_line(error)
    ways = {0: ({""}, set()), 1: ({""}, set()), LAST: ({"other"}, {"begun"})}
    if step in ways or step > LAST:
        assert seen == ways.get(step, ways[LAST])
    else:
        assert "an export or a merge was stopped" in seen
    write_bundle([run], folder, {run.name: "other"})
    assert set(load_bundle(folder).unfinished()["run"]) == {"begun"}
    assert sha256sum(folder) == 0
