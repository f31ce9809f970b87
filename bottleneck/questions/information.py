"""C5, C6: how many bits of the source reach the decoder, and how do they grow with length?

The memory's information on a test sentence is the sentence's exact bits minus the bits that remain
unknown, given the memory. Two measures estimate what remains: the *probe*, a new decoder that
learns to write the source from the frozen encoder's memory, and the *translator*, by its loss on
the reference. On average over sentences, the difference is a lower bound on the information.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from ..corpus.vocabulary import UNK
from ..results.bundle import read_table
from ..scoring.bootstrap import Estimate, difference, ratio_of_sums
from ..settings.concerns import bucket_members, holds
from ..settings.run import RunSettings
from .arms import Arm, Estimates, Measured, Probed, Row, arms_of
from .question import PERCENT, Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

MEASURES = {
    "probe": ("probe", ""),
    "probe_untrained": ("probe", "untrained"),
    "nll": ("translator", ""),
}
"""The probe's columns of what remains, in nats, each with its part and control."""
LONGER = {part: f"{part} longer" for part in ("probe", "translator")}
"""The name of the longer half of the buckets, by part; the middle bucket belongs to it."""
SLIDE_LOST, LOST_WORDS = 0.91, 30
"""L9: 2,744 of 3,000 numbers are lost, for a sentence of this many words."""
TOLERANCE, RISES, LEARNED = 0.10, 0.75, 0.10
"""Shares (0 to 1) in the rules."""
LOST_RULE = (
    "The rule reads the share of the source's bits that is lost without attention in the bucket of "
    f"{LOST_WORDS} words: 1 minus the share that the probe of the source or the translator "
    "recovers, whichever recovers more there. Held if its 95 % interval lies at "
    f"{SLIDE_LOST - TOLERANCE:.0%} or more (the slide: {SLIDE_LOST:.0%}); partly if more is lost "
    "there than in the shortest filled bucket, by the same measure (interval of the difference "
    "above 0); otherwise not held. Not measured without bits of the source, if that bucket is "
    f"empty or the shortest, or if under {LEARNED:.0%} of the shortest bucket's bits are recovered "
    "(lower end)."
)
KEPT_RULE = (
    "The rule reads the share of each further word's bits that arrives: the slope of the recovered "
    "bits over the number of words, divided by the slope of the source's bits, in the longer half "
    "of the buckets. It takes the measure (probe or translator) by which attention keeps more. "
    f"Held if the 95 % interval with attention lies above {RISES:g} and that of attention minus "
    "none, paired, above 0; partly if only the second does; otherwise not held. Not measured with "
    "fewer than three filled buckets, without both arms, or if attention recovers under "
    f"{LEARNED:.0%} of the shortest bucket's bits (lower end). Of several arms with attention it "
    "reads the first by name."
)
UNLEARNED = (
    f"under {LEARNED:.0%} of the shortest sentences' bits are recovered: too little was learned to "
    "judge"
)
POINTS = ("{} more", "{} less", "{:z.0f}", " points")


def probe(subject: Subject) -> Columns:
    """One row per test sentence: its exact bits, and what remains by each measure."""
    from .subject import train_reader

    pairs = subject.corpus.test
    encoded = subject.encode(pairs)
    nats, _ = train_reader(subject, subject.weights, "probe of the source")
    untrained, _ = train_reader(subject, subject.untrained, "probe of an untrained encoder")
    return {
        "source_words": [pair.words for pair in pairs],
        "bits": [pair.bits for pair in pairs],
        "unknown": [float(any(UNK in ids for ids in both)) for both in zip(*encoded, strict=True)],
        "nll": read_table(subject.folder / "sentences.csv", {"nll": "f8"})["nll"],
        "probe": nats,
        "probe_untrained": untrained,
    }


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm, and attention minus none, paired."""
    rows: list[Row] = []
    bases: dict[RunSettings, tuple[str, dict[str, Estimate]]] = {}
    for arm in arms_of(probed):  # those without attention come first
        of_arm, kept = _summary(arm)
        rows += of_arm
        settings = arm.settings.changed(training={"seed": 0}, model={"attention": "none"})
        if arm.settings.model.attention == "none":
            bases[settings] = arm.name, kept
        elif settings in bases:
            name, base = bases[settings]
            for part, share in kept.items():
                gain = difference(share, base[part])
                rows.append(arm.row("kept_gain", gain, part=LONGER[part], note=name))
    return rows


def _summary(arm: Arm) -> tuple[list[Row], dict[str, Estimate]]:
    """The rows of an arm, and the share of a further word's bits that it keeps, by part."""
    found = arm.runs[0].found
    words, clean, rows, kept = found["source_words"], found["unknown"] == 0, [], {}
    members = bucket_members(words, arm.settings.scoring.lower_edges).items()
    buckets = [
        (stream, name, inside[clean[inside]])
        for stream, (name, inside) in enumerate(members)
        if clean[inside].any()
    ]
    longer = buckets[len(buckets) // 2 :]
    means = np.array([words[inside].mean() for *_, inside in longer])

    def slope(sums: np.ndarray) -> np.ndarray:
        parts = [arm.estimate(ratio_of_sums, sums[:, i], stream) for stream, _, i in longer]
        return (means - means.mean()) @ [np.append(part.value, part.draws) for part in parts]

    for column, (part, control) in MEASURES.items():
        nats, bits = np.moveaxis(arm.statistics([column, "bits"]), -1, 0)
        counts = np.stack([bits - nats / np.log(2.0), bits, np.ones_like(bits)], axis=-1)
        for stream, name, inside in buckets:
            keys, sums = {"bucket": name, "n": len(inside)}, counts[:, inside]
            if column == "probe":
                whole = arm.estimate(ratio_of_sums, sums[..., 1:], stream)
                rows.append(arm.row("source_bits", whole, **keys))
            keys |= {"part": part, "control": control, "stream": stream}
            rows += arm.rows("recovered", ratio_of_sums, sums[..., [0, 2]], **keys)
            rows += arm.rows("share", ratio_of_sums, sums[..., [0, 1]], **keys)
        if not control and len(buckets) > 2:
            slopes = [slope(counts[..., [which, 2]]) for which in (0, 1)]
            value, *draws = ratio_of_sums(np.stack(slopes, axis=-1))
            kept[part] = Estimate(float(value), np.array(draws))
            n = sum(len(inside) for *_, inside in longer)
            rows.append(arm.row("kept", kept[part], part=LONGER[part], n=n))
    return rows, kept


def _percent(share: Measured) -> str:
    return share.scaled(100.0).text("{:z.0f}", "%")


def _lost(estimates: Estimates) -> Judgement | str:
    """C5: both measures are lower bounds, so the one that recovers more is judged."""
    none = estimates.without_attention()
    bucket = next((name for name in estimates.buckets() if holds(name, LOST_WORDS)), "")
    by_part = {part: estimates.by_bucket("share", none, part) for part in LONGER}
    shares = {part: by[bucket] for part, by in by_part.items() if bucket in by}
    part = max(shares, key=lambda part: shares[part].value, default="")
    if not part or bucket == next(iter(by_part[part])):
        return f"the rule needs bits of {LOST_WORDS} words and of shorter ones, without attention"
    share, shortest = shares[part], next(iter(by_part[part].values()))
    if not shortest.low >= LEARNED:
        return UNLEARNED
    lost, growth = Measured(1 - share.value, 1 - share.high, 1 - share.low), shortest.minus(share)
    size = estimates.means.loc[estimates.means["arm"] == none, "context_size"].iloc[0]
    clauses = [
        f"{_percent(lost)} of the bits of {share.n:,} sentences of {bucket} words were not "
        f"recovered by the {part} from {size} numbers (the slide: {SLIDE_LOST:.0%})",
        f"that is {growth.scaled(100.0).change(*POINTS)} than of the shortest sentences",
    ]
    near, measure = lost.low >= SLIDE_LOST - TOLERANCE, f"% of the bits lost, {bucket} words"
    return Judgement(near, growth.low > 0, clauses, measure, lost.scaled(100.0))


def _kept(estimates: Estimates) -> Judgement | str:
    """C6: judges the first arm with attention that has a baseline without."""
    measured: list[tuple[str, str, Measured, Measured, Measured]] = []
    for arm, (name, part) in product(estimates.arms(selective=True), LONGER.items()):
        gain = estimates.get("kept_gain", arm, part=part)
        theirs = estimates.get("kept", gain.note, part=part) if gain else None
        if theirs:
            measured.append((arm, name, estimates.get("kept", arm, part=part), theirs, gain))
    of_first = [item for item in measured if item[0] == measured[0][0]]
    if not of_first:
        return "the rule needs bits in three length buckets, with attention and without"
    arm, name, ours, theirs, gain = max(of_first, key=lambda item: item[2].value)
    if not next(iter(estimates.by_bucket("share", arm, name).values())).low >= LEARNED:
        return UNLEARNED
    attention = estimates.attention[arm]
    clause = (
        f"in the longer half of the buckets {_percent(ours)} of each further word's bits "
        f"arrive with {attention} attention and {_percent(theirs)} without, "
        f"{gain.scaled(100.0).change(*POINTS)} with it (by the {name})"
    )
    measure = f"% of a further word's bits arrive, {attention}"
    fully, partly = gain.low > 0 and ours.low > RISES, gain.low > 0
    return Judgement(fully, partly, [clause], measure, ours.scaled(100.0))


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The bits in the source, once for all arms, and those that the probe reads, not below 0."""
    source = rows[(rows["measure"] == "source_bits") & rows["seed"].isna()]
    source = source.drop_duplicates("bucket").assign(arm="", control="in the source")
    recovered = rows[(rows["measure"] == "recovered") & (rows["part"] == "probe")]
    ends = ["value", "low", "high"]
    return pd.concat([source, recovered.assign(**recovered[ends].clip(lower=0.0))])


QUESTION = Question(
    name="information",
    question="Do the bits that reach the decoder rise with length, or level off? (C5, C6, L9)",
    title="Bits of the source that reach the decoder (C5, C6)",
    version=2,
    probe=probe,
    summarise=summarise,
    # A text's bits are known if it was drawn from a language and its sentences are not joined.
    suits=lambda settings: settings.corpus.is_drawn and settings.corpus.joined == 1,
    rules={"C5": (LOST_RULE, _lost), "C6": (KEPT_RULE, _kept)},
    notes=[
        "Bits: -log2 P of the source in its language. Probe: a fresh decoder that learns to write "
        "the source from the frozen encoder's memory. Untr.: the same of an untrained encoder. "
        "Trans.: the bits of the source less those of the reference under the translator.",
    ],
    tables=[
        StudyTable("Bits of the source that reach the decoder (C5, C6)", [
            StudyColumn("bits", "source_bits", form="{:z.0f}", ends=""),
            StudyColumn("probe\nbits", "recovered", part="probe", form="{:z.0f}"),
            StudyColumn("probe\n%", "share", part="probe", **PERCENT),
            StudyColumn("untr.\n%", "share", part="probe", control="untrained", **PERCENT),
            StudyColumn("trans.\n%", "share", part="translator", **PERCENT),
        ], slide=(f"{100 * (1 - SLIDE_LOST):.0f}", LOST_WORDS)),  # the per cent that are kept
        StudyTable("Of a further word's bits, in the longer half of the buckets (C6)", [
            StudyColumn("kept\n%", "kept", **PERCENT),
            StudyColumn("attention\nminus none,\npoints", "kept_gain", scale=100.0,
                        form="{:+z.0f}", ends="{:+z.0f}"),
        ], heads=("arm", "measure"), lines=lambda estimates: [
            ((arm, name), {"arm": arm, "part": part})
            for (name, part), arm in product(LONGER.items(), estimates.arms())
        ]),
    ],
    axes=[
        Axes("Bits that a probe reads from the memory", "bits per sentence",
             measure=("recovered", "source_bits"), select=_drawn)
    ],
)  # fmt: skip
