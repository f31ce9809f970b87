"""``bottleneck corpus``: look at sentences before training on them, and fetch real text."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..settings.errors import UsageError, did_you_mean
from . import options
from .console import output, say

if TYPE_CHECKING:
    from ..settings.run import RunSettings


def corpus(
    name: Annotated[str, Argument(help="grammar, copy, files, or real text [default: list].")] = "",
    count: Annotated[int, Option("-n", min=0, max=1_000_000, help="How many pairs to show.")] = 5,
    fetch: Annotated[bool, Option("--fetch", help="Download real text.")] = False,
    limit: Annotated[int | None, Option(min=1, help="Of --fetch: training pairs to keep.")] = None,
    preset: options.Preset = "lecture",
    source: options.Source = None,
    target: options.Target = None,
    test_source: options.TestSource = None,
    test_target: options.TestTarget = None,
    test: options.TestSet = None,
    reverse_direction: options.Reverse = False,
    assignments: options.Assignments = None,
) -> None:
    """Show sentence pairs; count lengths and unknown words.

    Pairs come with their word alignment and bits, where these are known.
    """
    given = options.given_settings(locals() | {"corpus": name})
    from ..settings.run import resolve

    if fetch:
        _fetch(name, limit)
        return
    options.refuse({"--limit": limit}, "is for --fetch")
    if not given:
        _list()
        return
    settings = resolve(preset, assignments or [], given)
    if count:
        _show(settings, count)
    _describe(settings)


def _list() -> None:
    """The corpora that can be downloaded, and which are here."""
    from ..corpus.download import CORPORA, read_source
    from ..tables.render import new_table, print_prose

    table = new_table("", ["name", "here", "licence", "cite", "pairs", "MB"], texts=4)
    for name, corpus in CORPORA.items():
        source = read_source(name)
        pairs = f"{sum(source['pairs'].values()):,}" if source else f"~{corpus.pairs:,}"
        facts = "yes" if source else "no", corpus.licence, corpus.citation
        table.add_row(name, *facts, pairs, f"{corpus.megabytes:g}")
    console = output()
    console.print(table)
    print_prose(console, "`bottleneck corpus NAME --fetch` brings one here.")


def _fetch(name: str, limit: int | None) -> None:
    """Download a corpus, whole or not at all."""
    from ..corpus.download import CORPORA, fetch, folder_of

    if name not in CORPORA:
        raise UsageError(f"no corpus {name!r} to fetch{did_you_mean(name, CORPORA)}")
    source = fetch(name, limit, lambda file: say(f"downloading {file}", err=True))
    splits = {"train": "training", "valid": "validation", "test": "test"}
    counts = [f"{count:,} {splits[split]}" for split, count in source["pairs"].items()]
    say(f"{name}: {', '.join(counts)} pairs in {folder_of(name)}")
    for file in source["sources"]:
        if file["sha256"] not in CORPORA[name].files.values():
            say(f"sha256 of {file['url']}: {file['sha256']} (none is published)")
    say(f"licence: {source['licence']}; cite: {source['citation']}")


def _show(settings: "RunSettings", count: int) -> None:
    """The first training pairs."""
    from ..corpus.corpus import load_corpus
    from ..corpus.files import languages
    from ..corpus.vocabulary import plain, tokenize

    few = settings.changed(corpus={"train_pairs": count, "tokens": "words"})
    sides = languages(few.corpus)
    ours, theirs, indent = (f"{name:{max(map(len, sides))}}  " for name in (*sides, ""))
    for pair in load_corpus(few.corpus, few.scoring.lower_edges).train:
        bits = "" if pair.bits is None else f", {pair.bits:.1f} bits"
        say(f"{ours}{pair.source}\n{theirs}{pair.target}\n{indent}{pair.words} words{bits}")
        words = tokenize(pair.source), tokenize(pair.target)
        if links := [f"{plain(words[0][i])}-{plain(words[1][j])}" for i, j in pair.links]:
            say(f"{indent}{' '.join(links)}")
        say()


def _describe(settings: "RunSettings") -> None:
    """Lengths by bucket, vocabulary, unknown words and bits."""
    from ..corpus.corpus import describe, load_corpus, share
    from ..tables.render import new_table, print_prose

    edges, tokens = settings.scoring.lower_edges, settings.corpus.tokens
    text = load_corpus(settings.corpus, edges)
    drawn = settings.corpus.is_drawn
    heads = ["pairs", "mean\nwords", "mean target\ntokens", *(["mean\nbits"] if drawn else [])]
    table = new_table("", ["split", "source\nwords", *heads], texts=2)
    for row in describe(text, edges):
        means = (row.source_words, row.target_tokens, *([row.bits] if drawn else []))
        texts = ["" if mean is None else f"{mean:.1f}" for mean in means]
        table.add_row(row.split, row.bucket, f"{row.pairs:,}", *texts)
    sizes = [len(item.words) for item in (text.source_vocabulary, text.target_vocabulary)]
    unknown = [f"{100 * rate:.2f} %" for rate in text.unknown_rates]
    lines = [
        f"vocabulary: {sizes[0]:,} source, {sizes[1]:,} target {tokens}",
        f"unknown {tokens} in the test set: {unknown[0]} source, {unknown[1]} target",
    ]
    if (copies := share(text.near_copies)) is not None:
        lines.append(f"near-copies: training has {100 * copies:.1f} % of the test's source 5-grams")
    console = output()
    console.print(table)
    print_prose(console, [*lines, *text.notes, f"fingerprint: {text.fingerprint}"])
