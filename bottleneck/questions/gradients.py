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

A ratio under `LEAST_RATIO`, zero included, has no useful logarithm and counts as that much. A link
without any gradient at the last position has no ratio and is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf, isfinite, isinf, isnan, log, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, marked, needs_learned, two_digits
from ..corpus.pair import SentencePair
from ..corpus.tokens import tokenize
from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import draw, estimate, ratio_of_sums
from ..settings.buckets import bucket_labels
from ..tables.page import Page
from .arms import Arm, Row, by_arm, in_buckets
from .censored import Censored, censor
from .estimates import KEYS, Estimate, Estimates
from .question import Axes, Column, Columns, Grid, Judgement, Question, Tell, by_bucket

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
        for name, place in (("aligned", "source"), ("last", "last")):
            places = zip(columns["sentence"], columns["target"], columns[place], strict=True)
            column = [norms[row][target, source] for row, target, source in places]
            columns[f"{network}_{name}"] = np.array(column, np.float64)
    return columns


def chosen(subject: "Subject", sentences: int) -> tuple[SentencePair, ...]:
    """The first test sentences of each bucket that have gold links."""
    linked = [pair for pair in subject.corpus.test if pair.links]
    return tuple(pair for pairs in subject.first_of_each(linked, sentences) for pair in pairs)


def links_of(subject: "Subject", pairs: Sequence[SentencePair]) -> dict[str, ndarray]:
    """Sentence, length, places of both words (the source's as read) and steps of each link."""
    names = ("sentence", "source_words", "source", "target", "last", "steps", "chain")
    rows = []
    for sentence, pair in enumerate(pairs):
        end = len(tokenize(pair.source))
        for source, target in pair.links:
            place = end - 1 - source if subject.settings.model.reverse_source else source
            steps = end - place + 1
            rows.append((sentence, pair.words, place, target, end, steps, steps + target))
    return dict(zip(names, np.array(rows, np.int64).T, strict=True))


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Half-distances by bucket, and over all lengths the curve by bands of steps."""
    first, scoring = arm.runs[0].found, arm.settings.scoring
    sentence = first["sentence"].astype(np.int64)
    words = np.zeros(sentence.max() + 1)
    words[sentence] = first["source_words"]
    everywhere = (len(scoring.lower_edges), "", np.ones(len(words), bool))
    for place, bucket, inside in [*in_buckets(arm.runs[0], words), everywhere]:
        if not inside.any():
            continue
        weights = draw(int(inside.sum()), scoring.resamples, seed=scoring.seed, bucket=place)
        for network, control in NETWORKS.items():
            keys = {"bucket": bucket, "control": control}
            for measure, way in WAYS.items():
                end = 1 + max(int(run.found[way].max()) for run in arm.runs)
                sums = np.stack([log_sums(run.found, network, run.found[way], len(words), end)
                                 for run in arm.runs])  # fmt: skip
                links = int(inside[sentence].sum())
                yield from _half_rows(arm, measure, sums[:, inside], weights, keys | {"n": links})
            if not bucket:
                yield from _curve_rows(arm, network, weights, keys)


def log_sums(
    found: Columns, network: str, distance: Float[ndarray, "links"], sentences: int, distances: int
) -> Float[ndarray, "sentences distances 2"]:
    """Of each sentence and distance: the sum of log ratios, and the links."""
    used = found[f"{network}_last"] > 0
    ratio = found[f"{network}_aligned"][used] / found[f"{network}_last"][used]
    cells = (found["sentence"] * distances + distance)[used].astype(np.int64)
    columns = (np.log(np.maximum(ratio, LEAST_RATIO)), np.ones(len(ratio)))
    sums = [np.bincount(cells, column, sentences * distances) for column in columns]
    return np.stack(sums, axis=-1).reshape(sentences, distances, 2)


class Curve(NamedTuple):
    """Log of the geometric mean ratio at each distance that has links in every seed; all links."""

    distances: Int[ndarray, "distances"]
    logs: tuple[Resampled, ...]
    links: Int[ndarray, "distances"]


def fading_curve(
    sums: Float[ndarray, "seeds sentences distances 2"],
    weights: Float[ndarray, "resamples sentences"],
) -> Curve:
    """The curve of these `log_sums`; the mean over seeds is geometric too."""
    filled = np.flatnonzero((sums[..., 1].sum(axis=1) > 0).all(axis=0))
    logs = tuple(estimate(ratio_of_sums, sums[:, :, place], weights) for place in filled)
    links = sums[:, :, filled, 1].sum(axis=(0, 1)).round().astype(np.int64)
    return Curve(filled, logs, links)


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
    logs = np.stack([np.append(part.value, part.draws) for part in curve.logs], axis=-1)
    span = float(np.ptp(curve.distances))
    value, *halves = censor(_halving(curve, logs), 0.0, span)
    return Censored(float(value), np.array(halves), 0.0, span)


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
    for run, part in zip(arm.runs, sums, strict=True):
        alone = half_distance(fading_curve(part[None], np.ones((1, weights.shape[1]))))
        if alone is not None:
            yield arm.seed_row(run, measure, alone.shown, note=alone.side, **keys)


def _curve_rows(arm: Arm, network: str, weights: ndarray, keys: Row) -> Iterator[Row]:
    """The ratio in each band, a row for each seed below it."""
    sums = []
    for run in arm.runs:
        band = np.searchsorted(BANDS, run.found["steps"], side="right") - 1.0
        sums.append(log_sums(run.found, network, band, weights.shape[1], len(BANDS)))
    curve = fading_curve(np.stack(sums), weights)
    for band, logs, n in zip(curve.distances, curve.logs, curve.links.tolist(), strict=True):
        ratio = Resampled(float(np.exp(logs.value)), np.exp(logs.draws))
        part = keys | {"part": BAND_NAMES[band], "n": n}
        yield arm.row("ratio", ratio, **part)
        for run, seed in zip(arm.runs, sums, strict=True):
            total, links = seed[:, band].sum(axis=0)
            yield arm.seed_row(run, "ratio", float(np.exp(total / links)), **part)


@dataclass(frozen=True)
class Half(Estimate):
    """A half-distance; ends are infinite beyond the steps that were ``tested``."""

    tested: float = nan

    @classmethod
    def of(cls, stored: Estimate) -> "Half":
        """A half-distance as it is stored: its ends are within the tested steps."""
        ends = (stored.value, stored.low, stored.high)
        beyond = [side == BEYOND for side in f"{stored.note};;".split(";")[:3]]
        opened = (inf if side else end for side, end in zip(beyond, ends, strict=True))
        tested = max((end for side, end in zip(beyond, ends, strict=True) if side), default=nan)
        return cls(*opened, stored.n, stored.note, tested)

    @property
    def texts(self) -> list[str]:
        """Value and ends in steps: ``5.0``, ``over 66``."""
        ends = (self.value, self.low, self.high)
        return [f"over {self.tested:.0f}" if isinf(end) else f"{end:.1f}" for end in ends]

    def phrase(self) -> str:
        """``halves every 5.0 [4.0, 6.0] steps``; beyond the tested steps there is no number."""
        value, low, high = self.texts
        if not isinf(self.value):
            return f"halves every {value} [{low}, {high}] steps"
        lower = f" (at the interval's lower end every {low})" if isfinite(self.low) else ""
        return f"does not halve within {self.tested:.0f} steps{lower}"


def decide(estimates: Estimates) -> Judgement | str:
    """C8: with attention a gradient fades later, and more of it arrives from far away."""
    halves = _halves(estimates, "")
    none = next((arm for arm in halves if estimates.attention(arm) == "none"), None)
    attending = [arm for arm in estimates.arms(selective=True) if arm in halves]
    if not (none and attending):
        return "both arms are needed, with attention and without, that differ in nothing else"
    slower, more = [], []
    clauses = [f"the gradient of {_faded(halves)}"]
    for arm in attending:
        bands = [[estimates.get("ratio", name, part=band) for name in (arm, none)]
                 for band in BAND_NAMES]  # fmt: skip
        shared = [place for place, ratios in enumerate(bands) if all(ratios)]
        if not shared:
            return "the arms share no band of steps"
        band, (ratio, plain) = BAND_NAMES[shared[-1]], bands[shared[-1]]
        slower.append(halves[arm].low > halves[none].high)
        more.append(ratio.low > plain.high)
        clauses.append(
            f"over {band} steps it is {_ratio_text(ratio)} times that at the last position "
            f"with {arm}, {_ratio_text(plain)} times with {none}"
        )
    if start := _faded(_halves(estimates, "untrained")):
        clauses.append(f"before training that of {start}")
    if marked(halves[none].n):
        clauses.append(f"under {MARKED_BELOW} links (n = {halves[none].n})")
    held, partly = all(slower) and all(more), all(slower) or all(more)
    return Judgement(held, partly, clauses, f"half-distance in steps, {none}", halves[none])


def _halves(estimates: Estimates, control: str) -> dict[str, Half]:
    """The half-distance over all lengths of each arm that has one."""
    stored = {arm: estimates.get("half_distance", arm, control=control) for arm in estimates.arms()}
    return {arm: Half.of(half) for arm, half in stored.items() if half is not None}


def _faded(halves: dict[str, Half]) -> str:
    return ", ".join(f"{arm} {half.phrase()}" for arm, half in halves.items())


def _ratio_text(ratio: Estimate, form: str = "{} [{}, {}]") -> str:
    return form.format(*map(two_digits, (ratio.value, ratio.low, ratio.high)))


def _ratio_cell(ratio: Estimate) -> str:
    return _ratio_text(ratio, "{}" if isnan(ratio.low) else "{}\n{}..{}")


def _half_cell(estimate: Estimate) -> str:
    half = Half.of(estimate)
    value, low, high = half.texts
    return f"{value}\n{low}..{high}" if isfinite(half.low) else value


def _by_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """The trained network before the untrained, the nearest band first."""
    place = rows["part"].map(BAND_NAMES.index)
    return rows.assign(place=place).sort_values(["control", "place"], kind="stable")


def _bounds(half: Estimate | None) -> str:
    sides = zip(("value", "low", "high"), half.note.split(";") if half else (), strict=False)
    return ", ".join(f"{end} {side}" for end, side in sides if side)


class Gradients(Question):
    """The question, whose CSV says which half-distances lie beyond the tested steps."""

    def page(self, frame: pd.DataFrame) -> Page:
        """The table with a column of bounds for each half-distance: ``high at least``."""
        page, estimates = super().page(frame), Estimates(frame)
        keys = [*page.frame[list(KEYS)].itertuples(index=False, name=None)]
        bounds = {
            f"{measure}_bounds": [_bounds(estimates.get(measure, *key)) for key in keys]
            for measure in WAYS
        }
        return replace(page, frame=page.frame.assign(**bounds))


START, END = "start of\ntraining", "end of\ntraining"
HALF, CHAIN = WAYS

QUESTION = Gradients(
    name="gradients",
    ids=("C8",),
    question="Does attention shorten the path: how far back does a loss's gradient reach?",
    title="Gradients (C8): at the aligned source word, relative to the last position",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen" and settings.corpus.is_drawn,
    rule=RULE,
    decide=decide,
    notes=[
        "Of each target word's own loss: the norm of its gradient at the embedding of its aligned "
        "source word, over the norm at the last source position, whose state is h_Tx. Geometric "
        "means; n are links.",
        "Steps are words on the way without attention: from the source word through the encoder to "
        "h_Tx and one on into the decoder; through s_0, every step of the decoder counts as well. "
        "Half-distance: steps over which the exponential that fits all links best halves; over N "
        "(> N): it does not halve within the N steps that were tested (alone: nor does its whole "
        "interval).",
    ],
    measures=("ratio", *WAYS),
    grids=[
        Grid(
            "Gradient at the aligned source word over that at the last position (C8)",
            [
                Column(START, "ratio", control="untrained", cell=_ratio_cell),
                Column(END, "ratio", cell=_ratio_cell),
            ],
            heads=("steps", "arm"),
            lines=lambda estimates: [
                ((band, arm), {"arm": arm, "part": band})
                for band, arm in product(BAND_NAMES, estimates.arms())
            ],
        ),
        Grid(
            "Half-distance of the gradient in steps (C8)",
            [
                Column(START, HALF, control="untrained", cell=_half_cell),
                Column(END, HALF, cell=_half_cell),
                Column(f"{START},\nthrough s_0", CHAIN, control="untrained", cell=_half_cell),
                Column(f"{END},\nthrough s_0", CHAIN, cell=_half_cell),
            ],
            lines=lambda estimates: [
                *by_bucket(estimates),
                *((("all", arm), {"arm": arm}) for arm in estimates.arms()),
            ],
        ),
    ],
    figure="How far does a gradient reach?",
    axes=[
        Axes(
            "Gradient norm by distance", "ratio",
            "gradient norm at the source word\nover that at the last position", x="part",
            x_label="steps from the source word to the target word, without attention",
            counted="links", log_y=True, select=_by_steps,
        ),
    ],
)  # fmt: skip
