"""``bottleneck translate``: sentences through trained runs.

And ``bottleneck lecture``: the slides' numbers recomputed, their examples put to trained runs.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import output, print_names, say, show

if TYPE_CHECKING:
    from ..runs.translate import TrainedRun


def translate(
    sentence: Annotated[
        list[str] | None,
        Argument(help="A sentence, best in quotes [default, or -: standard input, one per line]."),
    ] = None,
    file: Annotated[
        Path | None, Option(help="Text with one sentence per line. May be .gz.")
    ] = None,
    results: options.TrainedRuns = None,
    arm: Annotated[
        str | None, Option(help="The run with this attention [default: all; of a text the best].")
    ] = None,
    beam: options.Beam = None,
    alignment: Annotated[
        bool, Option("--alignment", help="Show the attention weights of a sentence.")
    ] = False,
    copy_unknown: Annotated[
        bool, Option("--copy-unknown", help="Replace unknown words by the word attended to most.")
    ] = False,
    diagnose: Annotated[
        bool,
        Option(
            "--diagnose",
            help="Show which words of a sentence survive [default: the lecture's long sentence].",
        ),
    ] = False,
    form: options.Form = "rich",
) -> None:
    """Translate a sentence with every arm, or a text with one.

    The arms are those of the latest runs or, before you have any, of the pair that comes with the
    package. A file or standard input gives one line of output per line of input.
    """
    from ..settings.concerns import UNSELECTIVE

    words = options.check_sentence(" ".join(sentence) if sentence else None)
    if diagnose:
        given = {"--file": file, "--arm": arm, "--beam": beam, "--alignment": alignment}
        options.refuse(given | {"--copy-unknown": copy_unknown}, "not with --diagnose")
        _diagnose(words, results, form)
        return
    if form != "rich":
        raise UsageError("--format is for --diagnose; a translation is plain text")
    text = file is not None or words in (None, "-")
    if text:
        options.refuse({"--alignment": alignment}, "is for a sentence in quotes, not for a text")
    chunks = _lines(words, file) if text else []
    arms, where = trained_arms(results)
    if arm is None and text:
        arm = min(arms, key=lambda name: name in UNSELECTIVE)
    if arm not in (None, *arms):
        raise UsageError(f"no arm {arm!r} in this folder{did_you_mean(arm, arms)}")
    arms = {arm: arms[arm]} if arm else dict(sorted(arms.items(), reverse=True))
    trained = load_arms(arms, beam, copy_unknown)
    if text:
        _translate_text(*trained.values(), chunks)
    else:
        _translate_sentence(trained, words, alignment)
    for note in notes_on(where, arms):
        say(note, err=True)


def _lines(sentence: str | None, file: Path | None) -> Iterable[list[str]]:
    """The lines of a file or of standard input, many at a time."""
    from ..corpus.files import lines_as_given

    if file is not None:
        if sentence is not None:
            raise UsageError("a sentence and --file are two texts; give one of them")
        lines = lines_as_given(str(file), "--file")
        return [lines[start : start + 4096] for start in range(0, len(lines), 4096)]
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


def trained_folder(results: Path | None) -> tuple[Path, str]:
    """The folder that was named, the latest, or that of the shipped pair; and a name for people."""
    from ..results.folders import SHIPPED, latest_output, read_experiments

    folder = results or latest_output(DEFAULT_OUT, SHIPPED)
    if folder not in (SHIPPED, Path("shipped")):
        return folder, f"{folder}{'' if results else ' (the latest)'}"
    about = ", ".join(read_experiments(SHIPPED))
    return SHIPPED, f"the shipped pair ({about}; train your own with `bottleneck reproduce`)"


def trained_arms(results: Path | None) -> tuple[dict[str, Path], str]:
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
    arms = {name: load_run(folder) for name, folder in folders.items()}
    return {
        name: replace(run, settings=run.settings.changed(decoding=decoding))
        for name, run in arms.items()
    }


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
    from ..tables.render import heatmap, legend

    width, unknown = max(map(len, arms)), []
    for name, trained in arms.items():
        unknown = trained.unknown(sentence)
        weighted = alignment and trained.settings.model.attention != "none"
        (translation,) = trained.translations([sentence], 1, weighted)
        say(f"{name:<{width}}  {translation.text}")
        if weighted and translation.weights is not None:
            matrix = attended(trained, translation)
            lines = heatmap(matrix.source, matrix.output, matrix.weights, output().width)
            say("\n".join(["", *lines, "", legend(), ""]))
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

    arms, where = trained_arms(results)
    use_cache()
    arms = {arm: arms[arm] for arm in sorted(arms, key=lambda arm: (arm != "none", arm))}
    result = diagnosis.diagnose(sentence or SLIDES["L14"]["sentence"], arms)
    runs, *warnings = notes_on(where, arms)
    notes = [runs]
    if sentence is None:
        lost = ", ".join(SLIDES["L-LOST"]["lost"])
        notes.append(f"Slide (L-LOST): {lost} and the conference's exact name are lost.")
    show(diagnosis.diagnosis_page(result, counted(result.words, "word"), notes), form)
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
        str, Argument(metavar="ID", help="Explain one step by step: L1 to L18, L-FAIL, L-VIND ...")
    ] = "",
    form: options.Form = "rich",
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
    from ..tables.lecture import audit_page, lecture_evidence, print_walkthrough

    if ids:
        topics = {name: slide["topic"] for name, slide in SLIDES.items()}
        print_names(topics | {claim.id: claim.says for claim in CLAIMS})
        return
    names = [name.upper()] if name else list(WALKTHROUGHS)
    if names[0] not in WALKTHROUGHS:
        if names[0] in {claim.id.upper() for claim in CLAIMS}:
            raise UsageError(f"{names[0]} is a claim: `bottleneck table claims` decides it")
        raise UsageError(f"unknown id {name!r}{did_you_mean(names[0], WALKTHROUGHS)}")
    evidence, line = lecture_evidence(measured_exponent(results or DEFAULT_OUT / "bench")), ""
    if not name or form != "rich":
        show(audit_page([audit(name, evidence) for name in names]), form)
        return
    if names[0] in ("L10", "L17", "L-SHORT"):
        from ..runs.lecture import trained_evidence

        folder, where = trained_folder(results)
        evidence = replace(evidence, **trained_evidence(names[0], folder))
        line = ", ".join(f"{arm.arm} {arm.run}" for arm in evidence.arms)
        line = f"Runs of {where}: {line or 'none to compare with; try --results shipped'}."
    print_walkthrough(audit(names[0], evidence), output())
    if line:
        say(line)
