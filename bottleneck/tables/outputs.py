"""The output of a system, ours or any other, beside its references and sources, line by line.

Text is scored as it stands: nothing is normalised, so that scores are those of sacreBLEU's own
command on the same files. (A byte-order mark alone is dropped: it is no part of the first word.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from ..corpus.files import lines_as_given
from ..results.discovery import find_runs
from ..results.folders import is_run, read_outputs, read_settings
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


def read_files(hypotheses: Path, references: Path, sources: Path) -> Output:
    """The output of a system in three files, named by their options.

    A ``UserError`` where they have not equally many lines, or one cannot be read.
    """
    files = {"--references": references, "--sources": sources}
    return _from_file("--hypotheses", hypotheses, files)


def read_systems(
    a: Path, b: Path, references: Path | None, sources: Path | None
) -> tuple[Output, Output]:
    """Two systems, a run's folder or a file of translations each, checked to be of one test set.

    A file needs the two files of its test set; a run that is given with them is checked against
    them. Raises ``UsageError`` where one is missing, ``UserError`` for two test sets.
    """
    options = {"--references": references, "--sources": sources}
    files = {option: path for option, path in options.items() if path is not None}
    if len(files) == 1:
        missing = next(option for option in options if option not in files)
        raise UsageError(f"{missing} missing: --references and --sources go together")
    first, second = (_read(f"system {name}", path, files) for name, path in (("A", a), ("B", b)))
    _require_one_text(first, second)
    return first, second


def _read(label: str, path: Path, files: Mapping[str, Path]) -> Output:
    """One system; with a run, the files of the test set must hold the run's own text."""
    if path.is_dir():
        result = _from_run(label, path)
        if files:
            references, sources = (lines_as_given(str(file), key) for key, file in files.items())
            named = f"--references {str(files['--references'])!r}"
            _require_one_text(result, Output(named, sources, references, ()))
        return result
    if files:
        return _from_file(label, path, files)
    raise UsageError(
        f"{label} {str(path)!r} is no run's folder; for a file of translations give "
        "--references and --sources too"
    )


def _from_file(label: str, path: Path, files: Mapping[str, Path]) -> Output:
    """A file of translations with the files of its test set, a line for a line."""
    hypotheses = lines_as_given(str(path), label)
    texts = {option: lines_as_given(str(file), option) for option, file in files.items()}
    for option, lines in texts.items():
        if len(lines) != len(hypotheses):
            raise UserError(
                f"{label} {str(path)!r} has {len(hypotheses):,} lines and {option} "
                f"{str(files[option])!r} has {len(lines):,}; each line must be of the same sentence"
            )
    return Output(str(path), texts["--sources"], texts["--references"], hypotheses)


def _from_run(label: str, run: Path) -> Output:
    """The test set of a run as the run wrote it down."""
    if not is_run(run):
        done = find_runs(run).done
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
            pairs = list(zip(ours, theirs, strict=True))
            line = next(place for place, (x, y) in enumerate(pairs, 1) if x != y)
            form = all(normalize("NFC", x) == normalize("NFC", y) for x, y in pairs)
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
    if not scored.any():
        raise UserError(
            f"the references for {output.name} are all empty, and nothing can be scored: give "
            "the translations that people made"
        )
    assigned, labels = Buckets(edges).assign(output.words), bucket_labels(edges)
    filled = [name for place, name in enumerate(labels) if scored[assigned == place].any()]
    if len(filled) < 2:
        named = f"only bucket {filled[0]}" if filled else "no bucket"
        which = "sources" if scored.all() else "sources whose references have words"
        raise UserError(
            f"the {scored.sum():,} {which} fill {named} of {', '.join(labels)}; two are needed: "
            "give sentences of more lengths or other --edges"
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
