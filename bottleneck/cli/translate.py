"""``bottleneck translate`` and ``bottleneck diagnose``: sentences through trained runs."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.errors import UsageError, counted, did_you_mean
from ..settings.machine import DEFAULT_OUT
from .console import output, say, show
from .options import Form, OneRunOrMore, check_sentence, folder_text

if TYPE_CHECKING:
    from ..runs.translate import TrainedRun, Translation

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
    from ..results.discovery import latest_output, trained_arms

    with _text(sentence, file) as lines:
        if lines is None:
            check_sentence(sentence or "")
        folder = results if results is not None else latest_output(DEFAULT_OUT)
        arms = _selected(trained_arms(folder), arm, single=lines is not None)
        folders = dict(sorted(arms.items(), reverse=True))
        trained = load_arms(folders, beam, copy_unknown)
        if lines is None:
            _translate_sentence(trained, sentence or "", alignment)
        else:
            _translate_text(*trained.values(), lines, alignment)
    say(_runs_line(folder, results, folders), err=True)
    _warn_untrained(folders)


def _text(sentence: str | None, file: Path | None) -> AbstractContextManager[Lines]:
    """The text to translate, open; None where it is a sentence on the command line."""
    from ..runs.translate import open_file, read_lines

    if file is not None:
        if sentence is not None:
            raise UsageError("a sentence and --file are two texts; give one of them")
        return open_file(file)
    if sentence not in (None, "-"):
        return nullcontext()
    if sys.stdin is None or (sentence is None and sys.stdin.isatty()):
        raise UsageError("give a sentence in quotes, --file FILE, or text on standard input")
    return nullcontext(read_lines(sys.stdin.buffer, "standard input"))


def _selected(folders: dict[str, Path], arm: str | None, single: bool) -> dict[str, Path]:
    """The arm that was named; else all, or a ``single`` one, with attention, which is announced."""
    from ..settings.concerns import UNSELECTIVE

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


def load_arms(
    folders: Mapping[str, Path], beam: int | None, copy_unknown: bool | None = None
) -> "dict[str, TrainedRun]":
    """The arms of these runs, with other settings of decoding where they are given."""
    from dataclasses import replace

    from ..runs.attention import check_pointing
    from ..runs.environment import use_cache
    from ..runs.translate import load_run

    use_cache()
    given = {"beam_size": beam, "copy_unknown": copy_unknown}
    decoding = {name: value for name, value in given.items() if value is not None}
    arms = {}
    for name, folder in folders.items():
        trained = load_run(folder)
        if copy_unknown:
            check_pointing(trained.settings, "--copy-unknown")
        arms[name] = replace(trained, settings=trained.settings.changed(decoding=decoding))
    return arms


def _translate_text(trained: "TrainedRun", lines: Iterator[str], alignment: bool) -> None:
    """Print plain lines on standard output, and notes on them on standard error.

    In UTF-8 whatever the terminal's encoding: what is read is UTF-8, here and by ``score``.
    """
    from ..runs.attention import check_pointing
    from ..runs.translate import Tally, translate_lines

    if alignment:
        check_pointing(trained.settings, "--alignment")
    tally = Tally()
    for chunk in translate_lines(trained, lines, tally, alignment):
        say("\n".join(chunk).encode())
    for note in tally.notes(trained.settings):
        say(note, err=True)


def _translate_sentence(arms: "dict[str, TrainedRun]", sentence: str, alignment: bool) -> None:
    """Print a line per arm, each followed by its weights with ``alignment``."""
    width, unknown = max(map(len, arms)), []
    for name, trained in arms.items():
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
    """Print a heatmap: the output's words down, the source's across."""
    from ..runs.translate import attended
    from ..tables.render import heatmap, legend, shades_for

    if trained.settings.model.attention == "none":
        say("  (reads the last state alone: there are no weights to show)\n")
    if translation.weights is None:
        return
    matrix = attended(trained, translation)
    console = output()
    shades = shades_for(console.encoding)
    lines = heatmap(matrix.source, matrix.output, matrix.weights, console.width, shades)
    say("\n".join(["", *lines, "", legend(shades), ""]))


def diagnose(
    sentence: Annotated[
        str | None,
        typer.Argument(help="An English sentence [default: the lecture's own long sentence]."),
    ] = None,
    results: OneRunOrMore = None,
    form: Form = "rich",
) -> None:
    """Show which words of a sentence survive translation."""
    from ..lecture.slides import SLIDES
    from ..questions import diagnosis
    from ..results.discovery import latest_output, trained_arms
    from ..runs.environment import use_cache
    from ..tables.page import check_format

    check_format(form)
    if sentence is not None:
        check_sentence(sentence)
        if not any(map(str.isalnum, sentence)):
            raise UsageError("the sentence has no words; write it in quotes")
    folder = results if results is not None else latest_output(DEFAULT_OUT)
    arms = trained_arms(folder)
    use_cache()
    arms = {arm: arms[arm] for arm in sorted(arms, key=lambda arm: (arm != "none", arm))}
    slide = SLIDES["L14"]
    text = slide["sentence"] if sentence is None else sentence
    result = diagnosis.diagnose(text, arms, lambda words: say(words, err=True))
    length = counted(result.words, "word")
    notes = [_runs_line(folder, results, arms)]
    if sentence is None:
        length += f" (the slide says {slide['words']}, elsewhere {slide['words_elsewhere']})"
        notes.append(
            "Slide (L-LOST): topic, main fact, frame and tone survive; "
            f"{', '.join(SLIDES['L-LOST']['lost'])} and the conference's exact name are lost."
        )
    show([diagnosis.diagnosis_page(result, length, notes)], form)
    _warn_untrained(arms)


def _runs_line(folder: Path, results: Path | None, folders: Mapping[str, Path]) -> str:
    """``Runs of results/runs/lecture: none 0123456789ab.``; ``results`` is what was named."""
    runs = ", ".join(f"{arm} {run.name}" for arm, run in folders.items())
    return f"Runs of {folder_text(folder, results)}: {runs}."


def _warn_untrained(folders: Mapping[str, Path]) -> None:
    """A line on the arms whose BLEU in the shortest filled bucket is under the floor.

    ``folders`` are their runs by arm; a run without scores is passed over.
    """
    from ..claims.verdict import learned
    from ..results.folders import SCORES, run_rows, was_written

    low = []
    for arm, run in folders.items():
        rows = run_rows(run / SCORES) if was_written(run / SCORES) else ()
        bleu = next((float(row["bleu"]) for row in rows if row.get("bleu")), None)
        if bleu is not None and not learned(bleu):
            low.append(f"{arm} (BLEU {bleu:.1f} of short sentences)")
    if low:
        say(
            f"not learned to translate: {' and '.join(low)}; `bottleneck reproduce` trains arms "
            "that do, --results names others",
            err=True,
        )
