"""C5, C6: bits of the source that reach the decoder, and how they grow with length.

Two measures, both of the test sentences. The *probe* learns to write the source from the frozen
encoder's memory: the exact bits of the sentence less what it still has to be told. The
*translator*: the exact bits less what the translator has to be told of the reference, which is a
function of the source. Where the language is unknown a translator whose source is hidden stands for
it. The control of both puts another sentence of the length bucket in the source's place. What a
decoder makes of a context in fewer bits is told beside, as robustness.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from ..corpus.vocabulary import UNK
from ..probes.information import Growth, growth, parts_of, recovered_bits
from ..questions.arms import Arm, arms_of, in_buckets, interval_of
from ..questions.question import Columns, Probed, Row, Study, Tell
from ..questions.subject import Subject, source_words
from ..results.folders import SENTENCES, run_rows
from ..scoring.bleu import bleu
from ..scoring.bootstrap import Estimate, difference
from ..scoring.buckets import Buckets
from ..scoring.sums import ratio_of_sums
from ..settings.errors import UserError
from .language import Bits, Language, in_bits, language_of, twins_of, without_attention
from .robustness import FULL, PARTS, names, robustness
from .source_probe import losses, probe_updates, shuffled, train_reader, written_back

MEASURES = (
    ("probe", "", "probe"),
    ("probe", "untrained", "probe_untrained"),
    ("probe", "shuffled", "probe_shuffled"),
    ("translator", "", "nll"),
    ("translator", "shuffled", "nll_shuffled"),
)
"""Part, control, and the column of what is left to tell, in nats."""
HALVES = ("shorter", "longer")
"""Of the buckets; the one in the middle is in both."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """A row a test sentence: its exact bits, what each measure has to be told, BLEU's counts.

    Of a translator whose source is hidden it is what the reference has to be told alone; of a text
    whose bits nobody knows there is no probe of the source.
    """
    pairs = subject.corpus.test
    encoded = subject.encode(pairs)
    columns: dict[str, object] = {
        "source_words": source_words(pairs),
        "bits": [pair.bits for pair in pairs],
        "unknown": [float(any(UNK in ids for ids in both)) for both in zip(*encoded, strict=True)],
        "nll": [float(row["nll"]) for row in run_rows(subject.folder / SENTENCES)],
    }
    if subject.settings.model.source == "hidden":
        return columns
    groups = subject.buckets.assign(source_words(pairs))
    if all(pair.bits is not None for pair in pairs):
        columns |= _probed(subject, groups, tell)
    tell("references of other sources")
    columns["nll_shuffled"] = losses(subject.graph, subject.weights, shuffled(encoded, groups))
    return columns | robustness(subject, tell)


def _probed(
    subject: Subject, groups: Int[np.ndarray, "sentences"], tell: Tell
) -> dict[str, np.ndarray]:
    """What the probes have to be told of each source, in nats."""
    test = written_back(subject, subject.corpus.test)
    reader = train_reader(subject, subject.weights, tell, "probe of the source")
    untrained = train_reader(subject, subject.untrained, tell, "probe of an untrained encoder")
    return {
        "probe": losses(*reader, test),
        "probe_untrained": losses(*untrained, test),
        "probe_shuffled": losses(*reader, shuffled(test, groups)),
    }


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm that sees its source, and attention minus none.

    A ``UserError`` where no arm does.
    """
    hidden = [run for run in probed if run.settings.model.source == "hidden"]
    arms = arms_of([run for run in probed if run.settings.model.source == "seen"])
    if not arms:
        raise UserError(
            "study information needs runs that see their source: all of these have "
            "model.source=hidden; `bottleneck reproduce` trains others"
        )
    found = [_Found(arm, hidden) for arm in arms]
    bases = {without_attention(one.arm): one for one in found if one.attention == "none"}
    rows: list[Row] = []
    for one in found:
        base = bases.get(without_attention(one.arm), one)
        rows += one.rows
        if base is not one:
            rows += _gains(one, base)
    return rows


@dataclass(eq=False)
class _Found:
    """An arm's rows, and the estimates that another arm's are compared with."""

    arm: Arm
    hidden: Sequence[Probed]
    rows: list[Row] = field(default_factory=list)
    shares: dict[tuple[str, str], tuple[Estimate, int]] = field(default_factory=dict)
    growths: dict[str, Growth] = field(default_factory=dict)

    @property
    def attention(self) -> str:
        """The arm's."""
        return self.arm.settings.model.attention

    def __post_init__(self) -> None:
        language = language_of(self.arm, self.hidden)
        self.rows += _language_rows(self.arm, language, self.hidden)
        for part, control, column in MEASURES:
            if column not in self.arm.runs[0].found or language.kind == "unknown":
                continue
            keys = {"part": part, "control": control, "note": language.kind}
            self.rows += _bit_rows(self.arm, language, column, keys)
            if not control:
                self._grow(language, part, column)
        if "probe" in self.arm.runs[0].found:
            updates = probe_updates(self.arm.settings.training.updates)
            self.rows.append(self.arm.row("probe_updates", float(updates)))
        self.rows += _robustness_rows(self.arm)

    def _grow(self, language: Language, part: str, column: str) -> None:
        """Shares of each bucket and growth with length, with their resamples."""
        recovered, whole, words, counts = [], [], [], []
        for place, bucket, inside in _counted_buckets(self.arm, language):
            bits, units = _recovered(self.arm, language, column)[:, inside], language.bits[inside]
            recovered.append(_estimate(self.arm, bits, np.ones(len(units)), place))
            whole.append(_estimate(self.arm, units[None], np.ones(len(units)), place))
            words.append(float(np.mean(_words(self.arm)[inside])) if inside.any() else np.nan)
            share = _estimate(self.arm, bits, units, place)
            counts.append(int(inside.sum()))
            self.shares[part, bucket] = share, counts[-1]
        filled = [place for place, one in enumerate(recovered) if one.filled]
        if len(filled) < len(HALVES) + 1:
            return
        self.growths[part] = growth(words, recovered, whole)
        parts = self.growths[part].lower, self.growths[part].upper
        for half, found, held in zip(HALVES, parts, parts_of(filled), strict=True):
            n = sum(counts[place] for place in held)
            keys = {"part": f"{part} {half}", "n": n, "note": language.kind}
            for measure in ("slope", "exact", "kept"):
                one: Estimate = getattr(found, measure)
                name = "source_slope" if measure == "exact" else measure
                self.rows.append(self.arm.row(name, one.value, **interval_of(one), **keys))


def _language_rows(arm: Arm, language: Language, hidden: Sequence[Probed]) -> Iterator[Row]:
    """Bits in the source by bucket; and how many more a hidden-source translator has.

    By so many it would flatter; told where both are known.
    """
    twins = twins_of(arm, hidden) if language.kind == "exact" else []
    places = Buckets(arm.settings.scoring.lower_edges).assign(_words(arm).astype(np.int64))
    for place, bucket, inside in _counted_buckets(arm, language):
        bits = language.bits[inside][None]
        n = int(inside.sum())
        keys = {"bucket": bucket, "n": n, "note": language.kind}
        found = _estimate(arm, bits, np.ones(n), place)
        yield arm.row("source_bits", found.value, **interval_of(found), **keys)
        yield arm.row("left_out", float((places == place).sum() - n), **keys)
        if twins:
            more = _estimate(arm, in_bits(twins, "nll")[:, inside] - bits, np.ones(n), place)
            yield arm.row("hidden_excess", more.value, **interval_of(more), **keys)


def _bit_rows(arm: Arm, language: Language, column: str, keys: Row) -> Iterator[Row]:
    """Bits a sentence, their share of the source's, and bits a word, by bucket; not floored."""
    recovered = _recovered(arm, language, column)
    for place, bucket, inside in _counted_buckets(arm, language):
        units = {
            "recovered": np.ones(int(inside.sum())),
            "share": language.bits[inside],
            "per_word": _words(arm)[inside],
        }
        for measure, unit in units.items():
            statistics = _over(recovered[:, inside], unit)
            own = {"place": place, "bucket": bucket} | keys
            yield from arm.rows(measure, ratio_of_sums, statistics, **own)


def _robustness_rows(arm: Arm) -> Iterator[Row]:
    """BLEU at each level, and what it lost against the memory as it is."""
    counts = {part: np.stack([_columns(run, part) for run in arm.runs]) for part in PARTS}
    for place, bucket, inside in in_buckets(arm.runs[0], _words(arm)):
        whole = arm.estimate(bleu, counts[FULL][:, inside], place)
        for part in PARTS:
            keys = {"bucket": bucket, "part": part}
            statistics = counts[part][:, inside]
            yield from arm.rows("bleu", bleu, statistics, place=place, **keys)
            lost = difference(whole, arm.estimate(bleu, statistics, place))
            keys |= {"n": int(inside.sum())}
            yield arm.row("bleu_lost", lost.value, **interval_of(lost), **keys)


def _gains(attending: _Found, none: _Found) -> Iterator[Row]:
    """Attention minus none: shares by bucket, and the growth kept in the longer half; paired."""
    for (part, bucket), (share, n) in attending.shares.items():
        other, m = none.shares.get((part, bucket), (None, 0))
        if other is not None and n == m:
            gain = difference(share, other)
            keys = {"part": part, "bucket": bucket, "n": n, "note": none.arm.name}
            yield attending.arm.row("share_gain", gain.value, **interval_of(gain), **keys)
    for part, found in attending.growths.items():
        if part in none.growths:
            gain = difference(found.upper.kept, none.growths[part].upper.kept)
            keys = {"part": f"{part} {HALVES[1]}", "note": none.arm.name}
            yield attending.arm.row("kept_gain", gain.value, **interval_of(gain), **keys)


def _counted_buckets(arm: Arm, language: Language) -> Iterator[tuple]:
    """Place, name and members that count of each bucket."""
    for place, bucket, inside in in_buckets(arm.runs[0], _words(arm)):
        yield place, bucket, inside & language.counted


def _recovered(arm: Arm, language: Language, column: str) -> Bits:
    left = in_bits(arm.runs, column)
    return recovered_bits(np.broadcast_to(language.bits, left.shape), left)


def _columns(run: Probed, part: str) -> Float[np.ndarray, "sentences 10"]:
    return np.stack([run.found[name] for name in names(part)], axis=1)


def _words(arm: Arm) -> Float[np.ndarray, "sentences"]:
    return arm.runs[0].found["source_words"]


def _over(bits: Bits, units: Float[np.ndarray, "sentences"]) -> np.ndarray:
    """Columns for `ratio_of_sums`."""
    return np.stack([bits, np.broadcast_to(units, bits.shape)], axis=-1)


def _estimate(arm: Arm, bits: Bits, units: Float[np.ndarray, "sentences"], place: int) -> Estimate:
    return arm.estimate(ratio_of_sums, _over(bits, units), place)


STUDY = Study(
    name="information",
    ids=("C5", "C6", "L9"),
    question="How many bits of the source reach the decoder: do they level off, or rise with it?",
    version=2,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
)
