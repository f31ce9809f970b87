"""Times training and translating: this package against Joey NMT 2.3 on the same sentences.

Grammar sentences of 5 to 50 words; GRU with additive attention on both sides. Each program first
learns for a while, so that its translations have the lengths that they should have; then they
take turns.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from figures import Range, Row, as_text, cells, ratio, shown, spread, write_csv
from programs import environment
from sacrebleu import corpus_bleu
from teams import Worker
from train_speed import PAUSE
from translation_task import MODELS, lines_of, make_settings, write_task

LOGGING = 5
"""Updates between two looks of Joey at its clock."""


@dataclass
class Player:
    """One program with so many threads."""

    name: str
    threads: int
    worker: Worker
    parameters: int
    batch: int


@dataclass
class Entry:
    """What is measured of a player: ``seconds`` turn by turn, or ``rates`` in tokens per second."""

    player: Player
    batch: int = 64
    order: str = "test"
    values: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Joey has several ways of translating, ours has one."""
        if self.player.name != "joey":
            return self.player.name
        return f"joey, {self.batch} a batch{', by length' if self.order == 'sorted' else ''}"


def main() -> None:
    """Learn, then take turns at training and at translating."""
    given = options().parse_args()
    settings = make_settings(
        given.train_pairs, given.sentences, given.updates, given.context, given.embedding
    )
    with ExitStack() as held:
        folder = given.folder or Path(held.enter_context(tempfile.TemporaryDirectory()))
        folder = folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        write_task(folder, settings, LOGGING)
        rows = [] if given.learned else [*learn(folder, given)]
        for threads in given.threads:
            rows += measure(folder, threads, given)
    print(as_text([readable(row) for row in rows]))
    if given.csv:
        write_csv(given.csv, rows)


def options() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--ours", nargs="+", choices=MODELS, default=list(MODELS))
    add("--threads", nargs="+", type=int, default=[1, 2])
    add("--updates", type=int, default=2_000, help="of the learning before")
    add("--steps", type=int, default=60, help=f"updates in one turn, a multiple of {LOGGING}")
    add("--repeats", type=int, default=3, help="turns of each program")
    add("--beams", nargs="+", type=int, default=[1, 5])
    add("--batch-sizes", nargs="+", type=int, default=[64, 256], help="Joey translates with")
    add("--sentences", type=int, default=1_000, help="to translate")
    add("--train-pairs", type=int, default=20_000)
    add("--context", type=int, default=256, help="and hidden size; half of it is Joey's encoder's")
    add("--embedding", type=int, default=128)
    add("--folder", type=Path, help="keep all files there")
    add("--learned", action="store_true", help="what the folder holds has learned already")
    add("--csv", type=Path)
    return parser


@contextmanager
def player(name: str, folder: Path, threads: int) -> Iterator[Player]:
    """A program in a process of its own; what it has to say goes to a file of its folder."""
    script = ("joey_worker.py", str(threads)) if name == "joey" else ("ours_worker.py", name)
    with (folder / f"{name}.log").open("a", encoding="utf8") as log:
        worker = Worker(script[0], [str(folder), script[1]], environment(threads), log)
        try:
            yield Player(name, threads, worker, **worker.answer())
        finally:
            worker.end()


def names(given: argparse.Namespace) -> list[str]:
    """All programs."""
    return [*given.ours, "joey"]


def learn(folder: Path, given: argparse.Namespace) -> Iterator[Row]:
    """Each program trains to the end, one after the other, on the most threads given."""
    threads = max(given.threads)
    for name in names(given):
        with player(name, folder, threads) as each:
            answer = each.worker.ask(do="learn")
        rate = answer["tokens"] / answer["seconds"]
        note = f"{each.parameters:,} parameters, {given.updates} updates"
        yield row("learn once", threads, name, spread([rate]), note=note)
        print(f"{name} has learned: {rate:,.0f} target tokens/s", file=sys.stderr)


def measure(folder: Path, threads: int, given: argparse.Namespace) -> Iterator[Row]:
    """Training, then translating at each beam."""
    with ExitStack() as held:
        players = [held.enter_context(player(name, folder, threads)) for name in names(given)]
        yield from train(players, given)
        for beam in given.beams:
            yield from translate(players, beam, given, lines_of(folder / "test.fr"))


def train(players: Sequence[Player], given: argparse.Namespace) -> Iterator[Row]:
    """Target tokens per second, in turns; the first round is forgotten."""
    entries = [Entry(each) for each in players]
    for _ in range(given.repeats + 1):
        for entry in entries:
            answer = entry.player.worker.ask(do="train", steps=given.steps)
            entry.values.append(answer["tokens"] / answer["seconds"])
            time.sleep(PAUSE)
    for entry in entries:
        del entry.values[0]
    for entry in entries:
        ours = entry.player.name != "joey"
        against = ratio(entry.values, entries[-1].values) if ours else None
        rates = spread(entry.values)
        yield row("train", entry.player.threads, entry.player.name, rates, against)


def translate(
    players: Sequence[Player], beam: int, given: argparse.Namespace, references: list[str]
) -> Iterator[Row]:
    """Seconds for the test set, in turns; the first round, in which ours compiles, is forgotten."""
    *ours, joey = players
    entries = [Entry(each, each.batch) for each in ours]
    ways = product(given.batch_sizes, ("test", "sorted"))
    entries += [Entry(joey, batch, order) for batch, order in ways]
    for _ in range(given.repeats + 1):
        for entry in entries:
            order = {"beam": beam, "batch": entry.batch, "order": entry.order}
            answer = entry.player.worker.ask(do="decode", **order)
            entry.values.append(answer["seconds"])
            entry.texts = answer["texts"]
            time.sleep(PAUSE)
    for entry in entries:
        del entry.values[0]
    yield from translation_rows(beam, entries, references)


def translation_rows(beam: int, entries: Sequence[Entry], references: list[str]) -> Iterator[Row]:
    """Ours is compared with Joey at the same batch size, and at Joey's quickest."""
    joeys = [entry for entry in entries if entry.player.name == "joey"]
    quickest = min(joeys, key=lambda entry: spread(entry.values).median)
    for entry in entries:
        ours = entry.player.name != "joey"
        alike = [one for one in joeys if (one.batch, one.order) == (entry.batch, "test")]
        yield row(
            f"beam {beam}",
            entry.player.threads,
            entry.name,
            spread(entry.values),
            ratio(alike[0].values, entry.values) if ours and alike else None,
            ratio(quickest.values, entry.values) if ours else None,
            quality(entry, references),
        )


def quality(entry: Entry, references: list[str]) -> str:
    """How good and how long the translations are."""
    words = sum(len(text.split()) for text in entry.texts)
    if entry.order == "sorted":
        return f"{words:,} words"
    bleu = corpus_bleu(entry.texts, [references], force=True).score
    return f"{words:,} words, BLEU {bleu:.1f}"


def row(
    task: str,
    threads: int,
    program: str,
    measured: Range,
    against: Range | None = None,
    against_quickest: Range | None = None,
    note: str = "",
) -> Row:
    """A line of the table: target tokens per second, or seconds where it is about translating."""
    unit = "s" if task.startswith("beam") else "tokens/s"
    return {
        "task": task,
        "threads": threads,
        "program": program,
        "unit": unit,
        **cells("measured", measured),
        **cells("times_joey", against),
        **cells("times_joey_quickest", against_quickest),
        "note": note,
    }


def readable(row: Row) -> Row:
    """The same in fewer columns, rounded for the eye."""
    form = ".2f" if row["unit"] == "s" else ",.0f"
    return {
        "task": row["task"],
        "threads": row["threads"],
        "program": row["program"],
        "median [least, greatest]": f"{shown(row, 'measured', form)} {row['unit']}",
        "times Joey": shown(row, "times_joey", ".2f"),
        "times Joey's quickest": shown(row, "times_joey_quickest", ".2f"),
        "note": row["note"],
    }


if __name__ == "__main__":
    main()
