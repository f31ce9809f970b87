"""``bottleneck translate``: sentences through trained runs.

And ``bottleneck lecture``: the slides' numbers recomputed, their examples put to trained runs.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from ..results.schema import FORMATS
from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.machine import DEFAULT_OUT
from .console import output, print_names, say, show
from .options import Beam, Form, OneRunOrMore, check_is_folder, check_sentence, trained_folder

if TYPE_CHECKING:
    from ..lecture.slides import Evidence
    from ..runs.translate import TrainedRun

CHUNK = 4096
"""Lines of a file that are translated before the first of them is printed."""


def translate(
    sentence: Annotated[
        str | None,
        Argument(
            help="A sentence in quotes [default, or -: standard input, one per line].",
            callback=check_sentence,
        ),
    ] = None,
    file: Annotated[
        Path | None, Option(help="Text file (or .gz) with one sentence per line.")
    ] = None,
    results: OneRunOrMore = None,
    arm: Annotated[
        str | None,
        Option(
            help="Use the run with this attention [default: all; for text the one with attention]."
        ),
    ] = None,
    beam: Beam = None,
    alignment: Annotated[
        bool,
        Option("--alignment", help="Show the attention weights of each word of a sentence."),
    ] = False,
    copy_unknown: Annotated[
        bool,
        Option(
            "--copy-unknown",
            help="Replace unknown words by the source word attended to most.",
        ),
    ] = False,
    diagnose: Annotated[
        bool,
        Option(
            "--diagnose",
            help="Show which words of a sentence survive [default: the lecture's long sentence].",
        ),
    ] = False,
    form: Annotated[
        Literal[*FORMATS], Option("--format", help="Output format of --diagnose.")
    ] = "rich",
) -> None:
    """Translate a sentence with every arm, or a text with one.

    The arms are those of the latest runs or, before you have any, of the pair that comes with the
    package. A file or standard input gives one line of output per line of input.
    """
    if diagnose:
        if file or arm or alignment or beam or copy_unknown:
            raise UsageError("--diagnose takes a sentence in quotes, --results and --format alone")
        _diagnose(sentence, results, form)
        return
    if form != "rich":
        raise UsageError("--format is for --diagnose; a translation is plain text")
    from ..settings.concerns import UNSELECTIVE

    lines = _lines(sentence, file)
    if lines is not None and alignment:
        raise UsageError("--alignment is for a sentence in quotes, not for a text")
    arms, where = _arms(results)
    if arm is not None and arm not in arms:
        raise UsageError(f"no arm {arm!r} in this folder{did_you_mean(arm, arms)}")
    if arm is None and lines is not None:
        arm = min(arms, key=lambda name: name in UNSELECTIVE)
    arms = {arm: arms[arm]} if arm else dict(sorted(arms.items(), reverse=True))
    trained = load_arms(arms, beam, copy_unknown)
    if lines is None:
        _translate_sentence(trained, sentence or "", alignment)
    else:
        _translate_text(*trained.values(), lines)
    for note in notes_on(where, arms):
        say(note, err=True)


def _lines(sentence: str | None, file: Path | None) -> Iterable[list[str]] | None:
    """The lines of a text to translate, many at a time; None for a sentence on the command line."""
    from ..corpus.files import lines_as_given

    if file is not None and sentence is not None:
        raise UsageError("a sentence and --file are two texts; give one of them")
    if file is not None:
        lines = lines_as_given(str(file), "--file")
        return [lines[start : start + CHUNK] for start in range(0, len(lines), CHUNK)]
    if sentence not in (None, "-"):
        return None
    if sys.stdin is None or (sentence is None and sys.stdin.isatty()):
        raise UsageError("give a sentence in quotes, --file FILE, or text on standard input")
    return _standard_input()


def _standard_input() -> Iterator[list[str]]:
    """The lines that are there, again and again: who writes one may wait for its translation."""
    rest = b""
    while data := sys.stdin.buffer.read1(2**19) or (rest and b"\n"):
        whole, end, rest = (rest + data).rpartition(b"\n")
        try:
            yield [line.rstrip("\r") for line in whole.decode("utf-8-sig").split("\n") if end]
        except UnicodeDecodeError:
            raise UserError("standard input is not UTF-8; save the text as UTF-8") from None


def _arms(results: Path | None) -> tuple[dict[str, Path], str]:
    """The trained runs by arm, and the folder that they are of, for people."""
    from ..results.folders import arms, check_trainable

    folder, where = trained_folder(results)
    check_trainable(folder)
    return arms(folder), where


def load_arms(
    folders: Mapping[str, Path], beam: int | None, copy_unknown: bool = False
) -> "dict[str, TrainedRun]":
    """The arms of these runs, with other settings of decoding where they are given."""
    from ..runs.run import use_cache
    from ..runs.translate import load_run

    use_cache()
    decoding = {"beam_size": beam} if beam else {}
    decoding |= {"copy_unknown": True} if copy_unknown else {}
    arms = {}
    for name, folder in folders.items():
        trained = load_run(folder)
        arms[name] = replace(trained, settings=trained.settings.changed(decoding=decoding))
    return arms


def _translate_text(trained: "TrainedRun", chunks: Iterable[list[str]]) -> None:
    """Print plain lines on standard output, and a note on them on standard error.

    In UTF-8 whatever the terminal's encoding: what is read is UTF-8, here and by ``score``.
    """
    from ..runs.translate import BATCH

    count, tokens, unknown, cut = 0, 0, 0, 0
    for lines in filter(None, chunks):
        translations = trained.translations(lines, BATCH)
        say("\n".join(item.text for item in translations).encode())
        count += len(lines)
        tokens += sum(len(item.source) for item in translations)
        unknown += sum(len(trained.unknown(line)) for line in lines)
        cut += sum(not item.ended for item in translations)
    say(
        f"{counted(count, 'line')} translated, {counted(cut, 'translation')} cut at the cap; "
        f"{unknown:,} of {tokens:,} source tokens are not in the training vocabulary",
        err=True,
    )


def _translate_sentence(arms: "dict[str, TrainedRun]", sentence: str, alignment: bool) -> None:
    """Print a line per arm; with ``alignment`` a heatmap: output words down, source across."""
    from ..runs.translate import attended
    from ..tables.render import PLAIN_SHADES, heatmap, legend

    console, width, unknown = output(), max(map(len, arms)), []
    for name, trained in arms.items():
        unknown = trained.unknown(sentence)
        weighted = alignment and trained.settings.model.attention != "none"
        (translation,) = trained.translations([sentence], 1, weighted)
        say(f"{name:<{width}}  {translation.text}")
        if weighted and translation.weights is not None:
            matrix = attended(trained, translation)
            lines = heatmap(matrix.source, matrix.output, matrix.weights, console.width)
            block = "\n".join(["", *lines, "", legend(), ""])
            try:
                legend().encode(console.encoding)
            except (UnicodeEncodeError, LookupError):
                block = block.translate(PLAIN_SHADES)
            say(block)
        elif alignment and not weighted:
            say("  (reads the last state alone: there are no weights to show)\n")
        if not translation.ended:
            say(f"{name}: cut at the cap, without an end", err=True)
    if unknown:
        say(f"not in the training vocabulary: {', '.join(unknown)}", err=True)


def _diagnose(sentence: str | None, results: Path | None, form: str) -> None:
    """Show which words of a sentence survive translation."""
    from ..lecture.slides import SLIDES
    from ..questions import diagnosis
    from ..runs.run import use_cache

    if sentence is not None and not any(map(str.isalnum, sentence)):
        raise UsageError("the sentence has no words; write it in quotes")
    arms, where = _arms(results)
    use_cache()
    arms = {arm: arms[arm] for arm in sorted(arms, key=lambda arm: (arm != "none", arm))}
    slide = SLIDES["L14"]
    text = slide["sentence"] if sentence is None else sentence
    result = diagnosis.diagnose(text, arms)
    runs, *warnings = notes_on(where, arms)
    notes = [f"Sentence: {counted(result.words, 'word')}.", runs]
    if sentence is None:
        notes.append(
            f"Slides (L14, L-LOST): {slide['words']} words, elsewhere {slide['words_elsewhere']}; "
            "topic, main fact, frame and tone survive; "
            f"{', '.join(SLIDES['L-LOST']['lost'])} and the conference's exact name are lost."
        )
    show(diagnosis.diagnosis_page(result, notes), form)
    for warning in warnings:
        say(warning, err=True)


def notes_on(where: str, arms: Mapping[str, Path]) -> list[str]:
    """A line that names the runs, ``Runs of results/runs/lecture: none 0123456789ab.``.

    And one on the arms whose BLEU in the shortest filled bucket is under the floor, if there are
    any; a run without scores is passed over.
    """
    from ..claims.verdict import learned
    from ..results.folders import SCORES, run_rows, was_written

    lines = [f"Runs of {where}: {', '.join(f'{arm} {run.name}' for arm, run in arms.items())}."]
    for arm, run in arms.items():
        rows = run_rows(run / SCORES) if was_written(run / SCORES) else ()
        bleu = next((float(row["bleu"]) for row in rows if row.get("bleu")), None)
        if bleu is not None and not learned(bleu):
            lines.append(f"{arm} has not learned to translate: BLEU {bleu:.1f} of short sentences")
    return lines


def lecture(
    name: Annotated[
        str | None,
        Argument(metavar="ID", help="Explain one step by step: L1 to L18, L-FAIL, L-VIND ..."),
    ] = None,
    form: Form = "rich",
    results: Annotated[
        Path | None,
        Option(
            help="Folder of trained runs (for L10, L17, L-SHORT) or of a benchmark (for L15) "
            "[default: the latest, else shipped; results/runs/bench]."
        ),
    ] = None,
    ids: Annotated[
        bool, Option("--ids", help="List what the ids of slides and claims stand for.")
    ] = False,
) -> None:
    """Recompute the numbers that the slides print, or explain one."""
    from ..claims.registry import CLAIMS
    from ..lecture.slides import SLIDES
    from ..lecture.walkthroughs import WALKTHROUGHS, audit
    from ..questions.cost import measured_exponent
    from ..tables.lecture import audit_page, lecture_evidence

    if ids:
        topics = {name: slide["topic"] for name, slide in SLIDES.items()}
        print_names(topics | {claim.id: claim.says for claim in CLAIMS})
        return
    names = list(WALKTHROUGHS) if name is None else [name.upper()]
    if names[0] not in WALKTHROUGHS:
        if names[0] in {claim.id.upper() for claim in CLAIMS}:
            raise UsageError(f"{names[0]} is a claim: `bottleneck table claims` decides it")
        raise UsageError(f"unknown id {name!r}{did_you_mean(names[0], WALKTHROUGHS)}")
    if results is not None:
        check_is_folder(trained_folder(results)[0])
    folder = results or DEFAULT_OUT / "bench"
    measured = measured_exponent(folder)
    evidence = lecture_evidence(measured._replace(folder=str(folder)) if measured else None)
    if name is not None and form == "rich":
        _walk(names[0], evidence, results)
    else:
        show(audit_page([audit(name, evidence) for name in names]), form)


def _walk(name: str, evidence: "Evidence", results: Path | None) -> None:
    """Print an id's steps, with what trained runs answer."""
    from ..lecture.walkthroughs import audit
    from ..tables.lecture import print_walkthrough
    from ..tables.render import print_prose

    asked = name in ("L10", "L17", "L-SHORT")
    if asked:
        from ..runs.lecture import trained_evidence

        folder, where = trained_folder(results)
        evidence = replace(evidence, **trained_evidence(name, folder))
    console = output()
    print_walkthrough(audit(name, evidence), console)
    if evidence.arms:
        runs = ", ".join(f"{arm.arm} {arm.run}" for arm in evidence.arms)
        print_prose(console, f"Runs of {where}: {runs}.")
    elif asked:
        print_prose(
            console,
            f"{str(folder)!r} has no trained run to compare with; `--results shipped` names the "
            "pair that comes with the package.",
        )
