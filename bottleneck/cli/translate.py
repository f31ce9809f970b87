"""``bottleneck translate``: a sentence through the trained arms, or a text through one of them."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import output, say
from .learned import say_unlearned, told_runs
from .options import OneRunOrMore, check_sentence
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    from ..runs.translate import TrainedRun, Translation

STANDARD_INPUT = "-"
Lines = Iterator[str] | None


def translate(
    sentence: Annotated[
        str | None,
        typer.Argument(help="A sentence in quotes [default, or -: standard input, one per line]."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Text file (or .gz) with one sentence per line.")
    ] = None,
    results: OneRunOrMore = None,
    arm: Annotated[
        str | None,
        typer.Option(
            help="Use the run with this attention [default: all; for text the one with attention]."
        ),
    ] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Beam size; 1 is greedy [default: the run's].")
    ] = None,
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment",
            help="Show the attention weights of each word. For text, add columns to each "
            "translation: links i-j (source-output, from 0), source tokens, output tokens.",
        ),
    ] = False,
    copy_unknown: Annotated[
        bool | None,
        typer.Option(
            "--copy-unknown/--no-copy-unknown",
            help="Replace unknown words by the source word attended to most [default: the run's].",
        ),
    ] = None,
) -> None:
    """Translate a sentence with every arm, or a text with one.

    The default arms are those of the latest runs. A file or standard input gives one line of output
    per line of input.
    """
    from ..results.discovery import latest_output

    given = {"beam_size": beam, "copy_unknown": copy_unknown}
    decoding = {name: value for name, value in given.items() if value is not None}
    with _text(sentence, file) as lines:
        if lines is None:
            check_sentence(sentence or "")
        folder = results if results is not None else latest_output(DEFAULT_OUT)
        folders = _folders(folder, arm, lines is not None)
        trained_arms = _load(folders, decoding)
        if lines is None:
            _translate_sentence(trained_arms, sentence or "", alignment)
        else:
            _translate_text(trained_arms, lines, alignment)
    say(told_runs(folder, results, folders), err=True)
    say_unlearned(folders)


def _text(sentence: str | None, file: Path | None) -> AbstractContextManager[Lines]:
    """The text to translate, open; None where it is a sentence on the command line."""
    from ..runs.translate import open_file, read_lines
    from ..settings.errors import UsageError

    if file is not None:
        if sentence is not None:
            raise UsageError("a sentence and --file are two texts; give one of them")
        return open_file(file)
    if sentence not in (None, STANDARD_INPUT):
        return nullcontext()
    if sys.stdin is None or (sentence is None and sys.stdin.isatty()):
        raise UsageError("give a sentence in quotes, --file FILE, or text on standard input")
    return nullcontext(read_lines(sys.stdin.buffer, "standard input"))


def _folders(folder: Path, arm: str | None, single: bool) -> dict[str, Path]:
    """The runs to translate with, by arm, none first; ``one`` alone for a text."""
    from ..results.discovery import trained_arms

    return dict(sorted(_chosen(trained_arms(folder), arm, single).items(), reverse=True))


def _load(folders: dict[str, Path], decoding: dict[str, Any]) -> "dict[str, TrainedRun]":
    """The arms of these runs, searching as is asked for."""
    from dataclasses import replace

    from ..runs.attention import check_pointing
    from ..runs.environment import use_cache
    from ..runs.translate import load_run

    use_cache()
    trained_arms = {}
    for name, folder in folders.items():
        trained = load_run(folder)
        if decoding.get("copy_unknown"):
            check_pointing(trained.settings, "--copy-unknown")
        settings = trained.settings.changed(decoding=decoding)
        trained_arms[name] = replace(trained, settings=settings)
    return trained_arms


def _chosen(folders: dict[str, Path], arm: str | None, single: bool) -> dict[str, Path]:
    """The arm asked for; for a text, else, one with attention, and what it is is told."""
    from ..settings.concerns import UNSELECTIVE
    from ..settings.errors import UsageError, did_you_mean

    if arm is not None:
        if arm not in folders:
            raise UsageError(f"no arm {arm!r} in this folder{did_you_mean(arm, folders)}")
        return {arm: folders[arm]}
    if not single or len(folders) == 1:
        return folders
    first = min(folders, key=lambda name: name in UNSELECTIVE)
    others = ", ".join(name for name in folders if name != first)
    say(f"arm {first} (there are also: {others}; choose with --arm)", err=True)
    return {first: folders[first]}


def _translate_text(
    trained_arms: "dict[str, TrainedRun]", lines: Iterator[str], alignment: bool
) -> None:
    """Plain lines on standard output, what is to be known of them on standard error.

    In UTF-8 whatever the terminal's encoding: what is read is UTF-8, here and by ``score``.
    """
    from ..runs.attention import check_pointing
    from ..runs.translate import Tally, translate_lines

    (trained,) = trained_arms.values()
    if alignment:
        check_pointing(trained.settings, "--alignment")
    tally = Tally()
    for chunk in translate_lines(trained, lines, tally, alignment):
        say("\n".join(chunk).encode())
    for note in tally.notes(trained.settings):
        say(note, err=True)


def _translate_sentence(
    trained_arms: "dict[str, TrainedRun]", sentence: str, alignment: bool
) -> None:
    """One line per arm, each followed by its weights where they are asked for."""
    width, unknown = max(map(len, trained_arms)), []
    for name, trained in trained_arms.items():
        unknown = trained.unknown(sentence)
        weighted = alignment and trained.settings.model.attention != "none"
        (translation,) = trained.translations([sentence], 1, weighted)
        say(f"{name:<{width}}  {translation.text}")
        if alignment:
            _show_weights(trained, translation)
        if not translation.ended:
            say(f"{name}: cut at the cap, without an end", err=True)
    if unknown:
        say(f"not in the training vocabulary: {', '.join(unknown)}", err=True)


def _show_weights(trained: "TrainedRun", translation: "Translation") -> None:
    """A heatmap: the output's words down, the source's across."""
    from ..runs.translate import attended
    from ..tables.heatmap import heatmap, legend, shades_for

    if trained.settings.model.attention == "none":
        say("  (reads the last state alone: there are no weights to show)\n")
    if translation.weights is None:
        return
    matrix = attended(trained, translation)
    console = output()
    shades = shades_for(console.encoding)
    lines = heatmap(matrix.source, matrix.output, matrix.weights, console.width, shades)
    say("\n".join(["", *lines, "", legend(shades), ""]))
