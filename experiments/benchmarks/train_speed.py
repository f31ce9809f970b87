"""Time training: this package against the PyTorch program of the same model.

Both have the same model, starting weights, batches, clipping, Adam and threads, and take turns in
separate processes. Prints real target tokens per second, the ratio, and the share of the machine's
rate for large matrix products that each program reaches.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import numpy as np
from figures import Row, as_text, cells, ratio, shown, spread, write_csv
from products import training_operations
from programs import PROGRAMS, write_weights
from teams import Arrangement, Team, team
from workload import ARMS, Workload, padding_share, random_words, stream

from seq2seq_bottleneck.runs.run import describe_environment
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.settings.run import resolve

PAUSE = 0.2
"""Seconds between two turns, so that a process's threads fall asleep."""

SAME = 1e-4
"""The largest relative difference of the first two losses; above it, the models differ."""


def main() -> None:
    """Measure every arm, and print the table."""
    given = options().parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    workload = make_workload(given)
    print(describe(workload), file=sys.stderr)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workload.save(folder)
        for arm in given.arms:
            write_weights(workload, arm, folder)
            rows += measure(workload, arm, folder, given)
            print(f"{arm} done", file=sys.stderr)
    print(as_text([readable(row) for row in rows]))
    if given.csv:
        write_csv(given.csv, rows)


def options() -> argparse.ArgumentParser:
    """The options of this program."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    add("--corpus", choices=("random", "grammar", "files"), default="random")
    add("--preset", default="lecture", help="sizes and batches of grammar and files")
    add("--set", nargs="*", default=[], metavar="SECTION.KEY=VALUE", help="changes to the preset")
    add("--vocabulary", type=int, help="words: exactly (random; default 250), else at most")
    add("--embedding", type=int, default=128, help="embedding size of random words")
    add("--context", type=int, default=256, help="context and hidden size of random words")
    add("--batch", type=int, default=64, help="sentences per batch of random words")
    add("--length", type=int, default=32, help="tokens per side of random words")
    add("--steps", type=int, default=20, help="updates in one turn")
    add("--repeats", type=int, default=7, help="turns of each program")
    add("--threads", type=int, default=1, help="threads of each process")
    add("--processes", type=int, default=1, help="processes side by side")
    add("--sweep", type=int, metavar="RUNS", help="a queue of runs, for processes or for threads")
    add("--programs", nargs="+", choices=PROGRAMS, default=["ours", "torch"], help=programs())
    add("--product", type=int, default=2048, help="size of the machine's matrix product")
    add("--csv", type=Path)
    return parser


def programs() -> str:
    """The names of the programs, and what each is."""
    return "; ".join(f"{name}: {words}" for name, words in PROGRAMS.items())


def make_workload(given: argparse.Namespace) -> Workload:
    """The batches that the options ask for."""
    if given.corpus == "random":
        model = ModelSettings(embedding_size=given.embedding, context_size=given.context)
        words = given.vocabulary or 250
        return random_words(model, words, given.batch, given.length, given.steps)
    changes = [f"corpus.name={given.corpus}", *given.set]
    if given.vocabulary:
        changes += [f"corpus.{side}_vocabulary={given.vocabulary}" for side in ("source", "target")]
    return stream(resolve(given.preset, changes), given.steps)


def describe(workload: Workload) -> str:
    """The workload in one line, the machine in another."""
    facts = describe_environment()
    model, batches = workload.model, workload.batches
    return (
        f"{len(batches)} batches, {workload.target_tokens:,} target tokens, "
        f"{len(workload.one_of_each_shape())} shapes, {padding_share(batches):.1%} padding; "
        f"vocabularies {workload.vocabularies[0]:,} and {workload.vocabularies[1]:,}, "
        f"embedding {model.embedding_size}, context {model.context_size}\n"
        f"{facts['processor']}, {os.cpu_count()} cores, jax {facts['versions']['jax']}"
    )


def arrangements(given: argparse.Namespace) -> list[Arrangement]:
    """The arrangement of the options; for a sweep, as many processes, or as many threads."""
    asked = Arrangement(given.processes, given.threads)
    if not given.sweep:
        return [asked]
    cores = asked.processes * asked.threads
    return list(dict.fromkeys([Arrangement(cores, 1), Arrangement(1, cores)]))


def measure(workload: Workload, arm: str, folder: Path, given: argparse.Namespace) -> Iterator[Row]:
    """A row for each program and arrangement of one arm."""
    with ExitStack() as held:
        teams = [
            held.enter_context(team(program, arrangement, arm, folder))
            for arrangement in arrangements(given)
            for program in given.programs
        ]
        check_same(teams)
        machine = machine_rates(teams, given.product)
        take_turns(teams, workload.target_tokens, given)
    operations = training_operations(workload.arm(arm), workload.vocabularies[1], workload.batches)
    yield from rows_of(arm, teams, machine, operations / workload.target_tokens)


def check_same(teams: Sequence[Team]) -> None:
    """Stop unless all programs have the same loss before the first update and after it.

    Later losses drift apart. Adam's first steps have the size of the learning rate for every
    weight, and for rare words the gradient's direction is mostly rounding.
    """
    for other in teams[1:]:
        gap = np.max(np.abs(np.array(other.losses[:2]) / np.array(teams[0].losses[:2]) - 1))
        if gap > SAME:
            raise SystemExit(f"{other.program} is not the same model: losses differ by {gap:.1e}")


def machine_rates(teams: Sequence[Team], size: int) -> dict[Arrangement, float]:
    """Operations per second of a large product, by the fastest of the programs' libraries."""
    best: dict[Arrangement, float] = {}
    for each in teams:
        rate = each.product_rate(size)
        best[each.arrangement] = max(rate, best.get(each.arrangement, 0.0))
        time.sleep(PAUSE)
    return best


def take_turns(teams: Sequence[Team], target_tokens: int, given: argparse.Namespace) -> None:
    """Train in turns, A B A B ...; the first round is a warm-up, and does not count."""
    for _ in range(given.repeats + 1):
        for each in teams:
            each.train(given.sweep or given.processes, target_tokens)
            time.sleep(PAUSE)
    for each in teams:
        del each.rates[0]


def rows_of(
    arm: str, teams: Sequence[Team], machine: dict[Arrangement, float], operations: float
) -> Iterator[Row]:
    """A row for each team; ours is compared with the best arrangement of each other program."""
    best = {each.program: each for each in sorted(teams, key=lambda each: median(each.rates))}
    for each in teams:
        compared = "ours" in best and each.program != "ours" and best[each.program] is each
        against = ratio(best["ours"].rates, each.rates) if compared else None
        rate = spread(each.rates)
        yield {
            "arm": arm,
            "program": each.program,
            "processes": each.arrangement.processes,
            "threads": each.arrangement.threads,
            **cells("tokens_per_second", rate),
            **cells("ours_over_it", against),
            "machine_share": rate.median * operations / machine[each.arrangement],
            "machine_gflops": machine[each.arrangement] / 1e9,
            "mflop_per_token": operations / 1e6,
            "start_seconds": each.starting,
            "peak_megabytes": each.megabytes,
        }


def readable(row: Row) -> Row:
    """A row in fewer columns, rounded."""
    return {
        "arm": row["arm"],
        "program": row["program"],
        "processes x threads": f"{row['processes']} x {row['threads']}",
        "target tokens/s": shown(row, "tokens_per_second", ",.0f"),
        "ours / it": shown(row, "ours_over_it", ".2f"),
        "of machine": f"{row['machine_share']:.0%}",
        "machine GFLOP/s": f"{row['machine_gflops']:.0f}",
        "MFLOP/token": f"{row['mflop_per_token']:.2f}",
        "start s": f"{row['start_seconds']:.1f}",
        "peak MB": f"{row['peak_megabytes']:.0f}",
    }


if __name__ == "__main__":
    main()
