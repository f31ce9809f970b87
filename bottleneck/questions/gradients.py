"""C8: does attention shorten the path for gradients?

For each target word with gold links: the norm of the gradient of its own loss at the embedding of
its aligned source word, over the norm at the last source position (the end token, whose state is
h_Tx, the context of the arm without attention). A target word with several source words counts
once for each. The ratio's geometric mean by steps is the curve: what is handed back through n steps
is a product of n factors.

Steps are counted in words, in two ways that are the same in every arm: by the shortest way without
attention, from the source word's state through the encoder to h_Tx and, as the context enters at
every step of the decoder, one step on (``steps``); and through s_0 and every step of the decoder
(``chain``). The gradient at the last position includes the decoder's part of both ways, so that the
ratio is of the encoder's part. In a two-way encoder the steps are those of the forward direction.

A ratio under `LEAST_RATIO`, zero included, has no useful logarithm: it counts as that much and is
counted as vanished. A link without any gradient at the last position has no ratio and is left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf, isfinite, isinf, isnan, log, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..claims.verdict import (
    FAMILY,
    MARKED_BELOW,
    Verdict,
    marked,
    needs_learned,
    numbers,
    two_digits,
)
from ..corpus.pair import SentencePair
from ..corpus.tokens import tokenize
from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import draw
from ..settings.buckets import bucket_labels
from ..tables.page import Page
from .arms import Arm, arms_of, in_buckets, interval_of
from .censored import Censored, censor
from .distances import means_by_distance, sums_by_distance
from .estimates import KEYS, Estimate, Estimates
from .question import (
    Axes,
    Column,
    Columns,
    Grid,
    Line,
    Probed,
    Question,
    Row,
    Tell,
    by_bucket,
    grade,
)

if TYPE_CHECKING:
    from .subject import Subject

SENTENCES = 60
"""Test sentences of each bucket at most, the first ones."""
NETWORKS = {"trained": "", "untrained": "untrained"}
"""The controls by the names of the probe's columns."""
BANDS = (1, 6, 11, 21, 31, 41)
"""First steps of each band of the curve."""
BAND_NAMES = bucket_labels(BANDS)
WAYS = {"half_distance": "steps", "half_distance_chain": "chain"}
"""Measures of the half-distance, by the count of steps."""
LEAST_RATIO = 1e-12
"""What a lesser ratio counts as."""
BEYOND = "at least"
"""Note of an end of a half-distance that lies beyond the steps that were tested."""
RULE = (
    "Read is, of each target word, the norm of its own loss's gradient at its aligned source word, "
    "relative to that at the last source position, by the steps between the two words without "
    "attention, in trained networks. Two numbers are judged: the half-distance (steps over which "
    "the exponential that fits the ratio best halves, all lengths together) and the ratio in the "
    "farthest band of steps that both arms have. A number is clear if its 95 % interval (bootstrap "
    "over sentences) with attention lies above the one without; a half-distance beyond the tested "
    "steps counts as infinite. Held if both numbers are clear in every arm with attention; partly "
    "if the same one of them is clear in every arm; otherwise not held. Not measured without both "
    "arms. Arms of equal weights (uniform) are reported and do not count. "
    f"{FAMILY} {needs_learned('none without attention, or none with it')}"
)


def probe(subject: "Subject", tell: Tell, sentences: int = SENTENCES) -> Columns:
    """A row for each gold link: its steps, and both norms in the trained and untrained network.

    ``sentences`` are the most of each bucket.
    """
    from .gradient_norms import gradient_norms

    pairs = chosen(subject, sentences)
    columns = links_of(subject, pairs)
    for network, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        tell(f"gradients, {network}")
        norms = gradient_norms(subject, weights, pairs)
        places = zip(*(columns[name] for name in ("sentence", "target", "source", "last")),
                     strict=True)  # fmt: skip
        both = [(norms[row][j, i], norms[row][j, end]) for row, j, i, end in places]
        aligned, last = np.array(both, np.float64).reshape(-1, 2).T
        columns |= {f"{network}_aligned": aligned, f"{network}_last": last}
    return columns


def chosen(subject: "Subject", sentences: int) -> tuple[SentencePair, ...]:
    """The first test sentences of each bucket that have gold links."""
    linked = [pair for pair in subject.corpus.test if pair.links]
    assigned = subject.buckets.assign(np.array([pair.words for pair in linked], np.int64))
    places = [np.flatnonzero(assigned == bucket) for bucket in range(len(subject.buckets.names))]
    return tuple(linked[row] for rows in places for row in rows[:sentences].tolist())


def links_of(subject: "Subject", pairs: Sequence[SentencePair]) -> dict[str, ndarray]:
    """Sentence, length, places of both words (the source's as read) and steps of each link."""
    rows: dict[str, list[int]] = defaultdict(list)
    for sentence, pair in enumerate(pairs):
        end = len(tokenize(pair.source))
        for source, target in pair.links:
            place = end - 1 - source if subject.settings.model.reverse_source else source
            rows["sentence"].append(sentence)
            rows["source_words"].append(pair.words)
            rows["source"].append(place)
            rows["target"].append(target)
            rows["last"].append(end)
            rows["steps"].append(end - place + 1)
            rows["chain"].append(end - place + target + 1)
    return {name: np.array(column, np.int64) for name, column in rows.items()}


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Half-distances by bucket, and over all lengths the curve by bands of steps."""
    return [row for arm in arms_of(probed) for row in _summary(arm)]


def _summary(arm: Arm) -> Iterator[Row]:
    first, scoring = arm.runs[0].found, arm.settings.scoring
    sentence = first["sentence"].astype(np.int64)
    words = np.zeros(sentence.max() + 1)
    words[sentence] = first["source_words"]
    buckets = [*in_buckets(arm.runs[0], words)]
    everywhere = (len(buckets), "", np.ones(len(words), bool))
    for place, bucket, inside in [*buckets, everywhere]:
        if not inside.any():
            continue
        weights = draw(int(inside.sum()), scoring.resamples, seed=scoring.seed, bucket=place)
        for network, control in NETWORKS.items():
            keys = {"bucket": bucket, "control": control}
            for measure, way in WAYS.items():
                end = 1 + max(int(run.found[way].max()) for run in arm.runs)
                sums = np.stack([log_sums(run.found, network, run.found[way], len(words), end)
                                 for run in arm.runs])  # fmt: skip
                counted = keys | {"n": int(inside[sentence].sum())}
                yield from _half_rows(arm, measure, sums[:, inside], weights, counted)
            if not bucket:
                yield from _curve_rows(arm, network, weights, keys)


def log_sums(
    probed: Columns, network: str, distance: Float[ndarray, "links"], sentences: int, distances: int
) -> Float[ndarray, "sentences distances 3"]:
    """Of each sentence and distance: the sum of log ratios, the links, and the vanished links."""
    used = probed[f"{network}_last"] > 0
    ratio = probed[f"{network}_aligned"][used] / probed[f"{network}_last"][used]
    logs = np.log(np.maximum(ratio, LEAST_RATIO))
    sums = np.stack([logs, np.ones(len(logs)), ratio < LEAST_RATIO], axis=-1)
    sentence, distance = (row[used].astype(np.int64) for row in (probed["sentence"], distance))
    return sums_by_distance(sentence, distance, sums, sentences=sentences, distances=distances)


class Curve(NamedTuple):
    """Geometric mean ratio at each distance that has links in every seed; counts over all seeds."""

    distances: Int[ndarray, "distances"]
    ratios: tuple[Resampled, ...]
    links: Int[ndarray, "distances"]
    vanished: Int[ndarray, "distances"]


def fading_curve(
    sums: Float[ndarray, "seeds sentences distances 3"],
    weights: Float[ndarray, "resamples sentences"],
) -> Curve:
    """The curve of these `log_sums`; the mean over seeds is geometric too."""
    filled = np.flatnonzero((sums[..., 1].sum(axis=1) > 0).all(axis=0))
    logs = means_by_distance(sums[:, :, filled, :2], weights)
    counts = sums[:, :, filled].sum(axis=(0, 1)).round().astype(np.int64)
    ratios = tuple(Resampled(float(np.exp(y.value)), np.exp(y.draws)) for y in logs)
    return Curve(filled, ratios, counts[:, 1], counts[:, 2])


def half_distance(curve: Curve) -> Censored | None:
    """Steps over which the exponential that fits the curve best halves; None under two distances.

    The fit is least squares of the log ratio on distance, each distance weighted by its links (in a
    resample that lacks it by none): every link counts, where the curve's first crossing of a half
    would depend on its first point, and come early by noise. "At least" the tested span, from the
    nearest to the farthest distance, where the exponential does not halve within it; a curve that
    rises or is flat never does.
    """
    if len(curve.distances) < 2:
        return None
    values = np.log([[ratio.value for ratio in curve.ratios]])
    draws = np.log(np.stack([ratio.draws for ratio in curve.ratios], axis=-1))
    span = float(np.ptp(curve.distances))
    (value,), halves = (censor(_halving(curve, rows), 0.0, span) for rows in (values, draws))
    return Censored(float(value), halves, 0.0, span)


def _halving(curve: Curve, logs: Float[ndarray, "rows distances"]) -> Float[ndarray, "rows"]:
    """Steps to a half by weighted least squares of each row on distance.

    Infinite where nothing is lost, nan with fewer than two distances.
    """
    there = np.isfinite(logs)
    weights = curve.links * there
    y = np.where(there, logs, 0.0)
    total = weights.sum(axis=-1, keepdims=True)
    centre = (weights * curve.distances).sum(axis=-1, keepdims=True) / np.where(total, total, 1.0)
    x = weights * (curve.distances - centre)
    spread = (x * (curve.distances - centre)).sum(axis=-1)
    fitted = spread > 0
    slopes = np.where(fitted, (x * y).sum(axis=-1) / np.where(fitted, spread, 1.0), np.nan)
    steps = log(0.5) / np.where(slopes < 0, slopes, -1.0)
    return np.where(slopes < 0, steps, np.where(np.isnan(slopes), np.nan, np.inf))


def _half_rows(
    arm: Arm, measure: str, sums: Float[ndarray, "..."], weights: ndarray, keys: Row
) -> Iterator[Row]:
    """The half-distance of the mean curve, then of each seed's.

    ``note`` says which of value, low and high lie beyond what was tested: ``;;at least``.
    """
    mean = half_distance(fading_curve(sums, weights))
    if mean is None:
        return
    ends = (mean.value, mean.interval.low, mean.interval.high)
    value, low, high = np.clip(ends, mean.lowest, mean.highest).tolist()
    note = ";".join(BEYOND if np.isposinf(end) else "" for end in ends)
    yield arm.row(measure, value, low=low, high=high, note=note, **keys)
    once = np.ones((1, weights.shape[1]))
    for run, part in zip(arm.runs, sums, strict=True):
        alone = half_distance(fading_curve(part[None], once))
        if alone is not None:
            yield arm.seed_row(run, measure, alone.shown, note=alone.side, **keys)


def _curve_rows(arm: Arm, network: str, weights: ndarray, keys: Row) -> Iterator[Row]:
    """The ratio in each band, a row for each seed below it; how many links had no gradient."""
    sums = []
    for run in arm.runs:
        band = np.searchsorted(BANDS, run.found["steps"], side="right") - 1.0
        sums.append(log_sums(run.found, network, band, weights.shape[1], len(BANDS)))
    curve = fading_curve(np.stack(sums), weights)
    for band, ratio, n in zip(curve.distances, curve.ratios, curve.links.tolist(), strict=True):
        part = keys | {"part": BAND_NAMES[band], "n": n}
        yield arm.row("ratio", ratio.value, **part, **interval_of(ratio))
        for run, seed in zip(arm.runs, sums, strict=True):
            logs, links, _ = seed[:, band].sum(axis=0)
            yield arm.seed_row(run, "ratio", float(np.exp(logs / links)), **part)
    total = int(curve.links.sum())
    vanished = int(curve.vanished.sum()) / total if total else nan
    left_out = sum(np.count_nonzero(~(run.found[f"{network}_last"] > 0)) for run in arm.runs)
    yield arm.row("vanished", vanished, **keys, n=total)
    yield arm.row("left_out", float(left_out), **keys, n=total + left_out)


@dataclass(frozen=True)
class Half(Estimate):
    """A half-distance; ends are infinite beyond the steps that were ``tested``."""

    tested: float = nan

    def end(self, value: float) -> str:
        """The value or one of its ends in steps: ``5.0``, ``over 66``."""
        return f"over {self.tested:.0f}" if isinf(value) else f"{value:.1f}"

    def phrase(self) -> str:
        """``halves every 5.0 [4.0, 6.0] steps``; beyond the tested steps there is no number."""
        value, low, high = map(self.end, (self.value, self.low, self.high))
        if not isinf(self.value):
            return f"halves every {value} [{low}, {high}] steps"
        lower = f" (at the interval's lower end every {low})" if isfinite(self.low) else ""
        return f"does not halve within {self.tested:.0f} steps{lower}"


def opened(estimate: Estimate) -> Half:
    """A half-distance as it is stored, its ends within the tested steps, with infinite ends."""
    ends = (estimate.value, estimate.low, estimate.high)
    sides = f"{estimate.note};;".split(";")[:3]
    value, low, high = (
        inf if side == BEYOND else end for end, side in zip(ends, sides, strict=True)
    )
    tested = max((end for end, side in zip(ends, sides, strict=True) if side), default=nan)
    return Half(value, low, high, estimate.n, estimate.note, tested)


def decide(estimates: Estimates | None) -> Sequence[Verdict]:
    """C8: with attention a gradient fades later, and more of it arrives from far away."""
    reason = "no gradient was measured: run `bottleneck study gradients`"
    if estimates is not None:
        halves = _halves(estimates, "")
        none = next((arm for arm in halves if estimates.attention(arm) == "none"), None)
        attending = [arm for arm in estimates.arms(selective=True) if arm in halves]
        reason = "both arms are needed, with attention and without, that differ in nothing else"
        if none and attending:
            farthest = {arm: _farthest(estimates, none, arm) for arm in attending}
            reason = "the arms share no band of steps"
            if all(farthest.values()):
                return [_judge(estimates, none, farthest)]
    return [Verdict("C8", "not measured", RULE, reason)]


def _halves(estimates: Estimates, control: str) -> dict[str, Half]:
    """The half-distance over all lengths of each arm that has one."""
    stored = {arm: estimates.get("half_distance", arm, control=control) for arm in estimates.arms()}
    return {arm: opened(estimate) for arm, estimate in stored.items() if estimate is not None}


def _farthest(estimates: Estimates, *arms: str) -> str:
    """The last band that all of these arms have; empty where there is none."""
    shared = [
        band for band in BAND_NAMES if all(estimates.get("ratio", arm, part=band) for arm in arms)
    ]
    return shared[-1] if shared else ""


def _judge(estimates: Estimates, none: str, farthest: dict[str, str]) -> Verdict:
    """The rule; ``farthest`` is the band that each arm with attention shares with ``none``."""

    def faded(control: str) -> str:
        halves = _halves(estimates, control)
        return ", ".join(f"{arm} {half.phrase()}" for arm, half in halves.items())

    halves, clauses = _halves(estimates, ""), [f"the gradient of {faded('')}"]
    half, slower, more = halves[none], True, True
    for arm, band in farthest.items():
        ours, theirs = (estimates.get("ratio", name, part=band) for name in (arm, none))
        slower = slower and halves[arm].low > half.high
        more = more and ours.low > theirs.high
        clauses.append(
            f"over {band} steps it is {_ratio_text(ours)} times that at the last position with "
            f"{arm}, {_ratio_text(theirs)} times with {none}"
        )
    if start := faded("untrained"):
        clauses.append(f"before training that of {start}")
    if marked(half.n):
        clauses.append(f"under {MARKED_BELOW} links (n = {half.n})")
    ends = (end if isfinite(end) else nan for end in (half.value, half.low, half.high))
    number = numbers(f"half-distance in steps, {none}", *ends)
    verdict = grade(held=slower and more, partly=slower or more)
    return Verdict("C8", verdict, RULE, "; ".join(clauses), **number)


def _ratio_text(ratio: Estimate, form: str = "{} [{}, {}]") -> str:
    return form.format(*map(two_digits, (ratio.value, ratio.low, ratio.high)))


NOTES = [
    "Of each target word's own loss: the norm of its gradient at the embedding of its aligned "
    "source word, over the norm at the last source position, the end token, whose state is h_Tx. "
    "Geometric means; n are links (a target word with several source words counts for each).",
    "Steps lie between the two words without attention: from the source word through the encoder "
    "to h_Tx and one on into the decoder, which reads h_Tx at every step; the count is the same "
    "for every arm. Through s_0: every step of the decoder counts as well. Half-distance: steps "
    "over which the ratio halves, by the exponential that fits all links best; over N (> N): it "
    "does not halve within the N steps that were tested (alone: nor does its whole interval).",
]


def notes(frame: pd.DataFrame) -> list[str]:
    """What the numbers are, and what no curve shows: links whose gradient is as good as none."""
    texts = {
        "vanished": "{:.1%} of the ratios are under 1e-12 and count as that",
        "left_out": "{:.0f} links without a gradient at the last position are left out",
    }
    means = frame[frame["seed"].isna() & (frame["value"] > 0)]
    lost = []
    for row in means[means["measure"].isin(list(texts))].to_dict("records"):
        network = ", untrained" if row["control"] == "untrained" else ""
        lost.append(f"{row['arm']}{network}: " + texts[row["measure"]].format(row["value"]))
    return [*NOTES, f"{'; '.join(lost)}."] if lost else NOTES


def by_band(estimates: Estimates) -> Iterator[Line]:
    """A row for each band and arm."""
    for band, arm in product(BAND_NAMES, estimates.arms()):
        yield (band, arm), {"arm": arm, "part": band}


def by_length(estimates: Estimates) -> Iterator[Line]:
    """A row for each bucket and arm, then for each arm over all lengths."""
    yield from by_bucket(estimates)
    yield from ((("all", arm), {"arm": arm}) for arm in estimates.arms())


def _ratio_cell(ratio: Estimate) -> str:
    return _ratio_text(ratio, "{}" if isnan(ratio.low) else "{}\n{}..{}")


def _half_cell(estimate: Estimate) -> str:
    half = opened(estimate)
    value, low, high = map(half.end, (half.value, half.low, half.high))
    return f"{value}\n{low}..{high}" if isfinite(half.low) else value


def _bounds(estimate: Estimate | None) -> str:
    """Which ends of a half-distance are open: ``value at least, high at least``."""
    half = opened(estimate or Estimate(nan, nan, nan))
    ends = {"value": half.value, "low": half.low, "high": half.high}
    return ", ".join(f"{name} {BEYOND}" for name, end in ends.items() if isinf(end))


def _by_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """The trained network before the untrained, the nearest band first."""
    place = rows["part"].map(BAND_NAMES.index)
    return rows.assign(place=place).sort_values(["control", "place"], kind="stable")


class Gradients(Question):
    """The question, whose CSV says which half-distances lie beyond the tested steps."""

    def page(self, frame: pd.DataFrame) -> Page:
        """The table with a column of bounds for each half-distance."""
        page, estimates = super().page(frame), Estimates(frame)
        keys = [*page.frame[list(KEYS)].itertuples(index=False, name=None)]
        bounds = {
            f"{measure}_bounds": [_bounds(estimates.get(measure, *key)) for key in keys]
            for measure in WAYS
        }
        return replace(page, frame=page.frame.assign(**bounds))


START, END = "start of\ntraining", "end of\ntraining"
RATIO = "Gradient norm by distance"

QUESTION = Gradients(
    name="gradients",
    ids=("C8",),
    question="Does attention shorten the path: how far back does a loss's gradient reach?",
    title="Gradients (C8): at the aligned source word, relative to the last position",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen" and settings.corpus.is_drawn,
    decide=decide,
    notes=notes,
    measures=("ratio", *WAYS),
    grids=[
        Grid(
            "Gradient at the aligned source word over that at the last position (C8)",
            [
                Column(START, "ratio", control="untrained", cell=_ratio_cell),
                Column(END, "ratio", cell=_ratio_cell),
            ],
            heads=("steps", "arm"),
            lines=by_band,
        ),
        Grid(
            "Half-distance of the gradient in steps (C8)",
            [
                Column(START, "half_distance", control="untrained", cell=_half_cell),
                Column(END, "half_distance", cell=_half_cell),
                Column(f"{START},\nthrough s_0", "half_distance_chain", control="untrained",
                       cell=_half_cell),
                Column(f"{END},\nthrough s_0", "half_distance_chain", cell=_half_cell),
            ],
            lines=by_length,
        ),
    ],
    figure="How far does a gradient reach?",
    axes=[
        Axes(
            RATIO, "ratio", "gradient norm at the source word\nover that at the last position",
            x="part", x_label="steps from the source word to the target word, without attention",
            counted="links", log_y=True, select=_by_steps,
            lines={"": "", "untrained": "untrained"},
        ),
    ],
)  # fmt: skip
