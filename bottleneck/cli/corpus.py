"""``bottleneck corpus``: look at sentences before training on them, and fetch real text."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..settings.errors import UsageError, did_you_mean
from . import options
from .console import output, print_names, say

if TYPE_CHECKING:
    from ..settings.run import RunSettings


def corpus(
    name: Annotated[str, Argument(help="grammar, copy, files, or real text [default: list].")] = "",
    count: Annotated[int, Option("-n", min=0, max=1_000_000, help="How many pairs to show.")] = 5,
    fetch: Annotated[bool, Option("--fetch", help="Download real text.")] = False,
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

    Pairs come with their word alignment and bits, if these are known.
    """
    given = options.given_settings(locals() | {"corpus": name})
    from ..corpus import download
    from ..corpus.download import CORPORA, folder_of
    from ..settings.run import resolve

    if fetch:
        if name not in CORPORA:
            raise UsageError(f"no corpus {name!r} to fetch{did_you_mean(name, CORPORA)}")
        item, folder = CORPORA[name], folder_of(name)
        if not folder.is_dir():
            download.fetch(name, lambda file: say(f"downloading {file}", err=True))
        say(f"{name} is in {folder}\nlicence: {item.licence}; cite: {item.citation}")
        return
    if not given:
        lines = {}
        for known, item in CORPORA.items():
            here = "downloaded" if folder_of(known).is_dir() else "not downloaded"
            size = f"~{item.pairs:,} pairs, {item.megabytes:g} MB"
            lines[known] = f"{here}; {size}; licence: {item.licence}; cite: {item.citation}"
        print_names(lines)
        say("`bottleneck corpus NAME --fetch` downloads one of these.")
        say("Corpus grammar (the default) and copy are drawn; files is your own text.")
        return
    _describe(resolve(preset, assignments or [], given), count)


def _describe(settings: "RunSettings", count: int) -> None:
    """Print the first training pairs; lengths by bucket, vocabulary, unknown words and bits."""
    from ..corpus.corpus import describe, load_corpus, share
    from ..corpus.files import languages
    from ..corpus.vocabulary import tokenize, without_joiner
    from ..tables.render import print_prose

    edges, tokens = settings.scoring.lower_edges, settings.corpus.tokens
    sides, pairs = languages(settings.corpus), ()
    ours, theirs, indent = (f"{name:{max(map(len, sides))}}  " for name in (*sides, ""))
    if count:
        few = settings.changed(corpus={"train_pairs": count, "tokens": "words"})
        pairs = load_corpus(few.corpus, edges).train
    for pair in pairs:
        bits = "" if pair.bits is None else f", {pair.bits:.1f} bits"
        say(f"{ours}{pair.source}\n{theirs}{pair.target}\n{indent}{pair.words} words{bits}")
        words = tokenize(pair.source), tokenize(pair.target)
        if links := [
            f"{without_joiner(words[0][i])}-{without_joiner(words[1][j])}" for i, j in pair.links
        ]:
            say(f"{indent}{' '.join(links)}")
        say()
    say("Counting lengths and unknown words of all pairs ...", err=True)
    text = load_corpus(settings.corpus, edges)
    say(describe(text, edges).to_string(float_format="{:,.1f}".format, na_rep=""))
    sizes = [len(item.words) for item in (text.source_vocabulary, text.target_vocabulary)]
    unknown = [f"{100 * rate:.2f} %" for rate in text.unknown_rates]
    lines = [
        f"vocabulary: {sizes[0]:,} source, {sizes[1]:,} target {tokens}",
        f"unknown {tokens} in the test set: {unknown[0]} source, {unknown[1]} target",
    ]
    if (copies := share(text.near_copies)) is not None:
        lines.append(f"near-copies: training has {100 * copies:.1f} % of the test's source 5-grams")
    print_prose(output(), [*lines, *text.notes, f"fingerprint: {text.fingerprint}"])
