"""Any system's output by source length, and two systems on one test set: B minus A in BLEU.

Text is scored as it stands: nothing is normalised, so that scores are those of sacreBLEU's own
command on the same files. (A byte-order mark alone is dropped: it is no part of the first word.)
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from ..claims.verdict import READ_FROM, small_buckets
from ..corpus.files import lines_as_given
from ..corpus.vocabulary import IN_CHARACTERS, count_words, spaceless, tokenizer_advice
from ..results.folders import finished_runs, is_run, read_settings, read_texts
from ..scoring.bleu import (
    HYPOTHESIS,
    REFERENCE,
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
    chrf,
    chrf_signature,
    chrf_statistics,
    expanded,
    length_ratio,
)
from ..scoring.bootstrap import (
    Estimate,
    Paired,
    Resampling,
    bootstrap_p,
    estimates,
    interaction,
    pair,
)
from ..settings.concerns import Buckets, ScoringSettings, bucket_labels
from ..settings.errors import UsageError, UserError, counted
from .page import Page
from .render import BUCKET_COLUMNS, Column, bounds, filled_table, typed_frame

SCORE_COLUMNS = [
    *BUCKET_COLUMNS,
    Column("BLEU", "bleu", "{:.1f}"),
    Column("BP", "brevity_penalty", "{:.2f}"),
    Column("length", "length_ratio", "{:.2f}"),
    Column("chrF", "chrf", "{:.1f}"),
    Column("empty", "empty", "{:,}"),
]
COMPARE_COLUMNS = [
    *BUCKET_COLUMNS,
    Column("BLEU\nA", "bleu_a", "{:.1f}"),
    Column("BLEU\nB", "bleu_b", "{:.1f}"),
    Column("B - A", "difference", "{:+.1f}"),
    Column("p\nboot.", "p_bootstrap", "{:.4f}"),
    Column("p\nrandom", "p_randomisation", "{:.4f}"),
    Column("BP\nA", "brevity_penalty_a", "{:.2f}"),
    Column("BP\nB", "brevity_penalty_b", "{:.2f}"),
]
COUNTS = ("bucket", "n", "reference_tokens", "empty", "resamples", "trials", "seed", "signature")
"""Columns of whole numbers and texts."""
FAIRSEQ = re.compile(r"([STHD])-(\d{1,9})\t(?:[^\t]*\t)?(.*)")
"""A line of fairseq-generate: its kind, the number of its sentence, a score, the text."""
SUBWORDS = {"@@ ": "sed -r 's/@@( |$)//g'", "▁": "sed 's/ //g; s/▁/ /g; s/^ //'"}
"""What subword-nmt and sentencepiece leave in text, and a command that joins the subwords."""


@dataclass(frozen=True)
class Output:
    """What one system made of a test set: its name in the caption, then texts line by line."""

    name: str
    sources: Sequence[str]
    references: Sequence[Sequence[str]]
    hypotheses: Sequence[str]

    @property
    def words(self) -> Int[ndarray, "sentences"]:
        """Source length in words, as a corpus counts them."""
        return np.array([count_words(source) for source in self.sources], dtype=np.int64)


def read_files(
    hypotheses: Mapping[str, Path], references: Sequence[Path], sources: Path
) -> dict[str, Output]:
    """The outputs of systems, by what messages call them, on the test set of the other files.

    Each file is read once, for it may be a pipe. A ``UserError`` where they have not equally many
    lines, or one cannot be read.
    """
    outputs = {label: _read(path, label, "DH") for label, path in hypotheses.items()}
    gold = [("--references", *_read(path, "--references", "T")) for path in references]
    given = ("--sources", *_read(sources, "--sources", "S"))
    for label, (name, translated) in outputs.items():
        for option, file, lines in (*gold, given):
            if len(lines) != len(translated):
                raise UserError(
                    f"{label} {name!r} has {len(translated):,} lines and {option} {file!r} has "
                    f"{len(lines):,}; each line must be of the same sentence"
                )
    texts = [column for _, file, lines in gold for column in _columns(file, lines)]
    return {
        label: Output(name, given[-1], texts, translated)
        for label, (name, translated) in outputs.items()
    }


def _read(path: Path, option: str, kinds: str) -> tuple[str, list[str]]:
    """A file's name and lines; of fairseq's output those of the first kind that it has, by number.

    ``H-12<TAB>score<TAB>text`` is a translation, D the same detokenised, T its reference, S its
    source. Of several translations of a sentence the first is the best.
    """
    lines, known = lines_as_given(str(path), option), {kind: {} for kind in kinds}
    for match in filter(None, map(FAIRSEQ.fullmatch, lines)):
        if match[1] in known:
            known[match[1]].setdefault(int(match[2]), match[3])
    for kind, texts in known.items():
        if texts:
            return f"{path} (fairseq's {kind} lines)", [texts[number] for number in sorted(texts)]
    return str(path), lines


def _columns(file: str, lines: list[str]) -> list[list[str]]:
    """References of each line that are separated by tabs, if the first line has tabs.

    A ``UserError`` where a line then has fewer or more.
    """
    rows = [line.split("\t") for line in lines]
    if len(rows[0]) == 1:
        return [lines]
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise UserError(
                f"--references {file!r} line {number:,} has {counted(len(row), 'reference')} and "
                f"line 1 has {len(rows[0])}, separated by tabs: give each line as many"
            )
    return [list(column) for column in zip(*rows, strict=True)]


def read_systems(
    paths: Sequence[Path], references: Sequence[Path], sources: Path | None
) -> list[Output]:
    """One system or two, a run's folder or a file of translations each, of one test set.

    A file needs the files of its test set (else a ``UsageError``); a run has its own. Two test
    sets are a ``UserError``: nothing would be paired. White space does not matter to a score.
    """
    outputs, files = {}, {}
    labels = ("system A", "system B")[: len(paths)]
    for label, path in zip(labels, paths, strict=True):
        if path.is_dir() and is_run(path):
            result, settings = read_texts(path), read_settings(path)
            name = f"{path} ({settings.model.attention}, seed {settings.training.seed})"
            texts = result.sources, [result.references], result.hypotheses
            outputs[label] = Output(name, *texts)
        elif references and sources and not path.is_dir():
            files[label] = path
        else:
            inside = finished_runs(path)[:4] if path.is_dir() else []
            way = "for a file of translations give --references and --sources too"
            way = f"name one of its runs: {', '.join(map(str, inside))}" if inside else way
            raise UsageError(f"{label} {str(path)!r} is not the folder of one run; {way}")
    if files:
        outputs |= read_files(files, references, sources)
    systems = [outputs[label] for label in labels]
    for what in ("references", "sources") if len(systems) > 1 else ():
        texts = [s.references if what == "references" else [s.sources] for s in systems]
        rows = (
            [[text.split() for text in row] for row in zip(*side, strict=True)] for side in texts
        )
        lines = enumerate(zip_longest(*rows), 1)
        if line := next((line for line, (first, second) in lines if first != second), None):
            raise UserError(
                f"{systems[0].name} and {systems[1].name} are not of one test set: their {what} "
                f"differ (first in line {line:,}); give two outputs for the same sentences in the "
                "same order"
            )
    return systems


def score_page(output: Output, scoring: ScoringSettings) -> Page:
    """The table of one system, and what stands under it."""
    texts = output.hypotheses, *output.references
    counts = bleu_statistics(*texts, tokenize=scoring.tokenize)
    signature = bleu_signature(scoring.tokenize, len(output.references))
    characters = expanded(chrf_statistics(*texts))
    edges = scoring.lower_edges
    assigned = _assign(output, counts, edges)
    rows = []
    for place, name in enumerate(bucket_labels(edges)):
        inside = assigned == place
        sums, words = counts[inside].sum(axis=0), output.words[inside]
        measured = Estimate(np.nan, np.full(scoring.resamples, np.nan))
        if sums[REFERENCE]:  # resampled as a run's own table has it
            how = {"seed": scoring.seed, "bucket": place}
            (measured,) = estimates(bleu, [counts[inside]], scoring.resamples, **how)
        rows.append(
            {
                "bucket": name,
                "n": len(words),
                "source_words": words.mean() if len(words) else None,
                "bleu": measured.value,
                **bounds("bleu", measured),
                "brevity_penalty": float(brevity_penalty(sums)),
                "length_ratio": float(length_ratio(sums)),
                "chrf": float(chrf(characters[inside].sum(axis=0))),
                "reference_tokens": int(sums[REFERENCE]),
                "empty": int((counts[inside][:, HYPOTHESIS] == 0).sum()),
                "signature": signature if measured.filled else "",
            }
        )
    lines = [
        f"All {len(counts):,} sentences, those outside the buckets too: BLEU "
        f"{bleu(counts.sum(axis=0)):.2f}, chrF {chrf(characters.sum(axis=0)):.2f}.",
        f"Ranges: 95 % bootstrap over test sentences ({scoring.resamples:,} resamples, seed "
        f"{scoring.seed}); they say nothing of a second training.",
        "BP: brevity penalty; length: tokens of the hypotheses over those of the references; "
        "empty: hypotheses without a token, which are scored as any other.",
        f"sacreBLEU: {signature}; chrF: {chrf_signature(len(output.references))}",
    ]
    table = "score", "BLEU by sentence length", SCORE_COLUMNS
    return _page(*table, rows, lines, {"Hypotheses": output}, assigned, edges)


def paired_page(
    a: Output, b: Output, edges: tuple[int, ...], how: Resampling, tokenize: str = "13a"
) -> Page:
    """The comparison of two systems: a row per bucket, the whole test set, the interaction.

    BLEU, and differences in it, are 0 to 100; ``p_...`` are 0 to 1; intervals are 95 %.
    """
    texts = ((output.hypotheses, *output.references) for output in (a, b))
    first, second = (bleu_statistics(*text, tokenize=tokenize) for text in texts)
    assigned = _assign(a, first, edges)
    parts = {name: assigned == place for place, name in enumerate(bucket_labels(edges))}
    parts["all"] = np.full(len(assigned), True)
    constant = {"resamples": how.resamples, "trials": how.trials, "seed": how.seed}
    nothing = Estimate(np.nan, np.full(how.resamples, np.nan))
    rows: list[dict[str, Any]] = []
    read = []
    for stream, (name, part) in enumerate(parts.items()):
        ours, theirs = first[part], second[part]
        result = Paired(nothing, nothing, np.nan)
        if ours[:, REFERENCE].any():
            result = pair(bleu, ours, theirs, how, bucket=stream)
            if name != "all" and len(ours) >= READ_FROM:
                read.append((len(ours), result.gain))
        row: dict[str, Any] = {"bucket": name, "n": len(ours)}
        for side, measured in (("bleu_a", result.a), ("bleu_b", result.b)):
            row |= {side: measured.value, **bounds(side, measured)}
        row |= _difference(result.gain, len(ours))
        row["p_randomisation"] = result.p_randomisation
        row["brevity_penalty_a"] = float(brevity_penalty(ours.sum(axis=0)))
        row["brevity_penalty_b"] = float(brevity_penalty(theirs.sum(axis=0)))
        rows.append(row)
    gain, n = nothing, 0
    if len(read) > 1:
        gain, n = interaction([gain for _, gain in read]), read[0][0] + read[-1][0]
    rows.append({"bucket": "interaction", "n": n, **_difference(gain, n)})
    signature = bleu_signature(tokenize, len(a.references))
    rows = [row | constant | {"signature": signature if row["n"] else ""} for row in rows]
    lines = [
        f"Ranges: 95 % paired bootstrap over test sentences ({how.resamples:,} resamples, the same "
        f"for both systems; {how.trials:,} trials of approximate randomisation; seed {how.seed}).",
        "p: two-sided, not corrected for the number of rows; by the bootstrap (Koehn 2004; not of "
        f"under {READ_FROM} sentences), and by approximate randomisation, the safer one where "
        "sentences are few (Riezler and Maxwell 2005).",
        "Interaction: the difference in the longest bucket minus that in the shortest, of those "
        f"with {READ_FROM} sentences or more. All: every sentence, those outside the buckets too.",
        f"sacreBLEU: {signature}",
    ]
    table = "compare", "Two systems by sentence length: B minus A in BLEU", COMPARE_COLUMNS
    page = _page(*table, rows, lines, {"A": a, "B": b}, assigned, edges)
    page.table.rows[-3].end_section = True
    return page


def _difference(gain: Estimate, n: int) -> dict[str, Any]:
    """A difference with its interval and p-value."""
    p_value = bootstrap_p(gain) if n >= READ_FROM else np.nan
    return {"difference": gain.value, **bounds("difference", gain), "p_bootstrap": p_value}


def _assign(
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


def _page(
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: list[dict[str, Any]],
    lines: Sequence[str],
    outputs: dict[str, Output],
    assigned: Int[ndarray, "sentences"],
    edges: tuple[int, ...],
) -> Page:
    """The rows as a table, with what a reader should know of the texts in its caption."""
    outside = counted(int((assigned < 0).sum()), "sentence")
    small = small_buckets({row["bucket"]: row["n"] for row in rows[: len(edges)]})
    gold = next(iter(outputs.values()))
    caption = [
        *(f"{label}: {output.name}." for label, output in outputs.items()),
        *([f"References: {len(gold.references)} per sentence."] if gold.references[1:] else []),
        "BLEU levels are not comparable across buckets: texts of other lengths have other n-grams.",
        *lines,
        f"Outside the buckets, in no row of them: {outside} of fewer than {edges[0]} source words.",
        *([f"{IN_CHARACTERS}."] if spaceless(gold.sources) else []),
        *([f"* {small}."] if small else []),
    ]
    frame = typed_frame(rows, COUNTS)
    return Page(name, title, frame, filled_table(title, frame, columns), [], caption)


def text_warnings(outputs: Sequence[Output], tokenize: str) -> list[str]:
    """What is likely to be wrong with systems' texts, or with this tokenizer for them."""
    texts = {f"hypotheses of {output.name}": output.hypotheses for output in outputs}
    # So many look tokenised to sacreBLEU's own command, too.
    lines = [
        f"100 or more {name} end in a full stop after a space: detokenise tokenised text before it "
        "is scored"
        for name, hypotheses in texts.items()
        if sum(text.endswith(" .") for text in hypotheses) >= 100
    ]
    gold = outputs[0]
    texts |= {"references": [*chain(*gold.references)], "sources": gold.sources}
    for mark, command in SUBWORDS.items():
        counts = {name: sum(mark in line for line in text) for name, text in texts.items()}
        found = [f"{name} ({counted(count, 'line')})" for name, count in counts.items() if count]
        if found:
            lines.append(f"Subwords ({mark!r}) in {', '.join(found)}: join them first, `{command}`")
    return lines + tokenizer_advice(gold.references[0], tokenize, "--tokenize ")
