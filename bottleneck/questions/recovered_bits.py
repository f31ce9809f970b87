"""The rows of the question of information: the bits of the source that are recovered.

A translator whose source is hidden stands for the target language if the corpus has no exact bits.
Bits are of each test sentence, so that arms and seeds are resampled together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ..results.schema import BLEU_COLUMNS
from ..scoring.bleu import bleu
from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import difference, ratio_of_sums
from ..settings.errors import UserError
from ..settings.run import RunSettings
from .arms import Arm, arms_of, in_buckets, interval_of
from .question import Probed, Row

if TYPE_CHECKING:
    pass

FULL = "full"
LEVELS = ("1", "2", "4", "8", FULL)
"""Bits per number of the coarse memories; at the last level nothing is rounded."""
PARTS = ("probe", "translator")
MEASURES = (
    ("probe", "", "probe"),
    ("probe", "untrained", "probe_untrained"),
    ("probe", "shuffled", "probe_shuffled"),
    ("translator", "", "nll"),
    ("translator", "shuffled", "nll_shuffled"),
)
"""Part, control, and the probe's column of what remains to be told, in nats."""
HALVES = ("shorter", "longer")
"""Of the buckets; the bucket in the middle is in both."""
# An arm that cannot attend to words cannot copy them either.
NO_ATTENTION = {
    "model": {"attention": "none"},
    "training": {"seed": 0},
    "decoding": {"copy_unknown": False},
}
Bits = Float[ndarray, "seeds sentences"]


def probe_updates(updates: int) -> int:
    """How many updates the probe of a translator of so many updates gets."""
    return max(1, updates // 2)


def bleu_names(level: str) -> list[str]:
    """The probe's columns of BLEU's counts at a level: ``bleu_4_correct_1``."""
    return [f"bleu_{level}_{column}" for column in BLEU_COLUMNS]


@dataclass(frozen=True, eq=False)
class Language:
    """Bits of each test sentence without its source, and which sentences count.

    ``kind`` is ``exact``, or ``hidden`` for those of a translator whose source is hidden, or
    ``unknown`` where there are none.
    """

    kind: str
    bits: Float[ndarray, "sentences"]
    counted: Bool[ndarray, "sentences"]


def language_of(arm: Arm, hidden: Sequence[Probed]) -> Language:
    """The exact bits where they are known, else those of the arm's translators of hidden sources.

    Of the exact ones only sentences count whose words are all in both vocabularies: "unknown" is
    cheaper to tell than the word that it stands for.
    """
    exact = arm.runs[0].found["bits"]
    if not np.isnan(exact).any():
        return Language("exact", exact, arm.runs[0].found["unknown"] == 0)
    everything = np.ones(len(exact), bool)
    if twins := twins_of(arm, hidden):
        return Language("hidden", np.mean(in_bits(twins, "nll"), axis=0), everything)
    return Language("unknown", np.full(len(exact), np.nan), everything)


def twins_of(arm: Arm, hidden: Sequence[Probed]) -> list[Probed]:
    """Translators that differ from the arm's in a hidden source, but for seed and attention.

    Without a source all kinds of attention are the same.
    """
    alike = without_attention(arm).changed(model={"source": "hidden"})
    return [run for run in hidden if run.settings.changed(**NO_ATTENTION) == alike]


def without_attention(arm: Arm) -> RunSettings:
    """The settings of an arm's counterpart without attention, whatever the seed."""
    return arm.settings.changed(**NO_ATTENTION)


def in_bits(runs: Sequence[Probed], column: str) -> Bits:
    """A column of nats per sentence, in bits."""
    return np.stack([run.found[column] for run in runs]) / np.log(2.0)


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm that sees its source, and attention minus none.

    Raises UserError where no arm does.
    """
    hidden = [run for run in probed if run.settings.model.source == "hidden"]
    arms = arms_of([run for run in probed if run.settings.model.source == "seen"])
    if not arms:
        raise UserError(
            "study information needs runs that see their source: all of these have "
            "model.source=hidden; `bottleneck reproduce` trains others"
        )
    summaries = [_summary(arm, hidden) for arm in arms]
    bases = {
        without_attention(item.arm): item
        for item in summaries
        if item.arm.settings.model.attention == "none"
    }
    rows: list[Row] = []
    for item in summaries:
        base = bases.get(without_attention(item.arm), item)
        rows += item.rows
        if base is not item:
            rows += _gains(item, base)
    return rows


@dataclass(eq=False)
class Summary:
    """An arm's rows, and the numbers that are compared with another arm's.

    These are, with their resamples, ``shares`` by part and bucket, with n, and what is ``kept`` in
    the longer half of the buckets by part.
    """

    arm: Arm
    rows: list[Row] = field(default_factory=list)
    shares: dict[tuple[str, str], tuple[Resampled, int]] = field(default_factory=dict)
    kept: dict[str, Resampled] = field(default_factory=dict)


def _summary(arm: Arm, hidden: Sequence[Probed]) -> Summary:
    language, first, summary = language_of(arm, hidden), arm.runs[0].found, Summary(arm)
    buckets = []
    for place, name, members in in_buckets(arm.runs[0], first["source_words"]):
        inside = members & language.counted
        n = int(inside.sum())
        buckets.append(Bucket(place, name, inside, n, int(members.sum()) - n))
    summary.rows += _language_rows(arm, language, buckets, hidden)
    for part, control, column in MEASURES:
        if column in first and language.kind != "unknown":
            recovered = language.bits - in_bits(arm.runs, column)
            keys = {"part": part, "control": control, "note": language.kind}
            summary.rows += _bit_rows(arm, language, buckets, recovered, keys)
            if not control:
                _add_growth(summary, language, buckets, recovered, part)
    if "probe" in first:
        updates = probe_updates(arm.settings.training.updates)
        summary.rows.append(arm.row("probe_updates", float(updates)))
    summary.rows += _coarse_rows(arm)
    return summary


class Bucket(NamedTuple):
    """A length bucket: the sentences that count (a mask, and how many), and how many do not."""

    place: int
    name: str
    inside: Bool[ndarray, "sentences"]
    n: int
    left_out: int


def _over(bits: Bits, units: Float[ndarray, "sentences"]) -> Float[ndarray, "seeds sentences 2"]:
    """Columns for `ratio_of_sums`."""
    return np.stack([bits, np.broadcast_to(units, bits.shape)], axis=-1)


def _mean(arm: Arm, bits: Bits, bucket: Bucket) -> Resampled:
    """Bits per sentence of the bucket."""
    statistics = _over(bits[:, bucket.inside], np.ones(bucket.n))
    return arm.estimate(ratio_of_sums, statistics, bucket.place)


def _language_rows(
    arm: Arm, language: Language, buckets: Sequence[Bucket], hidden: Sequence[Probed]
) -> Iterator[Row]:
    """Bits in the source by bucket, and by how many more a translator of hidden sources flatters.

    The latter is known only where the exact bits are, too.
    """
    twins = twins_of(arm, hidden) if language.kind == "exact" else []
    for bucket in buckets:
        keys = {"bucket": bucket.name, "n": bucket.n, "note": language.kind}
        bits = _mean(arm, language.bits[None], bucket)
        yield arm.row("source_bits", bits.value, **interval_of(bits), **keys)
        yield arm.row("left_out", float(bucket.left_out), **keys)
        if twins:
            more = _mean(arm, in_bits(twins, "nll") - language.bits, bucket)
            yield arm.row("hidden_excess", more.value, **interval_of(more), **keys)


def _bit_rows(
    arm: Arm, language: Language, buckets: Sequence[Bucket], recovered: Bits, keys: Row
) -> Iterator[Row]:
    """Bits per sentence, their share of the source's, and bits per word, by bucket; not floored."""
    words = arm.runs[0].found["source_words"]
    for bucket in buckets:
        units = {"recovered": np.ones(len(words)), "share": language.bits, "per_word": words}
        for measure, unit in units.items():
            statistics = _over(recovered[:, bucket.inside], unit[bucket.inside])
            of = {"place": bucket.place, "bucket": bucket.name} | keys
            yield from arm.rows(measure, ratio_of_sums, statistics, **of)


def _add_growth(
    summary: Summary, language: Language, buckets: Sequence[Bucket], recovered: Bits, part: str
) -> None:
    """The shares of each bucket, and rows of the growth with length where there are three."""
    arm, words = summary.arm, summary.arm.runs[0].found["source_words"]
    for bucket in buckets:
        statistics = _over(recovered[:, bucket.inside], language.bits[bucket.inside])
        share = arm.estimate(ratio_of_sums, statistics, bucket.place)
        summary.shares[part, bucket.name] = share, bucket.n
    filled = [bucket for bucket in buckets if bucket.n]
    if len(filled) < len(HALVES) + 1:
        return
    middle = len(filled) // 2
    for half, members in zip(HALVES, (filled[: middle + 1], filled[middle:]), strict=True):
        means = [float(words[bucket.inside].mean()) for bucket in members]
        ours, whole = (
            slope(means, [_mean(arm, bits, bucket) for bucket in members])
            for bits in (recovered, language.bits[None])
        )
        summary.kept[part] = ratio(ours, whole)  # the longer half comes last
        n = sum(bucket.n for bucket in members)
        keys = {"part": f"{part} {half}", "n": n, "note": language.kind}
        measures = {"slope": ours, "source_slope": whole, "kept": summary.kept[part]}
        for measure, bits in measures.items():
            summary.rows.append(arm.row(measure, bits.value, **interval_of(bits), **keys))


def slope(words: Sequence[float], bits: Sequence[Resampled]) -> Resampled:
    """Least squares of bits per sentence on words; each bucket is one point."""
    centred = np.array(words, dtype=np.float64) - np.mean(words)
    line = centred / (centred**2).sum()
    values, draws = np.array([item.value for item in bits]), np.stack([item.draws for item in bits])
    return Resampled(float(line @ values), line @ draws)


def ratio(top: Resampled, bottom: Resampled) -> Resampled:
    """First over second, draw by draw; nan where the second is 0."""
    value = ratio_of_sums(np.array([top.value, bottom.value]))
    return Resampled(float(value), ratio_of_sums(np.stack([top.draws, bottom.draws], axis=-1)))


def _coarse_rows(arm: Arm) -> Iterator[Row]:
    """BLEU at each level, and what it lost against the memory as it is."""
    counts = {
        level: np.stack(
            [np.stack([run.found[name] for name in bleu_names(level)], axis=1) for run in arm.runs]
        )
        for level in LEVELS
    }
    for place, bucket, inside in in_buckets(arm.runs[0], arm.runs[0].found["source_words"]):
        whole = arm.estimate(bleu, counts[FULL][:, inside], place)
        for level in LEVELS:
            keys = {"bucket": bucket, "part": level}
            statistics = counts[level][:, inside]
            yield from arm.rows("bleu", bleu, statistics, place=place, **keys)
            lost = difference(whole, arm.estimate(bleu, statistics, place))
            keys |= {"n": int(inside.sum())}
            yield arm.row("bleu_lost", lost.value, **interval_of(lost), **keys)


def _gains(attending: Summary, none: Summary) -> Iterator[Row]:
    """Attention minus none: shares by bucket, and the growth kept in the longer half; paired."""
    arm, name = attending.arm, none.arm.name
    for (part, bucket), (share, n) in attending.shares.items():
        other, m = none.shares.get((part, bucket), (None, 0))
        if other is not None and n == m:
            gain = difference(share, other)
            keys = {"part": part, "bucket": bucket, "n": n, "note": name}
            yield arm.row("share_gain", gain.value, **interval_of(gain), **keys)
    for part, kept in attending.kept.items():
        if part in none.kept:
            gain = difference(kept, none.kept[part])
            keys = {"part": f"{part} {HALVES[1]}", "note": name}
            yield arm.row("kept_gain", gain.value, **interval_of(gain), **keys)
