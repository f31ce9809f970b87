"""``translate`` with trained runs; ``lecture``, which recomputes the slides' numbers."""

import sys
from collections.abc import Iterable, Iterator, Mapping
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
        list[str] | None, Argument(help="In quotes [default, or -: the lines of standard input].")
    ] = None,
    file: Annotated[Path | None, Option(help="A sentence per line. May be .gz.")] = None,
    results: options.TrainedRuns = None,
    arm: Annotated[str | None, Option(help="Only the arm with this attention.")] = None,
    beam: options.Beam = None,
    alignment: Annotated[bool, Option("--alignment", help="Show attention weights.")] = False,
    diagnose: Annotated[bool, Option("--diagnose", help="Show which words survive.")] = False,
    form: options.Form = "rich",
) -> None:
    """Translate a sentence with every arm, or a text with one.

    The arms are those of the latest runs or, before you have any, of the pair that comes with the
    package. A file or standard input gives one line of output per line of input. Without a
    sentence, --diagnose takes the lecture's long one.
    """
    from ..corpus.files import read_lines
    from ..settings.concerns import UNSELECTIVE

    words = options.check_sentence(" ".join(sentence) if sentence else None)
    if diagnose:
        given = {"--file": file, "--arm": arm, "--beam": beam, "--alignment": alignment}
        options.refuse(given, "not with --diagnose")
        _diagnose(words, results, form)
        return
    if form != "rich":
        raise UsageError("--format is for --diagnose; a translation is plain text")
    chunks = [[words]]
    text = file is not None or words in (None, "-")
    if file is not None:
        if words is not None:
            raise UsageError("a sentence and --file are two texts; give one of them")
        lines = read_lines(str(file), "--file")
        chunks = [lines[start : start + 4096] for start in range(0, len(lines), 4096)]
    elif text:
        if sys.stdin is None or (words is None and sys.stdin.isatty()):
            raise UsageError("give a sentence in quotes, --file FILE, or text on standard input")
        chunks = _standard_input()
    arms, where = trained_runs(results)
    if text:
        options.refuse({"--alignment": alignment}, "is for a sentence in quotes, not for a text")
        arm = arm or min(arms, key=lambda name: name in UNSELECTIVE)
    if arm not in (None, *arms):
        raise UsageError(f"no arm {arm!r} in this folder{did_you_mean(arm, arms)}")
    arms = {arm: arms[arm]} if arm else dict(sorted(arms.items(), reverse=True))
    from ..runs.translate import load_run

    loaded = {name: load_run(run, beam) for name, run in arms.items()}
    for name, trained in loaded.items():
        _translate(trained, chunks, "" if text else f"{name:<{max(map(len, arms))}}  ", alignment)
    print_notes(where, arms)


def _standard_input() -> Iterator[list[str]]:
    """Yield lines as they arrive: a program may wait for each translation."""
    rest = b""
    while data := sys.stdin.buffer.read1(2**19) or (rest and b"\n"):
        whole, end, rest = (rest + data).rpartition(b"\n")
        try:
            yield [line.rstrip("\r") for line in whole.decode("utf-8-sig").split("\n") if end]
        except UnicodeDecodeError:
            raise UserError("standard input is not UTF-8; save the text as UTF-8") from None


def trained_runs(results: Path | None) -> tuple[dict[str, Path], str]:
    """The runs by arm of a folder (named, latest or shipped), and its name in messages."""
    from ..results.folders import SHIPPED, arms, check_trainable, latest_output, read_experiments

    folder = results or latest_output(DEFAULT_OUT, SHIPPED)
    where = f"{folder}{'' if results else ' (the latest)'}"
    if folder in (SHIPPED, Path("shipped")):
        folder, about = SHIPPED, ", ".join(read_experiments(SHIPPED))
        where = f"the shipped pair ({about}; train your own with `bottleneck reproduce`)"
    check_trainable(folder)
    return arms(folder), where


def _translate(
    trained: "TrainedRun", chunks: Iterable[list[str]], prefix: str, alignment: bool
) -> None:
    from ..runs.translate import BATCH
    from ..tables.render import SHADES, heatmap

    legend = " < ".join(
        ["weight: ' '", *(f"{least} <= {shade}" for least, shade in SHADES.items())]
    )
    count, tokens, cut, unknown = 0, 0, 0, []
    weighted = alignment and trained.settings.model.attention != "none"
    for lines in filter(None, chunks):
        translations = trained.translations(lines, BATCH, weighted)
        say("\n".join(f"{prefix}{item.text}" for item in translations).encode())
        for item in translations if alignment else []:
            if item.weights is None:
                say("  (this arm reads only the last state: it has no weights to show)\n")
            else:
                matrix = heatmap(item.source, item.output, item.weights, output().width)
                say("\n".join(["", *matrix, "", legend, ""]).encode())
        count += len(lines)
        lacking, size = trained.unknown(lines)
        unknown += lacking
        tokens += size
        cut += sum(not item.ended for item in translations)
    if count != 1 or cut or unknown:
        words = ", ".join([*dict.fromkeys(unknown)][:10])
        say(
            f"{prefix}{counted(count, 'line')} translated, {counted(cut, 'translation')} cut at "
            f"the cap; {len(unknown):,} of {tokens:,} source tokens are not in the training "
            f"vocabulary{words and f': {words}'}",
            err=True,
        )


def _diagnose(sentence: str | None, results: Path | None, form: str) -> None:
    from ..lecture.slides import SLIDES
    from ..questions import diagnosis

    arms, where = trained_runs(results)
    arms = dict(sorted(arms.items(), reverse=True))
    result = diagnosis.diagnose(sentence or SLIDES["L14"]["sentence"], arms)
    lost = ", ".join(SLIDES["L-LOST"]["lost"])
    slide = f"Slide (L-LOST): {lost} and the conference's exact name are lost."
    show(diagnosis.diagnosis_page(*result, [] if sentence else [slide]), form)
    print_notes(where, arms)


def print_notes(where: str, arms: Mapping[str, Path]) -> None:
    """Name the runs on stderr, and warn of each that has not learned to translate."""
    from ..claims.verdict import FLOOR_BLEU
    from ..results.bundle import read_table
    from ..results.folders import was_written

    names = ", ".join(f"{arm} {run.name}" for arm, run in arms.items())
    say(f"Runs of {where}: {names}.", err=True)
    for arm, run in arms.items():
        if was_written(run / "scores.csv"):
            scores = read_table(run / "scores.csv", {"bleu": "f8"})["bleu"].dropna().to_list()
            if scores and scores[0] < FLOOR_BLEU:
                words = f"BLEU {scores[0]:.1f} on short sentences"
                say(f"{arm} has not learned to translate: {words}", err=True)


def lecture(
    name: Annotated[str, Argument(metavar="ID", help="Explain one step by step, such as L7.")] = "",
    form: options.Form = "rich",
    results: options.TrainedRuns = None,
    ids: Annotated[bool, Option("--ids", help="List all ids, and what they stand for.")] = False,
) -> None:
    """Recompute the numbers that the slides print, or explain one.

    L10, L17 and L-SHORT also use the trained runs of --results; L15 reads a benchmark.
    """
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
    if results not in (None, Path("shipped")) and not results.is_dir():
        raise UserError(f"no folder {str(results)!r}: name a folder of results")
    evidence, line = lecture_evidence(measured_exponent(results or DEFAULT_OUT / "bench")), ""
    if not name or form != "rich":
        show(audit_page([audit(name, evidence) for name in names]), form)
        return
    if names[0] in ("L10", "L17", "L-SHORT"):
        from ..runs.lecture import trained_evidence

        arms, where = trained_runs(results)
        evidence = trained_evidence(evidence, names[0], arms)
        line = ", ".join(f"{arm} {arms[arm].name}" for arm in evidence.arms)
        line = f"Runs of {where}: {line or 'none to compare with; try --results shipped'}."
    print_walkthrough(audit(names[0], evidence), output())
    if line:
        say(line)
