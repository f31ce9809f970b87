"""``bottleneck lecture``: the slides' numbers recomputed, their examples step by step."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import output, say
from .options import Form
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    from ..lecture.evidence import Evidence, Exponent

TRAINED = DEFAULT_OUT / "lecture"
ASKED = {
    "L10": ("No learned matrix beside it", "with attention"),
    "L17": ("None of ours beside it", "of English to French"),
    "L-SHORT": ("None of ours beside it", "of English to French"),
}
"""Ids that show what trained runs say: what is missing without one, and which run that is."""


def lecture(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Walk through one: L1 to L18, L-FAIL, L-VIND ...",
        ),
    ] = None,
    form: Form = "rich",
    results: Annotated[
        Path | None,
        typer.Option(
            help="Results with a trained run (L10, L17, L-SHORT) or a benchmark (L15) "
            f"[default: {TRAINED}; the latest benchmark]."
        ),
    ] = None,
) -> None:
    """Recompute the lecture's printed numbers, or walk through one."""
    from ..lecture.audit import AUDITS, audit_all
    from ..settings.errors import UsageError
    from ..tables.audit import audit_page
    from ..tables.pages import check_format, print_page, render

    if name is not None and name.upper() not in AUDITS:
        raise UsageError(_unknown(name))
    check_format(form)
    evidence = _evidence(results)
    if name is not None and form == "rich":
        _walk(name.upper(), evidence, results)
        return
    audits = audit_all(evidence) if name is None else [AUDITS[name.upper()](evidence)]
    page = audit_page(audits)
    if form != "rich":
        say(render(page, form), nl=False)
        return
    print_page(page, output())


def _unknown(name: str) -> str:
    """What an id is that has no printed number: a claim, which another command decides, or none."""
    from ..claims.registry import CLAIMS
    from ..lecture.audit import AUDITS
    from ..settings.errors import did_you_mean

    if name.upper() in [claim.id for claim in CLAIMS]:
        return f"{name!r} is a claim and no printed number: `bottleneck claims` decides it"
    return f"unknown id {name!r}{did_you_mean(name.upper(), AUDITS)}"


def _evidence(results: Path | None) -> "Evidence":
    """The slides, the grammar's alignment, and a benchmark's exponent where there is one."""
    from ..lecture.evidence import Evidence
    from ..lecture.slides import SLIDES
    from ..tables.audit import grammar_alignment

    return Evidence(grammar_alignment(SLIDES.l16.english), _exponent(results))


def _exponent(results: Path | None) -> "Exponent | None":
    """From the results that were named, else from the latest benchmark; with its folder."""
    from ..results.cost import COST_EXPONENTS
    from ..settings.errors import UserError
    from ..tables.audit import measured_exponent

    if results is not None:
        if not results.is_dir():
            raise UserError(
                f"{str(results)!r} is not a folder: name one that `bottleneck reproduce` or "
                "`bottleneck bench` wrote"
            )
        folder = results
    else:
        paths = DEFAULT_OUT.glob(f"*/{COST_EXPONENTS}")
        found = sorted(paths, key=lambda path: path.stat().st_mtime)
        if not found:
            return None
        folder = found[-1].parents[1]
    measured = measured_exponent(folder)
    return replace(measured, folder=str(folder)) if measured else None


def _walk(name: str, evidence: "Evidence", results: Path | None) -> None:
    """Print an id's steps, computed with the project's own attention functions."""
    from ..lecture.attention_walks import walk
    from ..lecture.audit import AUDITS
    from ..runs.lecture import own_attention
    from ..tables.fitting import print_prose
    from ..tables.walks import print_walk

    evidence = _with_trained(name, evidence, results)
    console = output()
    print_walk(AUDITS[name](evidence), walk(name, evidence, own_attention()), console)
    if name in ASKED and (told := _asked(name, evidence, results or TRAINED)):
        print_prose(console, told)


def _asked(name: str, evidence: "Evidence", folder: Path) -> str:
    """Which runs an id asked; where there is none, the command that makes one. May be empty."""
    if arms := evidence.first or evidence.short:
        return f"Runs of {folder}: {', '.join(f'{arm.arm} {arm.run}' for arm in arms)}."
    if evidence.learned is not None:
        return ""
    missing, wanted = ASKED[name]
    lacks = _lacks(folder, wanted)
    way = f"`bottleneck reproduce` trains a run {wanted}"
    return f"{missing}: {str(folder)!r} {lacks}; {way}, and --results names others."


def _lacks(folder: Path, wanted: str) -> str:
    """Why a folder has none of the wanted runs whose weights could be asked."""
    from ..results.folders import without_runs

    if not folder.is_dir():
        return "is not there"
    if without_runs(folder):
        return "is a bundle without its run folders, which hold the weights"
    return f"has no run {wanted}"


def _with_trained(name: str, evidence: "Evidence", results: Path | None) -> "Evidence":
    """The evidence with what trained runs say of the id, where it asks them and they are there."""
    from ..results.schema import RUNS
    from ..runs.lecture import first_steps, learned_weights, short_translations

    folder = results or TRAINED
    if results is None and not (TRAINED / RUNS).is_file():
        return evidence
    match name:
        case "L10":
            return replace(evidence, learned=learned_weights(folder))
        case "L17":
            return replace(evidence, first=first_steps(folder))
        case "L-SHORT":
            return replace(evidence, short=short_translations(folder))
    return evidence
