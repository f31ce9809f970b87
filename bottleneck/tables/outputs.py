"""The output of a system, ours or any other, beside its references and sources, line by line.

Text is scored as it stands: nothing is normalised, so that scores are those of sacreBLEU's own
command on the same files. (A byte-order mark alone is dropped: it is no part of the first word.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from ..corpus.files import lines_as_given
from ..results.folders import finished_runs, is_run, read_outputs, read_settings
from ..scoring.bleu import REFERENCE
from ..settings.buckets import Buckets, bucket_labels
from ..settings.errors import UsageError, UserError, counted

TOKENISED_LINES = 100
"""So many hypotheses that end in a full stop after a space look tokenised; sacreBLEU warns too."""


@dataclass(frozen=True)
class Output:
    """What one system made of a test set: ``name`` as the caption gives it, then line by line."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]
    hypotheses: Sequence[str]

    @property
    def words(self) -> Int[ndarray, "sentences"]:
        """Source length: whitespace-separated words."""
        return np.array([len(source.split()) for source in self.sources], dtype=np.int64)


def read_files(
    hypotheses: Path, references: Path, sources: Path, label: str = "--hypotheses"
) -> Output:
    """The output of a system in three files, named by their options.

    A ``UserError`` where they have not equally many lines, or one cannot be read.
    """
    translated = lines_as_given(str(hypotheses), label)
    texts = []
    for option, file in (("--references", references), ("--sources", sources)):
        lines = lines_as_given(str(file), option)
        if len(lines) != len(translated):
            raise UserError(
                f"{label} {str(hypotheses)!r} has {len(translated):,} lines and {option} "
                f"{str(file)!r} has {len(lines):,}; each line must be of the same sentence"
            )
        texts.append(lines)
    return Output(str(hypotheses), texts[1], texts[0], translated)


def read_systems(
    a: Path, b: Path, references: Path | None, sources: Path | None
) -> tuple[Output, Output]:
    """Two systems, a run's folder or a file of translations each, checked to be of one test set.

    A file needs the two files of its test set; a run has its own. Raises ``UsageError`` where one
    is missing, ``UserError`` for two test sets.
    """
    files = {"--references": references, "--sources": sources}
    missing = [option for option, path in files.items() if path is None]
    if len(missing) == 1:
        raise UsageError(f"{missing[0]} missing: --references and --sources go together")
    systems = []
    for label, path in (("system A", a), ("system B", b)):
        if path.is_dir():
            systems.append(_read_run(label, path))
        elif references and sources:
            systems.append(read_files(path, references, sources, label))
        else:
            raise UsageError(
                f"{label} {str(path)!r} is no run's folder; for a file of translations give "
                "--references and --sources too"
            )
    _require_one_text(*systems)
    return systems[0], systems[1]


def _read_run(label: str, run: Path) -> Output:
    """The test set of a run as the run wrote it down."""
    if not is_run(run):
        done = finished_runs(run)
        way = f"one run in it, such as {str(done[0])!r}" if done else "one that has translations"
        reason = "is no file and not the folder of one run"
        raise UserError(f"{label} {str(run)!r} {reason}; name {way}")
    result, settings = read_outputs(run), read_settings(run)
    name = f"{run} ({settings.model.attention}, seed {settings.training.seed})"
    return Output(name, result.sources, result.references, result.hypotheses)


def _require_one_text(first: Output, second: Output) -> None:
    """Refuse another test set: nothing would be paired. White space does not matter to a score."""
    for what in ("references", "sources"):
        ours, theirs = (
            [" ".join(text.split()) for text in getattr(output, what)] for output in (first, second)
        )
        if ours == theirs:
            continue
        how = f"{len(ours):,} and {len(theirs):,} lines"
        if len(ours) == len(theirs):
            line = next(n for n, (x, y) in enumerate(zip(ours, theirs, strict=True), 1) if x != y)
            form = [normalize("NFC", x) for x in ours] == [normalize("NFC", x) for x in theirs]
            note = " in Unicode form alone; a run's text is in form NFC" if form else ""
            how = f"first in line {line:,}{note}"
        raise UserError(
            f"{first.name} and {second.name} are not of one test set: their {what} differ ({how}); "
            "give two outputs for the same sentences in the same order"
        )


def assign(
    output: Output, counts: Int[ndarray, "sentences columns"], edges: tuple[int, ...]
) -> Int[ndarray, "sentences"]:
    """The bucket of each sentence, -1 outside; `UserError` if fewer than two can be scored.

    ``counts`` are the sentences' BLEU statistics: empty references leave nothing to score.
    """
    scored = counts[:, REFERENCE] > 0
    assigned, labels = Buckets(edges).assign(output.words), bucket_labels(edges)
    filled = [name for place, name in enumerate(labels) if scored[assigned == place].any()]
    if len(filled) < 2:
        named = f"only bucket {filled[0]}" if filled else "no bucket"
        raise UserError(
            f"the {scored.sum():,} sentences of {output.name} whose references have words fill "
            f"{named} of {', '.join(labels)}; two are needed: give sentences of more lengths or "
            "other --edges"
        )
    return assigned


def notes(output: Output, assigned: Int[ndarray, "sentences"], edges: tuple[int, ...]) -> list[str]:
    """What a reader should know of the text: sentences outside, empty lines, tokenised text."""
    outside = int((assigned < 0).sum())
    blank, empty = (
        sum(not text.strip() for text in side) for side in (output.references, output.hypotheses)
    )
    tokenised = sum(text.endswith(" .") for text in output.hypotheses)
    lines = {
        f"Outside the buckets, in no row of them: {counted(outside, 'sentence')} of fewer than "
        f"{edges[0]} source words.": True,
        f"Empty references: {blank:,}.": blank,
        f"Empty hypotheses of {output.name}: {empty:,}.": empty,
        f"{tokenised:,} hypotheses of {output.name} end in a full stop after a space: "
        "detokenise tokenised text before it is scored.": tokenised >= TOKENISED_LINES,
    }
    return [line for line, said in lines.items() if said]
