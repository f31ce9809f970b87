"""The rows of the question of information: the bits of the source that are recovered.

A translator whose source is hidden stands for the target language if the corpus has no exact bits.
Bits are of each test sentence, so that arms and seeds are resampled together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

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
    summaries = [Summary(arm, hidden) for arm in arms]
    bases = {
        without_attention(item.arm): item
        for item in summaries
        if item.arm.settings.model.attention == "none"
    }
    rows: list[Row] = []
    for item in summaries:
        base = bases.get(without_attention(item.arm), item)
        if base is not item:
            item.add_gains(base)
        rows += item.rows
    return rows


def without_attention(arm: Arm) -> RunSettings:
    """The settings of an arm's counterpart without attention, whatever the seed."""
    return arm.settings.changed(**NO_ATTENTION)


def twins_of(arm: Arm, hidden: Sequence[Probed]) -> list[Probed]:
    """Translators that differ from the arm's in a hidden source, but for seed and attention.

    Without a source all kinds of attention are the same.
    """
    alike = without_attention(arm).changed(model={"source": "hidden"})
    return [run for run in hidden if run.settings.changed(**NO_ATTENTION) == alike]


def in_bits(runs: Sequence[Probed], column: str) -> Bits:
    """A column of nats per sentence, in bits."""
    return np.stack([run.found[column] for run in runs]) / np.log(2.0)


@dataclass(frozen=True, eq=False)
class Language:
    """Bits of each test sentence without its source, and which sentences count.

    ``kind`` is ``exact``, or ``hidden`` for those of a translator whose source is hidden, or
    ``unknown`` where there are none.
    """

    kind: str
    bits: Float[ndarray, "sentences"]
    counted: Bool[ndarray, "sentences"]

    @classmethod
    def of(cls, arm: Arm, twins: Sequence[Probed]) -> "Language":
        """The exact bits where they are known, else those of translators of hidden sources.

        Of the exact ones only sentences count whose words are all in both vocabularies: "unknown"
        is cheaper to tell than the word that it stands for.
        """
        exact = arm.runs[0].found["bits"]
        if not np.isnan(exact).any():
            return cls("exact", exact, arm.runs[0].found["unknown"] == 0)
        everything = np.ones(len(exact), bool)
        if twins:
            return cls("hidden", np.mean(in_bits(twins, "nll"), axis=0), everything)
        return cls("unknown", np.full(len(exact), np.nan), everything)


class Bucket(NamedTuple):
    """A length bucket: the sentences that count (a mask, and how many), and how many do not."""

    place: int
    name: str
    inside: Bool[ndarray, "sentences"]
    n: int
    left_out: int


class Summary:
    """An arm's rows, and the numbers that are compared with another arm's.

    These are, with their resamples, ``shares`` by part and bucket, with n, and what is ``kept`` in
    the longer half of the buckets by part.
    """

    def __init__(self, arm: Arm, hidden: Sequence[Probed]) -> None:
        columns, twins = arm.runs[0].found, twins_of(arm, hidden)
        self.arm, self.words, self.language = arm, columns["source_words"], Language.of(arm, twins)
        self.rows: list[Row] = []
        self.shares: dict[tuple[str, str], tuple[Resampled, int]] = {}
        self.kept: dict[str, Resampled] = {}
        self.buckets = []
        for place, name, members in in_buckets(arm.runs[0], self.words):
            inside = members & self.language.counted
            n = int(inside.sum())
            self.buckets.append(Bucket(place, name, inside, n, int(members.sum()) - n))
        self._add_language(twins if self.language.kind == "exact" else [])
        for part, control, column in MEASURES:
            if column in columns and self.language.kind != "unknown":
                recovered = self.language.bits - in_bits(arm.runs, column)
                self._add_recovered(recovered, part, control)
                if not control:
                    self._add_growth(recovered, part)
        if "probe" in columns:
            updates = probe_updates(arm.settings.training.updates)
            self.rows.append(arm.row("probe_updates", float(updates)))
        self._add_coarse()

    def _add(self, measure: str, bits: Resampled, **keys: Any) -> None:
        self.rows.append(self.arm.row(measure, bits.value, **interval_of(bits), **keys))

    def _mean(self, bits: Bits, bucket: Bucket) -> Resampled:
        """Bits per sentence of the bucket."""
        statistics = _over(bits, np.ones(len(self.words)))[:, bucket.inside]
        return self.arm.estimate(ratio_of_sums, statistics, bucket.place)

    def _add_language(self, twins: Sequence[Probed]) -> None:
        """Bits in the source by bucket, and by how many more translators of hidden sources flatter.

        The latter is known only where the exact bits are, too.
        """
        for bucket in self.buckets:
            keys = {"bucket": bucket.name, "n": bucket.n, "note": self.language.kind}
            self._add("source_bits", self._mean(self.language.bits[None], bucket), **keys)
            self.rows.append(self.arm.row("left_out", float(bucket.left_out), **keys))
            if twins:
                more = in_bits(twins, "nll") - self.language.bits
                self._add("hidden_excess", self._mean(more, bucket), **keys)

    def _add_recovered(self, recovered: Bits, part: str, control: str) -> None:
        """Bits per sentence, their share of the source's, and bits per word; not floored."""
        units = {"recovered": np.ones(len(self.words)), "share": self.language.bits,
                 "per_word": self.words}  # fmt: skip
        for bucket, (measure, unit) in product(self.buckets, units.items()):
            statistics = _over(recovered, unit)[:, bucket.inside]
            keys = {"bucket": bucket.name, "part": part, "control": control,
                    "note": self.language.kind, "place": bucket.place}  # fmt: skip
            self.rows += self.arm.rows(measure, ratio_of_sums, statistics, **keys)
            if measure == "share" and not control:
                share = self.arm.estimate(ratio_of_sums, statistics, bucket.place)
                self.shares[part, bucket.name] = share, bucket.n

    def _add_growth(self, recovered: Bits, part: str) -> None:
        """How the bits grow with length, where three buckets are filled."""
        filled = [bucket for bucket in self.buckets if bucket.n]
        if len(filled) < len(HALVES) + 1:
            return
        middle = len(filled) // 2
        for half, members in zip(HALVES, (filled[: middle + 1], filled[middle:]), strict=True):
            means = [float(self.words[bucket.inside].mean()) for bucket in members]
            ours, whole = (
                slope(means, [self._mean(bits, bucket) for bucket in members])
                for bits in (recovered, self.language.bits[None])
            )
            self.kept[part] = ratio(ours, whole)  # the longer half comes last
            n = sum(bucket.n for bucket in members)
            measures = {"slope": ours, "source_slope": whole, "kept": self.kept[part]}
            for measure, bits in measures.items():
                self._add(measure, bits, part=f"{part} {half}", n=n, note=self.language.kind)

    def _add_coarse(self) -> None:
        """BLEU at each level, and what it lost against the memory as it is."""
        counts = {level: self.arm.statistics(bleu_names(level)) for level in LEVELS}
        for place, bucket, inside in in_buckets(self.arm.runs[0], self.words):
            whole = self.arm.estimate(bleu, counts[FULL][:, inside], place)
            for level in LEVELS:
                keys, statistics = {"bucket": bucket, "part": level}, counts[level][:, inside]
                self.rows += self.arm.rows("bleu", bleu, statistics, place=place, **keys)
                lost = difference(whole, self.arm.estimate(bleu, statistics, place))
                self._add("bleu_lost", lost, **keys, n=int(inside.sum()))

    def add_gains(self, none: "Summary") -> None:
        """Attention minus none: shares by bucket, growth kept in the longer half; paired."""
        note = none.arm.name
        for (part, bucket), (share, n) in self.shares.items():
            other, m = none.shares.get((part, bucket), (None, 0))
            if other is not None and n == m:
                gain = difference(share, other)
                self._add("share_gain", gain, part=part, bucket=bucket, n=n, note=note)
        for part in filter(none.kept.__contains__, self.kept):
            gain = difference(self.kept[part], none.kept[part])
            self._add("kept_gain", gain, part=f"{part} {HALVES[1]}", note=note)


def _over(bits: Bits, units: Float[ndarray, "sentences"]) -> Float[ndarray, "seeds sentences 2"]:
    """Columns for `ratio_of_sums`."""
    return np.stack([bits, np.broadcast_to(units, bits.shape)], axis=-1)


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
