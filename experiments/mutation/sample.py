"""Mutation testing of scoring, attention and the grammar's rules, on a fixed sample of mutants.

    pip install cosmic-ray
    python experiments/mutation/sample.py scoring attention grammar

cosmic-ray lists the small changes that could be made to each file; of those a sample is drawn, the
same every time as long as the files are, and for each of its mutants the area's own tests are run.
A mutant is killed where they fail. Mutants live in copies: the checkout is never touched. Words of
the grammar's lexicon and annotations are left out, since no test could tell them apart.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import cosmic_ray.cli  # noqa: F401  (where it is missing this says so at once)
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

CHECKOUT = Path(__file__).resolve().parents[2]
SIMULATED = "tests/scoring/test_scoring_simulated.py"
SAMPLE = 60
SEED = 1
TIMEOUT = 300
"""Seconds that the tests of one mutant may take: longer is an endless loop, and a death."""
OUTSIDE = ("core/RemoveDecorator", "core/VariableInserter", "core/VariableReplacer")
"""Operators that are left out: caching and dataclasses' decorators, and names put in at random."""


@dataclass(frozen=True)
class Area:
    """Files that are mutated, and the tests that are to notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


def _in(room: str, names: str) -> tuple[str, ...]:
    return tuple(f"bottleneck/{room}/{name}.py" for name in names.split())


GRAMMAR = "french grammar rules"
"""The grammar's files without its lexicon."""
AREAS = {
    "scoring": Area(
        _in("scoring", "bleu bootstrap"),
        ("tests/scoring", "tests/tables/test_tables_score.py"),
    ),
    "attention": Area(
        _in("model", "attention recurrence"),
        ("tests/model/test_model_attention.py", "tests/model/test_model_formulas.py"),
    ),
    "grammar": Area(
        _in("corpus/grammar", GRAMMAR),
        ("tests/corpus/grammar",),
    ),
}


def main() -> None:
    """Run the areas asked for, two at a time, and print a line a survivor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("areas", nargs="+", choices=sorted(AREAS))
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mutants an area")
    parser.add_argument("--jobs", type=int, default=2, help="areas at once")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as pool:
        tried = pool.map(lambda name: try_area(Path(folder), name, asked.sample), asked.areas)
        for lines in tried:
            print(*lines, sep="\n", flush=True)


def try_area(folder: Path, name: str, sample: int) -> list[str]:
    """Mutate an area in a copy of its own; the share killed, then each survivor's change."""
    area, copy = AREAS[name], _copied(folder / name)
    config, session = copy / "mutation.toml", copy / "mutation.sqlite"
    # Slow ones too, but for the simulations of thousands of test sets.
    options = f"-x -q -p no:cacheprovider -o addopts= --ignore {SIMULATED}"
    tests = f"{sys.executable} -m pytest {options} {' '.join(area.tests)}"
    config.write_text(_config(area.files, tests))
    _ran(copy, tests)  # unchanged files pass, or every mutant would seem killed
    _ran(copy, f"cosmic-ray init {config.name} {session.name}")
    with use_db(session, WorkDB.Mode.open) as held:
        total = _skip_all_but(held, copy, sample)
    _ran(copy, f"cosmic-ray exec {config.name} {session.name}")
    with use_db(session, WorkDB.Mode.open) as held:
        return [*_told(name, total, list(held.completed_work_items))]


def _copied(copy: Path) -> Path:
    """The checkout's tracked files, with the package under its own name for `PYTHONPATH`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, copy / name)
    (copy / "path").mkdir()
    (copy / "path" / "seq2seq_bottleneck").symlink_to(copy / "bottleneck")
    (copy / "bottleneck" / "experiments").symlink_to(copy / "experiments")
    return copy


def _config(files: Sequence[str], tests: str) -> str:
    return (
        "[cosmic-ray]\n"
        f"module-path = {list(files)}\n"
        f"timeout = {TIMEOUT}\n"
        "excluded-modules = []\n"
        f'test-command = "{tests}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )


def _ran(copy: Path, command: str) -> None:
    """Run a command in the copy, which is what it imports; its output is shown where it fails."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    held = os.environ | {"PYTHONPATH": str(copy / "path"), "PATH": path, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command.split(), cwd=copy, env=held, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def _skip_all_but(held: WorkDB, copy: Path, sample: int) -> int:
    """Leave a sample of the mutants to be tried; returns how many there were to draw from."""
    annotations = {path: list(_annotations(path)) for path in (copy / "bottleneck").rglob("*.py")}
    items = sorted(held.work_items, key=_place)
    fit = [item for item in items if _is_fit(item, copy, annotations)]
    chosen = {item.job_id for item in Random(SEED).sample(fit, min(sample, len(fit)))}
    skipped = WorkResult(WorkerOutcome.SKIPPED)
    for item in items:
        if item.job_id not in chosen:
            held.set_result(item.job_id, skipped)
    return len(fit)


def _place(item: WorkItem) -> tuple[str, str, int]:
    """An order that does not hang on names drawn at random."""
    (change,) = item.mutations
    return str(change.module_path), change.operator_name, change.occurrence


def _is_fit(item: WorkItem, copy: Path, annotations: dict[Path, list[range]]) -> bool:
    (change,) = item.mutations
    if change.operator_name.startswith(OUTSIDE):
        return False
    path = (copy / change.module_path).resolve()
    line, column = change.start_pos
    return not any(_position(line, column) in span for span in annotations[path])


def _annotations(path: Path) -> Iterator[range]:
    """Where a file's annotations stand."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        for name in ("annotation", "returns"):
            if (held := getattr(node, name, None)) is not None:
                start = _position(held.lineno, held.col_offset)
                yield range(start, _position(held.end_lineno, held.end_col_offset))


def _position(line: int, column: int) -> int:
    return line * 10_000 + column


def _told(name: str, total: int, done: Iterable[tuple[WorkItem, WorkResult]]) -> Iterator[str]:
    tried = [(item, found) for item, found in done if found.worker_outcome != WorkerOutcome.SKIPPED]
    survivors = [each for each in tried if each[1].test_outcome == TestOutcome.SURVIVED]
    killed = len(tried) - len(survivors)
    share = killed / len(tried)
    yield f"{name}: {killed} of {len(tried)} killed ({share:.0%}), drawn from {total:,}"
    for item, found in sorted(survivors, key=lambda each: _place(each[0])):
        (change,) = item.mutations
        yield f"  survived: {change.module_path}:{change.start_pos[0]} {change.operator_name}"
        changes = (found.diff or "").splitlines()[3:]  # without the heads
        yield from (f"    {line}" for line in changes if line[:1] in ("+", "-"))


if __name__ == "__main__":
    main()
