"""The command that produces what a claim still lacks, from what there is already."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..claims.registry import Claim
from ..results.bundle import Bundle
from ..results.folders import without_runs
from ..results.inside import results_inside
from ..results.probes import has_probe, load_probe
from ..settings.grid import make_grid
from ..settings.sweep import load_sweep
from .families import kinds

OWN_TEXT = "files"
GOLD = "study alignment --gold FILE --source FILE --target FILE"


def command(
    claim: Claim, folder: Path, bundle: Bundle | None, conditions: Sequence[str] = ()
) -> str:
    """What to run, ``&&`` between two commands; ``conditions`` chose the bundle's runs.

    It names the folder where that can take what is lacking: for runs one with a store, or with no
    results yet; of a folder of several sweeps' folders the claim's own part.
    """
    where = shlex.quote(str(folder))
    if bundle is None and results_inside(folder):  # runs beside the others would be mixed with them
        return f"bottleneck study all --results {where} --part {claim.home}"
    store = not without_runs(folder)
    if not claim.study:
        takes = store or claim.makes == "bench"
        return f"bottleneck {claim.command}" + (f" --out {where}" if takes else "")
    study = f"bottleneck {claim.command}"
    texts = set() if bundle is None else set(bundle.runs["corpus"].unique())
    if claim.known and texts and texts.isdisjoint(claim.known):
        # Of the user's own text links alone can be had; the rest is asked of the default folder.
        own = claim.id == "C7" and store and texts == {OWN_TEXT}
        return f"bottleneck {GOLD} --results {where}" if own else study
    if not store:
        return study
    chosen = "".join(f" --where {shlex.quote(each)}" for each in conditions)
    put = f"{study} --results {where}{chosen}"
    if bundle is None:
        return put
    made = has_probe(folder, claim.study)
    if claim.apart:
        begun = made and _of_sweep(bundle, claim.study)
        return f"bottleneck sweep {claim.study} --out {where} && {put}" if begun else study
    # A table of all arms that does not decide is not mended by being made again.
    spent = made and not _lacking(claim, load_probe(folder, claim.study)["attention"])
    if not conditions and (spent or _lacking(claim, bundle.runs["attention"])):
        return f"bottleneck reproduce --out {where} && {put}"
    return put


def _of_sweep(bundle: Bundle, name: str) -> bool:
    """Whether all runs are cells of the sweep, so that it goes on where they lie."""
    cells = {cell.settings.without_seed() for cell in make_grid(load_sweep(name)).cells}
    return all(bundle.settings(run).without_seed() in cells for run in bundle.runs["run"].unique())


def _lacking(claim: Claim, attentions: Iterable[str]) -> set[str]:
    """The arms that the claim needs and that are not among these."""
    return set(claim.arms) - kinds(attentions)
