"""``bottleneck corpus``: look at the sentences before training on them."""

from typing import TYPE_CHECKING, Annotated

import typer

from .console import output
from .options import (
    Assignments,
    Preset,
    Source,
    Target,
    TestSource,
    TestTarget,
    resolve_settings,
)

if TYPE_CHECKING:
    from rich.table import Table

    from ..corpus.corpus import Corpus, Description
    from ..corpus.pair import SentencePair
    from ..settings.run import RunSettings

app = typer.Typer(help="Look at the built-in corpora and at your own text.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="grammar, copy or files.")]


@app.command()
def show(
    name: Name = "grammar",
    count: Annotated[int, typer.Option("-n", min=1, help="How many pairs.")] = 5,
    preset: Preset = "lecture",
    source: Source = None,
    target: Target = None,
    assignments: Assignments = None,
) -> None:
    """Print training pairs with their word alignment and their information in bits."""
    settings = resolve_settings(
        preset, assignments, {"name": name, "source": source, "target": target}
    )
    if settings.corpus.name != "files":
        settings = settings.changed(corpus={"train_pairs": count})
    for pair in _load(settings).train[:count]:
        typer.echo(_pair_text(pair) + "\n")


def _pair_text(pair: "SentencePair") -> str:
    """A pair as lines: both sentences, then what is known of them."""
    from ..corpus.tokens import plain, tokenize

    source, target = tokenize(pair.source), tokenize(pair.target)
    links = [f"{plain(source[i])}-{plain(target[j])}" for i, j in pair.links]
    facts = [f"{pair.words} words"]
    if pair.bits is not None:
        facts.append(f"{pair.bits:.1f} bits")
    lines = [f"en  {pair.source}", f"fr  {pair.target}", f"    {', '.join(facts)}"]
    return "\n".join([*lines, f"    {' '.join(links)}"] if links else lines)


@app.command()
def describe(
    name: Name = "grammar",
    preset: Preset = "lecture",
    source: Source = None,
    target: Target = None,
    test_source: TestSource = None,
    test_target: TestTarget = None,
    assignments: Assignments = None,
) -> None:
    """Count lengths by bucket, vocabulary, unknown words and bits."""
    from ..corpus.corpus import describe as describe_corpus

    files = {
        "source": source,
        "target": target,
        "test_source": test_source,
        "test_target": test_target,
    }
    settings = resolve_settings(preset, assignments, {"name": name, **files})
    description = describe_corpus(_load(settings), settings.scoring.lower_edges)
    console = output()
    console.print(_table(description))
    for line in _facts(description):
        console.print(line, markup=False)


def _load(settings: "RunSettings") -> "Corpus":
    from ..corpus.corpus import load_corpus

    return load_corpus(settings.corpus, settings.scoring.lower_edges)


def _table(description: "Description") -> "Table":
    """Pairs, mean lengths and mean bits by split and bucket."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    heads = ("split", "source words", "pairs", "mean words", "mean target tokens", "mean bits")
    for head in heads:
        table.add_column(head, justify="left" if head in heads[:2] else "right")
    for row in description.rows:
        means = (row.source_words, row.target_tokens, row.bits)
        shown = ["" if mean is None else f"{mean:.1f}" for mean in means]
        table.add_row(row.split, row.bucket, f"{row.pairs:,}", *shown)
    return table


def _facts(description: "Description") -> list[str]:
    return [
        f"vocabulary: {description.source_vocabulary:,} source, "
        f"{description.target_vocabulary:,} target words",
        f"unknown words in the test set: {100 * description.source_unknown:.2f} % source, "
        f"{100 * description.target_unknown:.2f} % target",
        *description.notes,
        f"fingerprint: {description.fingerprint}",
    ]
