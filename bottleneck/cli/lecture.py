"""``bottleneck lecture``: the slides' numbers recomputed, their examples step by step."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .completion import lecture_ids
from .console import output
from .options import Form
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    from ..lecture.evidence import Evidence, Exponent

TRAINED = DEFAULT_OUT / "lecture"


def lecture(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Walk through one: L1 to L18, L-FAIL, L-VIND ...",
            autocompletion=lecture_ids,
        ),
    ] = None,
    form: Form = "rich",
    results: Annotated[
        Path | None,
        typer.Option(
            help="Results with a trained run (L10) or a benchmark (L15) "
            f"[default: {TRAINED}; the latest benchmark]."
        ),
    ] = None,
) -> None:
    """Recompute the lecture's printed numbers, or walk through one."""
    from ..lecture.audit import AUDITS, audit_all
    from ..settings.errors import UsageError, did_you_mean
    from ..tables.audit import audit_page
    from ..tables.pages import check_format, print_page, render

    check_format(form)
    if name is not None and name.upper() not in AUDITS:
        raise UsageError(f"unknown id {name!r}{did_you_mean(name.upper(), AUDITS)}")
    evidence = _evidence(results)
    if name is not None and form == "rich":
        _walk(name.upper(), evidence, results)
        return
    audits = audit_all(evidence) if name is None else [AUDITS[name.upper()](evidence)]
    page = audit_page(audits)
    if form != "rich":
        typer.echo(render(page, form), nl=False)
        return
    print_page(page, output())


def _evidence(results: Path | None) -> "Evidence":
    """The slides, the grammar's alignment, and a benchmark's exponent where there is one."""
    from ..lecture.evidence import Evidence
    from ..lecture.slides import SLIDES
    from ..tables.audit import grammar_alignment

    return Evidence(grammar_alignment(SLIDES.l16.english), _exponent(results))


def _exponent(results: Path | None) -> "Exponent | None":
    """From the results that were named, else from the latest benchmark."""
    from ..results.cost import COST_EXPONENTS
    from ..settings.errors import UserError
    from ..tables.audit import measured_exponent

    if results is not None:
        if not results.is_dir():
            raise UserError(
                f"{str(results)!r} is not a folder: name one that `bottleneck reproduce` or "
                "`bottleneck bench` wrote"
            )
        return measured_exponent(results)
    found = sorted(DEFAULT_OUT.glob(f"*/{COST_EXPONENTS}"), key=lambda path: path.stat().st_mtime)
    return measured_exponent(found[-1].parents[1]) if found else None


def _walk(name: str, evidence: "Evidence", results: Path | None) -> None:
    """Print an id's steps, computed with the project's own attention functions."""
    from dataclasses import replace

    from ..lecture.attention_walks import walk
    from ..lecture.audit import AUDITS
    from ..results.schema import RUNS
    from ..runs.lecture import learned_weights, own_attention
    from ..tables.fitting import print_prose
    from ..tables.walks import print_walk

    if name == "L10" and (results or (TRAINED / RUNS).is_file()):
        evidence = replace(evidence, learned=learned_weights(results or TRAINED))
    console = output()
    print_walk(AUDITS[name](evidence), walk(name, evidence, own_attention()), console)
    if name == "L10" and evidence.learned is None:
        print_prose(console, f"No learned matrix beside it: {_way(results)}.")


def _way(results: Path | None) -> str:
    """How to get a learned matrix, as a clause."""
    where = str(results or TRAINED)
    return f"{where!r} has no run with attention; `bottleneck reproduce` trains one"
