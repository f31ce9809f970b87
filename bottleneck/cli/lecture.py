"""``bottleneck lecture``: the slides' numbers recomputed, their examples step by step."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..settings.errors import UsageError, did_you_mean
from ..settings.machine import DEFAULT_OUT
from .console import output, show
from .options import Form, check_is_folder

if TYPE_CHECKING:
    from ..lecture.slides import Evidence, Exponent

TRAINED = DEFAULT_OUT / "lecture"
TRAINED_RUNS = {
    "L10": "run with attention",
    "L17": "run of English to French",
    "L-SHORT": "run of English to French",
}
"""The trained run that an id is compared with."""


def lecture(
    name: Annotated[
        str | None,
        Argument(metavar="ID", help="Explain one step by step: L1 to L18, L-FAIL, L-VIND ..."),
    ] = None,
    form: Form = "rich",
    results: Annotated[
        Path | None,
        Option(
            help="Folder of a trained run (for L10, L17, L-SHORT) or a benchmark (for L15) "
            f"[default: {TRAINED}; the latest benchmark]."
        ),
    ] = None,
) -> None:
    """Recompute the numbers that the slides print, or explain one."""
    from ..lecture.walkthroughs import WALKTHROUGHS, audit
    from ..tables.lecture import audit_page, lecture_evidence

    names = list(WALKTHROUGHS) if name is None else [name.upper()]
    if names[0] not in WALKTHROUGHS:
        if re.fullmatch(r"C\d+", names[0]):
            raise UsageError(
                f"{name!r} is a claim and not a printed number; use `bottleneck claims`"
            )
        raise UsageError(f"unknown id {name!r}{did_you_mean(names[0], WALKTHROUGHS)}")
    evidence = lecture_evidence(_exponent(results))
    if name is not None and form == "rich":
        _walk(names[0], evidence, results)
    else:
        show([audit_page([audit(name, evidence) for name in names])], form)


def _exponent(results: Path | None) -> "Exponent | None":
    """The exponent of the given results or of the latest benchmark, with its folder."""
    from ..questions.cost import measured_exponent

    if results is not None:
        check_is_folder(results)
        folder = results
    else:
        files = DEFAULT_OUT.glob("*/probes/cost.csv")
        latest = max(files, key=lambda path: path.stat().st_mtime, default=None)
        folder = latest and latest.parents[1]
    measured = folder and measured_exponent(folder)
    return measured._replace(folder=str(folder)) if measured else None


def _walk(name: str, evidence: "Evidence", results: Path | None) -> None:
    """Print an id's steps, with what trained runs or the model answer."""
    from ..lecture.walkthroughs import audit
    from ..results.schema import RUNS
    from ..tables.lecture import print_walkthrough
    from ..tables.render import print_prose

    folder = results or TRAINED
    if name == "L18":
        from ..runs.lecture import model_attention

        evidence = replace(evidence, model=model_attention)
    elif name in TRAINED_RUNS and (results or (TRAINED / RUNS).is_file()):
        from ..runs.lecture import trained_evidence

        evidence = replace(evidence, **trained_evidence(name, folder))
    console = output()
    print_walkthrough(audit(name, evidence), console)
    if evidence.arms:
        runs = ", ".join(f"{arm.arm} {arm.run}" for arm in evidence.arms)
        print_prose(console, f"Runs of {folder}: {runs}.")
    elif name in TRAINED_RUNS and evidence.learned is None:
        print_prose(
            console,
            f"No trained run to compare with: {str(folder)!r} has no {TRAINED_RUNS[name]} with its "
            f"weights; `bottleneck reproduce` trains a {TRAINED_RUNS[name]}, and --results names "
            "its folder.",
        )
