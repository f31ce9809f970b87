"""C8: does attention shorten the path for gradients?

For each target word with gold links: the norm of the gradient of its own loss at the embedding of
its aligned source word, over the norm at the last source position (the end token, whose state is
h_Tx, the context of the arm without attention). A target word with several source words counts
once for each. The ratio's geometric mean by steps is the curve: what is handed back through n steps
is a product of n factors.

Steps are counted in words, in two ways that are the same in every arm: by the shortest way without
attention, from the source word's state through the encoder to h_Tx and, as the context enters at
every step of the decoder, one step on (``steps``); and through s_0 and every step of the decoder
(``chain``). The gradient at the last position includes the decoder's part of both ways. In a
two-way encoder the steps are those of the forward direction.

A ratio under `LEAST_RATIO`, zero included, has no useful logarithm and counts as that much. A link
without any gradient at the last position has no ratio and is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import inf, isnan, log
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, marked, needs_learned, two_digits
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import tokenize
from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import draw, estimate, ratio_of_sums
from ..settings.concerns import OUTSIDE, bucket_labels
from ..tables.page import Page
from .arms import KEYS, Arm, Estimate, Estimates, Row, by_arm, in_buckets
from .censored import ENDS, Censored, censor
from .question import Axes, Column, Columns, Grid, Judgement, Question, Tell, by_bucket

if TYPE_CHECKING:
    from .subject import Subject

BANDS = (1, 6, 11, 21, 31, 41)
"""First steps of each band of the curve."""
BAND_NAMES = bucket_labels(BANDS)
WAYS = {"half_distance": "steps", "half_distance_chain": "chain"}
"""Measures of the half-distance, by the count of steps."""
LEAST_RATIO = 1e-12
"""What a lesser ratio counts as."""
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


def probe(subject: "Subject", tell: Tell, sentences: int = 60) -> Columns:
    """A row for each gold link of the first so many sentences of a bucket: steps, both norms."""
    from .gradient_norms import gradient_norms

    linked = [pair for pair in subject.corpus.test if pair.links]
    pairs = [pair for pairs in subject.first_of_each(linked, sentences) for pair in pairs]
    columns = links_of(subject, pairs)
    for network, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        tell(f"gradients, {network}")
        norms = gradient_norms(subject, weights, pairs)
        for name, place in (("aligned", "source"), ("last", "last")):
            places = zip(columns["sentence"], columns["target"], columns[place], strict=True)
            column = [norms[row][target, source] for row, target, source in places]
            columns[f"{network}_{name}"] = np.array(column, np.float64)
    return columns


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
    """Half-distances by bucket; over all lengths the ratio by bands that every seed has."""
    first, scoring = arm.runs[0].found, arm.settings.scoring
    sentence = first["sentence"].astype(np.int64)
    words = np.zeros(sentence.max() + 1)
    words[sentence] = first["source_words"]
    for place, bucket, inside in in_buckets(arm.runs[0], words, OUTSIDE):
        weights = draw(int(inside.sum()), scoring.resamples, seed=scoring.seed, bucket=place)
        for network, control in (("trained", ""), ("untrained", "untrained")):
            keys = {"bucket": bucket, "control": control, "n": int(inside[sentence].sum())}
            for measure, way in WAYS.items():
                sums = log_sums(arm, network, [run.found[way] for run in arm.runs], len(words))
                yield from _half_rows(arm, measure, sums[:, inside], weights, keys)
            if bucket:
                continue
            bands = [np.searchsorted(BANDS, run.found["steps"], "right") - 1.0 for run in arm.runs]
            for band, sums in enumerate(
                np.moveaxis(log_sums(arm, network, bands, len(words)), 2, 0)
            ):
                totals = sums.sum(axis=1)
                if not totals[:, 1].all():
                    continue
                logs = estimate(ratio_of_sums, sums, weights)
                ratio = Resampled(float(np.exp(logs.value)), np.exp(logs.draws))
                keys |= {"part": BAND_NAMES[band], "n": int(totals[:, 1].sum())}
                yield arm.row("ratio", ratio, **keys)
                for run, value in zip(arm.runs, ratio_of_sums(totals), strict=True):
                    yield arm.seed_row(run, "ratio", float(np.exp(value)), **keys)


def log_sums(
    arm: Arm, network: str, distances: Sequence[Float[ndarray, "_"]], sentences: int
) -> Float[ndarray, "seeds sentences distances 2"]:
    """Of each sentence and distance the sum of log ratios, and the links; distances are by seed."""
    end = 1 + max(int(distance.max()) for distance in distances)
    seeds = []
    for run, distance in zip(arm.runs, distances, strict=True):
        aligned, last = (run.found[f"{network}_{name}"] for name in ("aligned", "last"))
        used = last > 0
        logs = np.log(np.maximum(aligned[used] / last[used], LEAST_RATIO))
        cells = (run.found["sentence"] * end + distance)[used].astype(np.int64)
        sums = [
            np.bincount(cells, column, sentences * end) for column in (logs, np.ones_like(logs))
        ]
        seeds.append(np.stack(sums, axis=-1).reshape(sentences, end, 2))
    return np.stack(seeds)


def half_distance(
    sums: Float[ndarray, "seeds sentences distances 2"],
    weights: Float[ndarray, "resamples sentences"],
) -> Censored | None:
    """Steps over which the exponential that fits the ratio best halves; None under two distances.

    The fit is least squares of the log ratio (its mean over seeds) on the distances that have links
    in every seed, each distance weighted by its links (in a resample that lacks it by none): every
    link counts, where the curve's first crossing of a half would depend on its first point, and
    come early by noise. "At least" the tested span, from the nearest to the farthest distance,
    where the exponential does not halve within it; a curve that rises or is flat never does.
    """
    distances = np.flatnonzero(sums[..., 1].sum(axis=1).all(axis=0))
    if len(distances) < 2:
        return None
    parts = [estimate(ratio_of_sums, sums[:, :, place], weights) for place in distances]
    logs = np.stack([np.append(part.value, part.draws) for part in parts], axis=-1)
    present = np.isfinite(logs)
    links = sums[:, :, distances, 1].sum(axis=(0, 1)) * present
    y = np.where(present, logs, 0.0)
    total = links.sum(axis=-1, keepdims=True)
    centred = distances - (links * distances).sum(axis=-1, keepdims=True) / np.maximum(total, 1.0)
    x = links * centred
    with np.errstate(divide="ignore", invalid="ignore"):  # nan where a resample has one distance
        slopes = (x * y).sum(axis=-1) / (x * centred).sum(axis=-1)
        halves = np.where(slopes >= 0, inf, log(0.5) / slopes)
    span = float(np.ptp(distances))
    value, *draws = censor(halves, 0.0, span)
    return Censored(float(value), np.array(draws), 0.0, span)


def _half_rows(
    arm: Arm, measure: str, sums: Float[ndarray, "..."], weights: ndarray, keys: Row
) -> Iterator[Row]:
    """The half-distance of the mean curve, then of each seed's.

    ``note`` says which of value, low and high lie beyond what was tested: ``;;at least``.
    """
    if mean := half_distance(sums, weights):
        ends = (mean.value, mean.interval.low, mean.interval.high)
        note = ";".join("at least" if np.isposinf(end) else "" for end in ends)
        inside = np.clip(ends, mean.lowest, mean.highest).tolist()
        yield arm.row(measure, **dict(zip(ENDS, inside, strict=True)), note=note, **keys)
        for run, part in zip(arm.runs, sums, strict=True):
            if alone := half_distance(part[None], np.ones((1, weights.shape[1]))):
                yield arm.seed_row(run, measure, alone.shown, note=alone.side, **keys)


def _ends(half: Estimate) -> list[tuple[str, float, str]]:
    """Value, low and high of a stored half-distance: what lies beyond, the number, its text."""
    ends = zip(f"{half.note};;".split(";"), (half.value, half.low, half.high), strict=False)
    return [
        (side, inf if side else end, f"over {end:.0f}" if side else f"{end:.1f}")
        for side, end in ends
    ]


def decide(estimates: Estimates) -> Judgement | str:
    """C8: with attention a gradient fades later, and more of it arrives from far away."""
    halves = {
        arm: Estimate(*(end for _, end, _ in _ends(half)), half.n)
        for arm in estimates.arms()
        if (half := estimates.get("half_distance", arm))
    }
    none = next((arm for arm in halves if estimates.attention(arm) == "none"), None)
    attending = [arm for arm in estimates.arms(selective=True) if arm in halves]
    if not (none and attending):
        return "both arms are needed, with attention and without, that differ in nothing else"
    slower, more = [], []
    clauses = [f"the gradient of {_faded(estimates)}"]
    for arm in attending:
        bands = {
            band: [estimates.get("ratio", name, part=band) for name in (arm, none)]
            for band in BAND_NAMES
        }
        shared = [band for band, ratios in bands.items() if all(ratios)]
        if not shared:
            return "the arms share no band of steps"
        ratio, plain = bands[shared[-1]]
        slower.append(halves[arm].low > halves[none].high)
        more.append(ratio.low > plain.high)
        clauses.append(
            f"over {shared[-1]} steps it is {_ratio_text(ratio)} times that at the last position "
            f"with {arm}, {_ratio_text(plain)} times with {none}"
        )
    if start := _faded(estimates, "untrained"):
        clauses.append(f"before training that of {start}")
    if marked(halves[none].n):
        clauses.append(f"under {MARKED_BELOW} links (n = {halves[none].n})")
    clear = (all(slower), all(more))
    measure = f"half-distance in steps, {none}"
    return Judgement(all(clear), any(clear), clauses, measure, halves[none])


def _faded(estimates: Estimates, control: str = "") -> str:
    """``none halves every 5.0 [4.0, 6.0] steps, additive does not halve within 66 steps``."""
    phrases = []
    for arm in estimates.arms():
        if half := estimates.get("half_distance", arm, control=control):
            (beyond, _, value), (unknown, _, low), (_, _, high) = _ends(half)
            lower = "" if unknown else f" (at the interval's lower end every {low})"
            phrases.append(
                f"{arm} does not halve within {half.value:.0f} steps{lower}"
                if beyond
                else f"{arm} halves every {value} [{low}, {high}] steps"
            )
    return ", ".join(phrases)


def _ratio_text(ratio: Estimate, form: str = "{} [{}, {}]") -> str:
    return form.format(*map(two_digits, (ratio.value, ratio.low, ratio.high)))


def _half_cell(half: Estimate) -> str:
    (_, _, value), (beyond, _, low), (_, _, high) = _ends(half)
    return value if beyond or isnan(half.low) else f"{value}\n{low}..{high}"


class Gradients(Question):
    """The question, whose CSV says which half-distances lie beyond the tested steps."""

    def page(self, frame: pd.DataFrame) -> Page:
        """The table with a column of bounds for each half-distance: ``high at least``."""
        page, estimates = super().page(frame), Estimates(frame)
        table = page.frame
        for measure in WAYS:
            halves = (estimates.get(measure, *key) for key in table[list(KEYS)].to_numpy())
            ends = (zip(ENDS, _ends(half) if half else (), strict=False) for half in halves)
            bounds = [
                ", ".join(f"{end} {side}" for end, (side, *_) in item if side) for item in ends
            ]
            table = table.assign(**{f"{measure}_bounds": bounds})
        return replace(page, frame=table)


RATIO = {"cell": lambda ratio: _ratio_text(ratio, "{}" if isnan(ratio.low) else "{}\n{}..{}")}
HALVES = {"cell": _half_cell}

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
                Column("start of\ntraining", "ratio", control="untrained", **RATIO),
                Column("end of\ntraining", "ratio", **RATIO),
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
                Column(f"{time} of\ntraining{way}", measure, control=control, **HALVES)
                for measure, way in zip(WAYS, ("", ",\nthrough s_0"), strict=True)
                for time, control in (("start", "untrained"), ("end", ""))
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
            counted="links", log_y=True,
            # The trained network before the untrained, the nearest band first.
            select=lambda rows: rows.assign(
                place=rows["part"].map(BAND_NAMES.index)
            ).sort_values(["control", "place"], kind="stable"),
        ),
    ],
)  # fmt: skip
