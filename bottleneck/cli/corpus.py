"""``bottleneck corpus``: fetch real text, and look at the sentences before training on them."""

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.errors import UsageError, did_you_mean
from . import options
from .console import errors, output, say

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

    from ..corpus.corpus import Description
    from ..corpus.pair import SentencePair

app = typer.Typer(
    help="Download real text, and inspect any corpus.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[
    str, typer.Argument(metavar="name", help="grammar, copy, files, or a name from `corpus list`.")
]


@app.command("list")
def list_corpora(
    form: Annotated[str, typer.Option("--format", help="Output format: rich or csv.")] = "rich",
) -> None:
    """List the corpora that can be downloaded, and which are here."""
    import pandas as pd

    from ..corpus.download import CORPORA, read_source
    from ..results.bundle import tidy_csv
    from ..tables.page import check_format
    from ..tables.render import new_table, print_prose

    check_format(form, ("rich", "csv"))
    table = new_table("", ["name", "pairs", "MB", "licence", "cite", "here"], texts=1)
    rows = []
    for name, corpus in CORPORA.items():
        here = (source := read_source(name)) is not None
        pairs = sum(source["pairs"].values()) if source else corpus.pairs
        facts = {"licence": corpus.licence, "citation": corpus.citation, "here": here}
        rows.append({"name": name, "pairs": pairs, "megabytes": corpus.megabytes, **facts})
        counts = f"{'' if here else '~'}{pairs:,}", f"{corpus.megabytes:g}"
        table.add_row(name, *counts, corpus.licence, corpus.citation, "yes" if here else "no")
    if form == "csv":
        say(tidy_csv(pd.DataFrame(rows)), nl=False)
        return
    for column in table.columns[3:]:
        column.justify = "left"
    console = output()
    console.print(table)
    print_prose(
        console,
        "bottleneck corpus fetch NAME brings one here. Built in: grammar, copy. Any other text: "
        "--corpus files --source FILE --target FILE.",
    )


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name from `corpus list`.")],
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Keep this many training pairs, evenly spread over the text."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Download it again.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a corpus once. Runs then read it offline."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    from ..corpus.download import CORPORA, folder_of
    from ..corpus.download import fetch as fetch_corpus

    if name not in CORPORA:
        raise UsageError(f"no corpus {name!r} to fetch{did_you_mean(name, CORPORA)}")
    columns = "{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn()
    hidden = quiet or not sys.stderr.isatty()
    progress = Progress(*columns, console=errors(), transient=True, disable=hidden)
    with nullcontext() if hidden else progress:
        source = fetch_corpus(name, limit, again, lambda file: _Bar(progress, file))
    splits = {"train": "training", "valid": "validation", "test": "test"}
    counts = [f"{count:,} {splits[split]}" for split, count in source["pairs"].items()]
    say(f"{name}: {', '.join(counts)} pairs in {folder_of(name)}")
    for file in source["sources"]:
        if file["sha256"] not in CORPORA[name].files.values():
            say(f"sha256 of {file['url']}: {file['sha256']} (none is published)")
    say(f"licence: {source['licence']}; cite: {source['citation']}")


class _Bar:
    """A bar of rich as pooch drives it: it sets ``total``, updates, and at the end starts anew."""

    def __init__(self, progress: "Progress", file: str) -> None:
        self.total = 0
        self._progress, self._task = progress, progress.add_task(file, total=None)

    def update(self, count: int) -> None:
        """So many bytes more have come."""
        self._progress.update(self._task, total=self.total or None, advance=count)

    def reset(self) -> None:
        """Count from zero."""
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        """The file is complete."""


@app.command()
def show(
    corpus: Name = "grammar",
    count: Annotated[int, typer.Option("-n", min=1, help="How many pairs.")] = 5,
    preset: options.Preset = "lecture",
    source: options.Source = None,
    target: options.Target = None,
    test: options.TestSet = None,
    reverse_direction: options.ReverseDirection = False,
    assignments: options.Assignments = None,
) -> None:
    """Print training pairs with their word alignment and bits.

    With corpus.tokens=subwords also the pieces that they are read in.
    """
    from ..corpus.corpus import load_corpus

    settings = options.resolve_settings(preset, assignments, options.corpus_values(locals()))
    subwords = settings.corpus.tokens == "subwords"
    if settings.corpus.name != "files" and not subwords:
        settings = settings.changed(corpus={"train_pairs": count})
    text = load_corpus(settings.corpus, settings.scoring.lower_edges)
    vocabularies = (text.source_vocabulary, text.target_vocabulary) if subwords else ()
    for pair in text.train[:count]:
        sides = zip(vocabularies, (pair.source, pair.target), strict=False)
        pieces = [f"    {' '.join(vocabulary.pieces(side))}" for vocabulary, side in sides]
        say("\n".join([_pair_text(pair, settings.corpus.reverse_direction), *pieces]) + "\n")


def _pair_text(pair: "SentencePair", reverse: bool) -> str:
    """A pair as lines: both sentences, then what is known of them."""
    from ..corpus.tokens import plain, tokenize

    source, target = tokenize(pair.source), tokenize(pair.target)
    links = [f"{plain(source[i])}-{plain(target[j])}" for i, j in pair.links]
    facts = [f"{pair.words} words"]
    if pair.bits is not None:
        facts.append(f"{pair.bits:.1f} bits")
    ours, theirs = ("fr", "en") if reverse else ("en", "fr")
    lines = [f"{ours}  {pair.source}", f"{theirs}  {pair.target}", f"    {', '.join(facts)}"]
    return "\n".join([*lines, f"    {' '.join(links)}"] if links else lines)


@app.command()
def describe(
    corpus: Name = "grammar",
    preset: options.Preset = "lecture",
    source: options.Source = None,
    target: options.Target = None,
    test_source: options.TestSource = None,
    test_target: options.TestTarget = None,
    test: options.TestSet = None,
    reverse_direction: options.ReverseDirection = False,
    assignments: options.Assignments = None,
) -> None:
    """Count lengths by bucket, vocabulary, unknown words and bits."""
    from ..corpus.corpus import describe as describe_corpus
    from ..corpus.corpus import load_corpus
    from ..tables.render import print_prose

    settings = options.resolve_settings(preset, assignments, options.corpus_values(locals()))
    edges = settings.scoring.lower_edges
    description = describe_corpus(load_corpus(settings.corpus, edges), edges)
    console = output()
    console.print(_table(description))
    print_prose(console, _facts(description, settings.corpus.tokens))


def _table(description: "Description") -> "Table":
    """Pairs, mean lengths and, of text that is drawn from a grammar, mean bits by split, bucket."""
    from ..tables.render import new_table

    drawn = any(row.bits is not None for row in description.rows)
    heads = ["pairs", "mean\nwords", "mean target\ntokens", *(["mean\nbits"] if drawn else [])]
    table = new_table("", ["split", "source\nwords", *heads], texts=2)
    for row in description.rows:
        means = (row.source_words, row.target_tokens, *([row.bits] if drawn else []))
        texts = ["" if mean is None else f"{mean:.1f}" for mean in means]
        table.add_row(row.split, row.bucket, f"{row.pairs:,}", *texts)
    return table


def _facts(description: "Description", tokens: str) -> list[str]:
    """Lines below the table; ``tokens`` says what the vocabularies hold."""
    lines = [
        f"vocabulary: {description.source_vocabulary:,} source, "
        f"{description.target_vocabulary:,} target {tokens}",
        f"unknown {tokens} in the test set: {100 * description.source_unknown:.2f} % source, "
        f"{100 * description.target_unknown:.2f} % target",
    ]
    if description.near_copies is not None:
        share = f"{100 * description.near_copies:.1f} % of the test set's source 5-grams"
        lines.append(f"near-copies: training holds {share}")
    return [*lines, *description.notes, f"fingerprint: {description.fingerprint}"]
