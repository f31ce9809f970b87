"""Execute the cells of a sweep in one store, then write the bundle of all its finished runs.

`bottleneck reproduce`, the main job, is a sweep of two arms.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from ..corpus.corpus import load_corpus
from ..corpus.files import pair_files, read_split
from ..corpus.vocabulary import tokenizer_advice
from ..results import folders
from ..results.bundle import Results
from ..results.export import write_bundle
from ..scoring.bleu import bleu_metric
from ..settings.errors import UsageError
from ..settings.files import check_place, write_listed
from ..settings.run import NAMES, RunSettings
from ..settings.sweep import LONGER, Cell, Group, Sweep, make_grid
from .pool import Event, Listener, Outcome


def plan_comparison(settings: RunSettings, seeds: int, check_schedule: bool) -> tuple[Cell, ...]:
    """The cells of the experiment ``vindication``: none and the settings' attention, every seed.

    With ``check_schedule`` the first seed is trained once more, twice as long.
    """
    attention, first = settings.model.attention, settings.training.seed
    if attention == "none":
        raise UsageError(
            "model.attention=none: reproduce compares none with an attention; name one, as in "
            "--attention additive"
        )
    fixed = {name: settings.value(name) for name in NAMES}
    varied = {
        "training.seed": list(range(first, first + seeds)),
        "model.attention": ["none", attention],
    }
    groups = (Group(), Group(LONGER, {"training.seed": first}, {"training.updates": 2}))
    sweep = Sweep("vindication", settings=fixed | varied, groups=groups[: 1 + check_schedule])
    return make_grid(sweep)[0]


def check_text(settings: RunSettings) -> list[str]:
    """Refuse a bad tokenizer or bad files before any run; advise if they do not fit together."""
    corpus, tokenize = settings.corpus, settings.scoring.tokenize
    bleu_metric(tokenize)
    if corpus.is_drawn:
        return []
    given = [split for split in ("train", "test") if pair_files(corpus, split)]  # or an error
    if corpus.name != "files":
        return []
    texts = [read_split(corpus, split) for split in given]
    references = [pair.target for pair in texts[-1][:1000]]
    return tokenizer_advice(references, tokenize, "--set scoring.tokenize=")


def run_sweep(
    experiment: str,
    cells: Sequence[Cell],
    out: Path,
    listener: Listener,
    executor: Callable[[Sequence[Cell], Path, Listener], list[Outcome]],
) -> list[Outcome]:
    """Execute missing runs; then, even after an interrupt, write the bundle in ``out``.

    ``executor`` writes run folders into a store, such as `run_cells`.
    """
    folders.check_trainable(out)
    check_place(out)
    # A mistake in the text (of the first cell) is one error now, not an error per run.
    load_corpus(cells[0].settings.corpus, cells[0].settings.scoring.lower_edges)
    runs: dict[Cell, str] = {}

    def listen(cell: Cell, event: Event) -> None:
        if "run" in event:
            runs[cell] = event["run"]
            if event["phase"] == "training":  # so that tables know the runs of a sweep under way
                declare_runs(out, experiment, cells, runs)
        listener(cell, event)

    try:
        return executor(cells, out / folders.STORE, listen)
    finally:
        declare_runs(out, experiment, cells, runs)
        gather(out)


def gather(out: Path) -> None:
    """Write the bundle of the finished runs in ``out`` that no later run has replaced, if any."""
    if folders.find_runs(out).done:
        with FileLock(out / folders.STORE / ".bundle.lock"):
            write_bundle(Results.open(out), out)


def declare_runs(
    out: Path, experiment: str, cells: Sequence[Cell], begun: Mapping[Cell, str]
) -> None:
    """Write which runs the experiment has: those begun, each with its cell's arm and baseline.

    They come first, unless the earlier ones have more arms. If a finished one has the arm and seed
    of a different finished earlier run, they replace all earlier runs.
    """
    store = out / folders.STORE
    if runs := {begun[cell]: [cell.arm, cell.baseline] for cell in cells if cell in begun}:
        with FileLock(store / ".bundle.lock"):
            # A lost file starts empty: only the sweeps that write to it can restore it.
            known = folders.read_experiments(out) if (out / "experiments.json").exists() else {}
            replaced, earlier = known.pop(folders.REPLACED, {}), known.get(experiment, {})
            points = {}  # arm and seed of each finished run: an experiment has one run per pair
            for run, (arm, _) in {**earlier, **runs}.items():
                if folders.read_status(store / run).get("status") == "done":
                    settings = folders.read_object(store / run / "settings.json")
                    points[run] = arm, settings["training"]["seed"]
            now = {points[run] for run in points.keys() & runs}
            if any(points[run] in now for run in points.keys() - runs):
                replaced, earlier = replaced | earlier, {}
            count, known_count = (len({arm for arm, _ in x.values()}) for x in (runs, earlier))
            known[experiment] = {**(runs if count >= known_count else {}), **earlier, **runs}
            current = set().union(*known.values())
            if gone := {run: names for run, names in replaced.items() if run not in current}:
                known[folders.REPLACED] = gone
            write_listed(out, [("experiments.json", folders.json_text(known).encode())])
