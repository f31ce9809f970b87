"""C5, C6: how many bits of the source reach the decoder, and how do they grow with length?

The memory's information on a test sentence is the sentence's exact bits minus the bits that remain
unknown, given the memory. Two measures estimate what remains: the *probe* of the source, by
`train_reader`, and the *translator*, by its loss on the reference. On average over sentences, the
difference is a lower bound on the information.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from ..corpus.vocabulary import UNK
from ..results.bundle import read_table
from ..scoring.bootstrap import Estimate, difference, ratio_of_sums
from ..settings.concerns import bucket_members, holds
from .arms import Estimates, Measured, Probed, Row, arms_of
from .question import PERCENT, Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

SLIDE_LOST, LOST_WORDS = 0.91, 30
"""L9: 2,744 of 3,000 numbers are lost, for a sentence of this many words."""
TOLERANCE, RISES, LEARNED = 0.10, 0.75, 0.10
"""Shares (0 to 1) in the rules."""
UNLEARNED = (
    f"under {LEARNED:.0%} of the shortest sentences' bits are recovered: too little was learned to "
    "judge"
)


def probe(subject: Subject) -> Columns:
    """One row per test sentence: its exact bits, and what remains by each measure."""
    from .subject import train_reader

    pairs, untrained = subject.corpus.test, subject.untrained
    encoded = zip(*subject.encode(pairs), strict=True)
    return {
        "source_words": [pair.words for pair in pairs],
        "bits": [pair.bits for pair in pairs],
        "unknown": [float(UNK in source or UNK in target) for source, target in encoded],
        "nll": read_table(subject.folder / "sentences.csv", {"nll": "f8"})["nll"],
        "probe": train_reader(subject, subject.weights, "probe of the source")[0],
        "probe_untrained": train_reader(subject, untrained, "probe of an untrained encoder")[0],
    }


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm, and attention minus none, paired."""
    rows, bases = [], {}
    for arm in arms_of(probed):  # those without attention come first
        found = arm.runs[0].found
        words, clean = found["source_words"], found["unknown"] == 0
        kept = {}  # the share of a further word's bits that the arm keeps, by part
        members = bucket_members(words, arm.settings.scoring.lower_edges).items()
        buckets = [
            (stream, name, inside[clean[inside]])
            for stream, (name, inside) in enumerate(members)
            if clean[inside].any()
        ]
        longer = buckets[len(buckets) // 2 :]  # with the middle bucket
        means = np.array([words[inside].mean() for *_, inside in longer])
        # The columns of what remains, in nats, each with its part and control.
        for column, part, control in (
            ("probe", "probe", ""),
            ("probe_untrained", "probe", "untrained"),
            ("nll", "translator", ""),
        ):
            nats, bits = np.moveaxis(arm.statistics([column, "bits"]), -1, 0)
            # Per sentence: bits recovered, bits of the source, 1.
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
                slopes = []
                for which in (0, 1):
                    sums = counts[..., [which, 2]]
                    parts = [
                        arm.estimate(ratio_of_sums, sums[:, inside], stream)
                        for stream, _, inside in longer
                    ]
                    points = [np.append(item.value, item.draws) for item in parts]
                    slopes.append((means - means.mean()) @ points)
                value, *draws = ratio_of_sums(np.stack(slopes, axis=-1))
                kept[part] = Estimate(float(value), np.array(draws))
                n = sum(len(inside) for *_, inside in longer)
                rows.append(arm.row("kept", kept[part], part=f"{part} longer", n=n))
        settings = arm.settings.changed(training={"seed": 0}, model={"attention": "none"})
        if arm.settings.model.attention == "none":
            bases[settings] = arm.name, kept
        elif settings in bases:
            name, base = bases[settings]
            for part, share in kept.items():
                gain = difference(share, base[part])
                rows.append(arm.row("kept_gain", gain, part=f"{part} longer", note=name))
    return rows


def _lost(estimates: Estimates) -> Judgement | str:
    """C5: both measures are lower bounds, so the one that recovers more is judged."""
    none = estimates.without_attention
    bucket = next((name for name in estimates.buckets if holds(name, LOST_WORDS)), "")
    by_part = {name: estimates.by_bucket("share", none, name) for name in ("probe", "translator")}
    shares = {part: by[bucket] for part, by in by_part.items() if bucket in by}
    part = max(shares, key=lambda part: shares[part].value, default="")
    if not part or bucket == next(iter(by_part[part])):
        return f"the rule needs bits of {LOST_WORDS} words and of shorter ones, without attention"
    share, shortest = shares[part], next(iter(by_part[part].values()))
    if not shortest.low >= LEARNED:
        return UNLEARNED
    lost, growth = Measured(1 - share.value, 1 - share.high, 1 - share.low), shortest.minus(share)
    near, percent = lost.low >= SLIDE_LOST - TOLERANCE, lost.scaled(100.0)
    change = growth.scaled(100.0).change("{} more", "{} less", "{:z.0f}", " points")
    size = estimates.means.loc[estimates.means["arm"] == none, "context_size"].iloc[0]
    clauses = [
        f"{percent.text('{:z.0f}', '%')} of the bits of {share.n:,} sentences of {bucket} words "
        f"were not recovered by the {part} from {size} numbers (the slide: {SLIDE_LOST:.0%})",
        f"that is {change} than of the shortest sentences",
    ]
    return Judgement(near, growth.low > 0, clauses, f"% of the bits lost, {bucket} words", percent)


def _kept(estimates: Estimates) -> Judgement | str:
    """C6: judges the first arm with attention that has a baseline without."""
    measured = []
    for arm, part in product(estimates.selective, ("probe", "translator")):
        longer = f"{part} longer"
        gain = estimates.get("kept_gain", arm, part=longer)
        theirs = estimates.get("kept", gain.note, part=longer) if gain else None
        if theirs:
            measured.append((arm, part, estimates.get("kept", arm, part=longer), theirs, gain))
    of_first = [item for item in measured if item[0] == measured[0][0]]
    if not of_first:
        return "the rule needs bits in three length buckets, with attention and without"
    arm, part, ours, theirs, gain = max(of_first, key=lambda item: item[2].value)
    if not next(iter(estimates.by_bucket("share", arm, part).values())).low >= LEARNED:
        return UNLEARNED
    attention = estimates.attention[arm]
    kept, without, more = (number.scaled(100.0) for number in (ours, theirs, gain))
    clause = (
        f"in the longer half of the buckets {kept.text('{:z.0f}', '%')} of each further word's "
        f"bits arrive with {attention} attention and {without.text('{:z.0f}', '%')} without, "
        f"{more.change('{} more', '{} less', '{:z.0f}', ' points')} with it (by the {part})"
    )
    measure = f"% of a further word's bits arrive, {attention}"
    fully, partly = gain.low > 0 and ours.low > RISES, gain.low > 0
    return Judgement(fully, partly, [clause], measure, kept)


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The bits in the source, once for all arms, and those that the probe reads, not below 0."""
    source = rows[(rows["measure"] == "source_bits") & rows["seed"].isna()]
    source = source.drop_duplicates("bucket").assign(arm="", control="in the source")
    recovered = rows[(rows["measure"] == "recovered") & (rows["part"] == "probe")]
    ends = recovered[["value", "low", "high"]].clip(lower=0.0)
    return pd.concat([source, recovered.assign(**ends)])


QUESTION = Question(
    name="information",
    question="Do the bits that reach the decoder rise with length, or level off? (C5, C6, L9)",
    title="Bits of the source that reach the decoder (C5, C6)",
    version=2,
    probe=probe,
    summarise=summarise,
    # A text's bits are known if it was drawn from a language and its sentences are not joined.
    suits=lambda settings: settings.corpus.is_drawn and settings.corpus.joined == 1,
    rules={"C5": (
        "The rule reads the share of the source's bits that is lost without attention in the "
        f"bucket of {LOST_WORDS} words: 1 minus the share that the probe of the source or the "
        "translator recovers, whichever recovers more there. Held if its 95 % interval lies at "
        f"{SLIDE_LOST - TOLERANCE:.0%} or more (the slide: {SLIDE_LOST:.0%}); partly if more is "
        "lost there than in the shortest filled bucket, by the same measure (interval of the "
        "difference above 0); otherwise not held. Not measured without bits of the source, if that "
        f"bucket is empty or the shortest, or if under {LEARNED:.0%} of the shortest bucket's bits "
        "are recovered (lower end).",
        _lost,
    ), "C6": (
        "The rule reads the share of each further word's bits that arrives: the slope of the "
        "recovered bits over the number of words, divided by the slope of the source's bits, in "
        "the longer half of the buckets. It takes the measure (probe or translator) by which "
        f"attention keeps more. Held if the 95 % interval with attention lies above {RISES:g} and "
        "that of attention minus none, paired, above 0; partly if only the second does; otherwise "
        "not held. Not measured with fewer than three filled buckets, without both arms, or if "
        f"attention recovers under {LEARNED:.0%} of the shortest bucket's bits (lower end). Of "
        "several arms with attention it reads the first by name.",
        _kept,
    )},
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
            ((arm, part), {"arm": arm, "part": f"{part} longer"})
            for part, arm in product(("probe", "translator"), estimates.arms)
        ]),
    ],
    axes=[
        Axes("Bits that a probe reads from the memory", "bits per sentence",
             measure=("recovered", "source_bits"), select=_drawn)
    ],
)  # fmt: skip
