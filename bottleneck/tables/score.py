"""Scores of any system's output by source length, and of two systems on one test set (B - A).

Text is not normalised: scores are those of sacreBLEU's own command on the same files.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
from sacrebleu.metrics import CHRF

from ..claims.verdict import READ_FROM, small_buckets
from ..corpus.files import read_lines
from ..corpus.vocabulary import IN_CHARACTERS, count_words, spaceless
from ..results.folders import is_run, read_settings, read_texts
from ..scoring.bleu import (
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
    chrf,
)
from ..scoring.bootstrap import (
    bootstrap_p,
    difference,
    draw,
    estimate,
    randomisation_p,
    ratio_of_sums,
)
from ..settings.concerns import ScoringSettings, bucket_labels, bucket_members
from ..settings.errors import UsageError, UserError, counted
from .page import Page
from .render import BUCKET_COLUMNS, Column, filled_table, with_bounds

COLUMNS = [
    *BUCKET_COLUMNS,
    Column("BLEU", "bleu", "{:.1f}"),
    Column("BP", "brevity_penalty", "{:.2f}"),
    Column("length", "length_ratio", "{:.2f}"),
    Column("chrF", "chrf", "{:.1f}"),
    Column("empty", "empty", "{:,.0f}"),
    Column("BLEU\nA", "bleu_a", "{:.1f}"),
    Column("BLEU\nB", "bleu_b", "{:.1f}"),
    Column("B - A", "difference", "{:+.1f}"),
    Column("p\nboot.", "p_bootstrap", "{:.4f}"),
    Column("p\nrandom", "p_randomisation", "{:.4f}"),
    Column("BP\nA", "brevity_penalty_a", "{:.2f}"),
    Column("BP\nB", "brevity_penalty_b", "{:.2f}"),
]
"""How a terminal shows a column of the data: of one system, or of two."""


@dataclass(frozen=True)
class Output:
    """One system's output on a test set: its name in the caption, and the texts line by line."""

    name: str
    sources: Sequence[str]
    references: Sequence[Sequence[str]]
    hypotheses: Sequence[str]


def read_systems(
    systems: Mapping[str, Path], references: Sequence[Path], sources: Path | None
) -> list[Output]:
    """Read systems, by their names in messages: folders of runs, or files for one test set.

    A file of references has one per line, or several that are separated by tabs.
    """
    outputs, gold = [], []
    for label, path in systems.items():
        if is_run(path):
            texts, settings = read_texts(path), read_settings(path)
            name = f"{path} ({settings.model.attention}, seed {settings.training.seed})"
            outputs.append(Output(name, texts["source"], [texts["reference"]], texts["hypothesis"]))
            continue
        if path.is_dir() or not (references and sources):
            raise UsageError(
                f"{label} {str(path)!r} is not the folder of one run; for a file of translations "
                "also give --references and --sources"
            )
        name, hypotheses = _read(path, label, "DH")
        if not gold:  # the test set's files are read once, because they may be pipes
            _, source_lines = _read(sources, "--sources", "S")
            for file in references:
                file_name, lines = _read(file, "--references", "T")
                rows = [line.split("\t") if "\t" in lines[0] else [line] for line in lines]
                wrong = [place for place, row in enumerate(rows, 1) if len(row) != len(rows[0])]
                if wrong:
                    raise UserError(
                        f"--references {file_name!r} line {wrong[0]:,} has a different number of "
                        "references, separated by tabs, than line 1: give each line the same number"
                    )
                gold += map(list, zip(*rows, strict=True))
            if lengths := {len(column) for column in gold} - {len(gold[0])}:
                raise UserError(
                    f"--references have {len(gold[0]):,} and {lengths.pop():,} lines; line by "
                    "line they must belong to the same sentence"
                )
        for file, lines in ((references[0], gold[0]), (sources, source_lines)):
            if len(lines) != len(hypotheses):
                raise UserError(
                    f"{label} {name!r} has {len(hypotheses):,} lines and {str(file)!r} has "
                    f"{len(lines):,}; line by line they must belong to the same sentence"
                )
        outputs.append(Output(name, source_lines, gold, hypotheses))
    for other in outputs[1:]:
        rows = (zip_longest(o.sources, *o.references, fillvalue="") for o in (outputs[0], other))
        for number, (ours, theirs) in enumerate(zip_longest(*rows, fillvalue=()), 1):
            if [text.split() for text in ours] != [text.split() for text in theirs]:
                raise UserError(
                    f"{outputs[0].name} and {other.name} have different test sets: sources or "
                    f"references differ (first in line {number:,}); give two outputs for the same "
                    "sentences in the same order"
                )
    return outputs


def _read(path: Path, option: str, kinds: str) -> tuple[str, list[str]]:
    """A file's name and lines; of fairseq's output, lines of the first of ``kinds`` that it has.

    ``H-12<TAB>score<TAB>text`` is translation 12, D the same detokenised, T its reference, S its
    source.
    """
    lines = read_lines(str(path), option)
    pattern = re.compile(r"([STHD])-(\d{1,9})\t(?:[^\t]*\t)?(.*)")
    matches = [match for match in map(pattern.fullmatch, lines) if match]
    for kind in kinds:
        # Backwards, so that the first of several translations stays: it is the best.
        if texts := {int(match[2]): match[3] for match in reversed(matches) if match[1] == kind}:
            return f"{path} (fairseq's {kind} lines)", [texts[number] for number in sorted(texts)]
    return str(path), lines


def score_page(outputs: Sequence[Output], scoring: ScoringSettings, trials: int = 10_000) -> Page:
    """The table of one system, or of two, with a caption on texts and tests."""
    frame, edges = score_data(outputs, scoring, trials), scoring.lower_edges
    gold, two = outputs[0], len(outputs) > 1
    (whole,) = frame[frame["bucket"] == "all"].to_dict("records")
    sizes = dict(zip(bucket_labels(edges), frame["n"], strict=False))
    outside, small = counted(whole["n"] - sum(sizes.values()), "sentence"), small_buckets(sizes)
    chrf_signature = CHRF(references=[[""]] * len(gold.references)).get_signature()
    heads = "AB" if two else ["Hypotheses"]
    lines = [
        *(f"{head}: {output.name}." for head, output in zip(heads, outputs, strict=True)),
        *([f"References: {len(gold.references)} per sentence."] if gold.references[1:] else []),
        "BLEU levels are not comparable across buckets: texts of different lengths have different "
        "n-grams.",
        f"Ranges: 95 % bootstrap over test sentences ({scoring.resamples:,} resamples, seed "
        f"{scoring.seed}); they do not cover a second training run.",
        f"Outside the buckets: {outside} of fewer than {edges[0]} source words.",
        *([f"{IN_CHARACTERS}."] if spaceless(gold.sources) else []),
        *([f"* {small}."] if small else []),
        f"sacreBLEU: {whole['signature']}; chrF: {chrf_signature}",
    ]
    if two:
        name, title = "compare", "Two systems by sentence length: B minus A in BLEU"
        lines += [
            "p: two-sided, not corrected for the number of rows. boot.: bootstrap (Koehn 2004), "
            f"for {READ_FROM} sentences or more. random: approximate randomisation ({trials:,} "
            "trials), which is safer where sentences are few (Riezler and Maxwell 2005).",
            "Interaction: the difference in the longest bucket minus that in the shortest, of "
            f"buckets with {READ_FROM} sentences or more. All: every sentence, also those outside "
            "the buckets.",
        ]
    else:
        name, title, frame = "score", "BLEU by sentence length", frame[frame["bucket"] != "all"]
        lines.append(
            f"All {whole['n']:,} sentences, also those outside the buckets: BLEU "
            f"{whole['bleu']:.2f}, chrF {whole['chrf']:.2f}."
        )
    columns = [column for column in COLUMNS if column.name in frame]
    return Page(name, title, frame, filled_table(title, frame, columns), [], lines)


def score_data(outputs: Sequence[Output], scoring: ScoringSettings, trials: int) -> pd.DataFrame:
    """One row per bucket, one for the whole test set and, for two systems, one for the interaction.

    Columns of two systems end in ``_a`` and ``_b``; a resample has the same sentences for both.
    """
    gold, sides = outputs[0], ("_a", "_b") if len(outputs) > 1 else ("",)
    counts = [
        bleu_statistics(item.hypotheses, *item.references, tokenize=scoring.tokenize)
        for item in outputs
    ]
    lengths = np.array([count_words(source) for source in gold.sources], dtype=np.int64)
    parts = bucket_members(lengths, scoring.lower_edges)
    if not counts[0][:, 1].any():  # the references' tokens
        raise UserError(f"no reference of {gold.name} has words: give another text")
    parts["all"] = np.arange(len(lengths))
    rows, gains = [], []
    for stream, (bucket, part) in enumerate(parts.items()):
        how = {"seed": scoring.seed, "bucket": stream}
        systems, words = [item[part] for item in counts], lengths[part]
        row = {"bucket": bucket, "n": len(words)}
        row["source_words"] = words.mean() if len(words) else None
        weights = draw(len(words), scoring.resamples, **how)
        measured = [estimate(bleu, system[None], weights) for system in systems]
        for side, system, output, score in zip(sides, systems, outputs, measured, strict=True):
            sums, texts = system.sum(axis=0), (output.hypotheses, *output.references)
            row |= {
                **with_bounds(f"bleu{side}", score),
                f"brevity_penalty{side}": float(brevity_penalty(sums)),
                f"length_ratio{side}": float(ratio_of_sums(sums[:2])),  # hypothesis, reference
                f"chrf{side}": chrf(*([lines[place] for place in part] for lines in texts)),
                f"reference_tokens{side}": int(sums[1]),
                f"empty{side}": int((system[:, 0] == 0).sum()),
            }
        if len(outputs) > 1:
            gain = difference(measured[1], measured[0])
            enough = len(words) >= READ_FROM
            row |= with_bounds("difference", gain)
            row["p_bootstrap"] = bootstrap_p(gain) if enough else np.nan
            row["p_randomisation"] = randomisation_p(bleu, *systems, trials, **how)
            gains += [(gain, len(words))] if enough and gain.filled and bucket != "all" else []
        rows.append(row)
    if len(outputs) > 1:
        row = {"bucket": "interaction", "n": 0}
        if len(gains) > 1:
            gain = difference(gains[-1][0], gains[0][0])
            row |= {"n": gains[0][1] + gains[-1][1], **with_bounds("difference", gain)}
            row["p_bootstrap"] = bootstrap_p(gain)
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame = frame.astype({name: "float64" for name in frame if name not in ("bucket", "n")})
    return frame.assign(
        signature=bleu_signature(scoring.tokenize, len(gold.references)),
        resamples=scoring.resamples,
        trials=trials,
        seed=scoring.seed,
    )
