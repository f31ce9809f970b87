"""``bottleneck corpus``: fetch real text, and look at the sentences before training on them."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Annotated

import typer
from typer import Argument, Option

from ..settings.errors import UsageError, did_you_mean
from . import options
from .console import output, say

app = typer.Typer(
    help="Download real text, and inspect any corpus.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[
    str, Argument(metavar="name", help="grammar, copy, files, or a name from `corpus list`.")
]


@app.command("list")
def list_corpora(
    form: Annotated[str, Option("--format", help="Output format: rich or csv.")] = "rich",
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
    name: Annotated[str, Argument(help="A name from `corpus list`.")],
    limit: Annotated[
        int | None,
        Option(min=1, help="Keep this many training pairs, evenly spread over the text."),
    ] = None,
    again: Annotated[bool, Option("--again", help="Download it again.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Download a corpus once. Runs then read it offline."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    from ..corpus.download import CORPORA, folder_of
    from ..corpus.download import fetch as fetch_corpus
    from ..tables.render import PlainConsole

    if name not in CORPORA:
        raise UsageError(f"no corpus {name!r} to fetch{did_you_mean(name, CORPORA)}")
    columns = "{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn()
    hidden = quiet or not sys.stderr.isatty()
    progress = Progress(*columns, console=PlainConsole(stderr=True), transient=True, disable=hidden)

    def make_bar(file: str) -> SimpleNamespace:
        """A bar as pooch drives it: it sets ``total``, updates, and at the end starts anew."""
        task = progress.add_task(file, total=None)
        bar = SimpleNamespace(total=0, close=lambda: None)
        bar.update = lambda count: progress.update(task, total=bar.total or None, advance=count)
        bar.reset = lambda: progress.update(task, completed=0)
        return bar

    with nullcontext() if hidden else progress:
        source = fetch_corpus(name, limit, again, make_bar)
    splits = {"train": "training", "valid": "validation", "test": "test"}
    counts = [f"{count:,} {splits[split]}" for split, count in source["pairs"].items()]
    say(f"{name}: {', '.join(counts)} pairs in {folder_of(name)}")
    for file in source["sources"]:
        if file["sha256"] not in CORPORA[name].files.values():
            say(f"sha256 of {file['url']}: {file['sha256']} (none is published)")
    say(f"licence: {source['licence']}; cite: {source['citation']}")


@app.command()
def show(
    corpus: Name = "grammar",
    count: Annotated[int, Option("-n", min=1, help="How many pairs.")] = 5,
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
    from ..corpus.vocabulary import plain, tokenize

    settings = options.resolve_settings(preset, assignments, options.corpus_values(locals()))
    subwords = settings.corpus.tokens == "subwords"
    if settings.corpus.name != "files" and not subwords:
        settings = settings.changed(corpus={"train_pairs": count})
    text = load_corpus(settings.corpus, settings.scoring.lower_edges)
    vocabularies = (text.source_vocabulary, text.target_vocabulary) if subwords else ()
    ours, theirs = ("fr", "en") if settings.corpus.reverse_direction else ("en", "fr")
    for pair in text.train[:count]:
        bits = "" if pair.bits is None else f", {pair.bits:.1f} bits"
        say(f"{ours}  {pair.source}\n{theirs}  {pair.target}\n    {pair.words} words{bits}")
        words = tokenize(pair.source), tokenize(pair.target)
        if links := [f"{plain(words[0][i])}-{plain(words[1][j])}" for i, j in pair.links]:
            say(f"    {' '.join(links)}")
        for vocabulary, side in zip(vocabularies, (pair.source, pair.target), strict=False):
            say(f"    {' '.join(vocabulary.pieces(side))}")
        say()


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
    from ..tables.render import new_table, print_prose

    settings = options.resolve_settings(preset, assignments, options.corpus_values(locals()))
    edges, tokens = settings.scoring.lower_edges, settings.corpus.tokens
    description = describe_corpus(load_corpus(settings.corpus, edges), edges)
    drawn = any(row.bits is not None for row in description.rows)
    heads = ["pairs", "mean\nwords", "mean target\ntokens", *(["mean\nbits"] if drawn else [])]
    table = new_table("", ["split", "source\nwords", *heads], texts=2)
    for row in description.rows:
        means = (row.source_words, row.target_tokens, *([row.bits] if drawn else []))
        texts = ["" if mean is None else f"{mean:.1f}" for mean in means]
        table.add_row(row.split, row.bucket, f"{row.pairs:,}", *texts)
    lines = [
        f"vocabulary: {description.source_vocabulary:,} source, "
        f"{description.target_vocabulary:,} target {tokens}",
        f"unknown {tokens} in the test set: {100 * description.source_unknown:.2f} % source, "
        f"{100 * description.target_unknown:.2f} % target",
    ]
    if description.near_copies is not None:
        share = f"{100 * description.near_copies:.1f} % of the test set's source 5-grams"
        lines.append(f"near-copies: training holds {share}")
    console = output()
    console.print(table)
    print_prose(console, [*lines, *description.notes, f"fingerprint: {description.fingerprint}"])
