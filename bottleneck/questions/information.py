"""C5, C6: how many bits of the source reach the decoder, and how do they grow with length?

What a test sentence's bits are without the memory, less what they are given it, is what the memory
tells of the sentence. Without: the exact bits (copying, the grammar); of a text whose language is
unknown, the bits under a translator whose source is hidden. Given it: by the *probe*, a fresh
decoder that learns to write the source from the frozen encoder's memory; by the *translator*, what
it still has to be told of the reference, which is a function of the source. The control of both
puts another sentence of the bucket in the source's place. On average over sentences the difference
is a lower bound on the information, for no probe beats the truth; but an undertrained translator
with a hidden source has bits too many, and the difference flatters.

Only totals are floored at zero, where they are printed: to floor each sentence, which is as often
unlucky as lucky, would make bits out of noise.
"""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from numpy import ndarray

from ..claims.verdict import FAMILY
from ..corpus.vocabulary import UNK
from ..figures.plot import Panel, Plot, chosen, data_frame, drawn, facts
from ..results.folders import SENTENCES, run_rows
from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import difference, ratio_of_sums
from ..settings.concerns import holds
from ..settings.errors import UserError
from ..settings.run import RunSettings
from .arms import Arm, Estimate, Estimates, arms_of, in_buckets
from .question import Column, Columns, Grid, Judgement, Probed, Question, Row, Tell

if TYPE_CHECKING:
    from .subject import Subject

PARTS = ("probe", "translator")
MEASURES = (
    ("probe", "", "probe"),
    ("probe", "untrained", "probe_untrained"),
    ("probe", "shuffled", "probe_shuffled"),
    ("translator", "", "nll"),
    ("translator", "shuffled", "nll_shuffled"),
)
"""Part, control, and the probe's column of what remains to be told, in nats."""
LONGER = {part: f"{part} longer" for part in PARTS}
"""How the longer half of the buckets is called, by part; the middle bucket is in it."""

SLIDE_LOST, LOST_WORDS = 0.91, 30
"""L9: 2,744 of 3,000 numbers, of a sentence of so many words."""
TOLERANCE, RISES, LEARNED = 0.10, 0.75, 0.10
"""The shares (0 to 1) that the rules speak of; under the last, of the shortest bucket's bits,
nothing has been learned to judge."""
LOST_RULE = (
    "Lost is 1 minus the share of the source's bits that is recovered without attention, by the "
    "probe of the source or by the translator itself, whichever recovers more, in the bucket of "
    f"{LOST_WORDS} words. What is recovered is a lower bound, so that this is an upper bound. Held "
    f"if its 95 % interval lies within {100 * TOLERANCE:.0f} points of {SLIDE_LOST:.0%} "
    f"({SLIDE_LOST - TOLERANCE:.0%} or more); partly if not, but more is lost there than in the "
    "shortest filled bucket (interval of the difference above 0); otherwise not held. Not measured "
    "without bits of the source, where that bucket is empty or the shortest, or where under "
    f"{LEARNED:.0%} of the shortest bucket's bits are recovered (lower end): what has not been "
    f"learned cannot be lost. {FAMILY}"
)
KEPT_RULE = (
    "Kept is the share of each further word's bits that arrives: the slope of the recovered bits "
    "over the words, over the slope of the source's bits, in the longer half of the buckets, by "
    "the measure (probe or translator) by which attention keeps more. Held if the 95 % interval "
    f"with attention lies above {RISES:g} and that of attention minus none, paired, above 0; "
    "partly if the latter alone does; otherwise not held. Not measured with fewer than three "
    "filled buckets, without both arms, or where attention recovers under "
    f"{LEARNED:.0%} of the shortest bucket's bits (lower end). {FAMILY} Of several arms with "
    "attention the first is judged."
)
STAND_IN = "a translator whose source is hidden stands for the language, and may flatter"
POINTS = ("{} more", "{} less", "{:z.0f}", " points")
"""How a difference of two shares reads."""
UNLEARNED = (
    f"of the shortest sentences' bits under {LEARNED:.0%} are recovered: nothing has been learned "
    "to judge"
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """A row for each test sentence: exact bits, and what each measure has to be told.

    Of a translator whose source is hidden it is what the reference has to be told alone; of a text
    whose bits are unknown there is no probe of the source.
    """
    from .frozen_memory import losses, shuffled, train_reader, written_back

    pairs = subject.corpus.test
    encoded, words = subject.encode(pairs), np.array([pair.words for pair in pairs])
    columns: dict[str, object] = {
        "source_words": words,
        "bits": [pair.bits for pair in pairs],
        "unknown": [float(any(UNK in ids for ids in both)) for both in zip(*encoded, strict=True)],
        "nll": [float(row["nll"]) for row in run_rows(subject.folder / SENTENCES)],
    }
    if subject.settings.model.source == "hidden":
        return columns
    groups = subject.buckets.assign(words)
    if all(pair.bits is not None for pair in pairs):
        sources = written_back(subject, pairs)
        reader = train_reader(subject, subject.weights, tell, "probe of the source")
        untrained = train_reader(subject, subject.untrained, tell, "probe of an untrained encoder")
        columns |= {
            "probe": losses(*reader, sources),
            "probe_untrained": losses(*untrained, sources),
            "probe_shuffled": losses(*reader, shuffled(sources, groups)),
        }
    tell("references of other sources")
    columns["nll_shuffled"] = losses(subject.graph, subject.weights, shuffled(encoded, groups))
    return columns


def without_attention(settings: RunSettings) -> RunSettings:
    """The settings of a run's counterpart without attention, whatever the seed."""
    return settings.changed(
        model={"attention": "none"},
        training={"seed": 0},
        decoding={"copy_unknown": False},  # an arm that cannot attend to words cannot copy them
    )


def twins_of(arm: Arm, hidden: Sequence[Probed]) -> list[Probed]:
    """Translators that differ from the arm's in a hidden source, but for seed and attention.

    Without a source all kinds of attention are the same.
    """
    alike = without_attention(arm.settings).changed(model={"source": "hidden"})
    return [run for run in hidden if without_attention(run.settings) == alike]


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm that sees its source, and attention minus none, paired.

    Raises UserError where no arm does.
    """
    hidden = [run for run in probed if run.settings.model.source == "hidden"]
    arms = arms_of([run for run in probed if run.settings.model.source == "seen"])
    if not arms:
        raise UserError(
            "study information needs runs that see their source: all of these have "
            "model.source=hidden; `bottleneck reproduce` trains others"
        )
    rows: list[Row] = []
    bases: dict[RunSettings, tuple[str, dict[str, Resampled]]] = {}
    for arm in arms:  # those without attention come first
        of_arm, kept = _summary(arm, twins_of(arm, hidden))
        rows += of_arm
        settings = without_attention(arm.settings)
        if arm.settings.model.attention == "none":
            bases[settings] = arm.name, kept
            continue
        name, base = bases.get(settings, ("", {}))
        for part in filter(base.__contains__, kept):
            gain = difference(kept[part], base[part])
            rows.append(arm.row("kept_gain", gain, part=LONGER[part], note=name))
    return rows


def _summary(arm: Arm, twins: Sequence[Probed]) -> tuple[list[Row], dict[str, Resampled]]:
    """The rows of an arm, and the share of a further word's bits that it keeps, by part.

    ``bits`` are each sentence's without its source: the exact ones where they are known, else those
    of translators of hidden sources (``twins``). Of the exact ones only sentences count whose words
    are all in both vocabularies: "unknown" is cheaper to tell than the word that it stands for.
    """
    columns = arm.runs[0].found
    words, bits = columns["source_words"], columns["bits"]
    kind, known = "exact", columns["unknown"] == 0
    if np.isnan(bits).any():
        kind, known = "hidden" if twins else "unknown", np.ones(len(words), bool)
        alone = [run.found["nll"] / np.log(2.0) for run in twins]
        bits = np.mean(alone, axis=0) if twins else np.full(len(words), np.nan)
    rows, kept, buckets = [], {}, []
    for place, bucket, members in in_buckets(arm.runs[0], words):
        inside = members & known
        buckets.append((place, bucket, inside))
        whole = arm.estimate(ratio_of_sums, _over(bits[None], 1.0, inside), place)
        keys = {"bucket": bucket, "n": int(inside.sum()), "note": kind}
        rows.append(arm.row("source_bits", whole, **keys))
    filled = [item for item in buckets if item[2].any()]
    longer = filled[len(filled) // 2 :]
    for part, control, column in MEASURES:
        if column not in columns or kind == "unknown":
            continue
        recovered = bits - arm.statistics([column])[..., 0] / np.log(2.0)
        units = {"recovered": 1.0, "share": bits}
        for (place, bucket, inside), (measure, unit) in product(buckets, units.items()):
            statistics = _over(recovered, unit, inside)
            keys = {"place": place, "bucket": bucket, "part": part, "control": control}
            rows += arm.rows(measure, ratio_of_sums, statistics, note=kind, **keys)
        if not control and len(filled) > 2:
            kept[part] = _share_kept(arm, words, recovered, bits, longer)
            n = sum(int(inside.sum()) for *_, inside in longer)
            rows.append(arm.row("kept", kept[part], part=LONGER[part], n=n, note=kind))
    return rows, kept


def _share_kept(
    arm: Arm, words: Float[ndarray, "sentences"], recovered: Float[ndarray, "seeds sentences"],
    bits: Float[ndarray, "sentences"], buckets: Sequence[tuple],
) -> Resampled:  # fmt: skip
    """The bits that a word adds to the recovered ones over those that it adds to the source's.

    By least squares of bits per sentence on words, in which each bucket is a point.
    """
    means = np.array([words[inside].mean() for _, _, inside in buckets])
    line = (means - means.mean()) / ((means - means.mean()) ** 2).sum()
    slopes = []
    for values in (recovered, bits[None]):
        parts = [
            arm.estimate(ratio_of_sums, _over(values, 1.0, inside), place)
            for place, _, inside in buckets
        ]
        slopes.append(line @ np.stack([np.append(part.value, part.draws) for part in parts]))
    value, *draws = ratio_of_sums(np.stack(slopes, axis=-1))
    return Resampled(float(value), np.array(draws))


def _over(
    bits: Float[ndarray, "seeds sentences"], unit: float | Float[ndarray, "sentences"],
    inside: Bool[ndarray, "sentences"],
) -> Float[ndarray, "seeds members 2"]:  # fmt: skip
    """Columns for `ratio_of_sums` of the sentences inside."""
    return np.stack([bits, np.broadcast_to(unit, bits.shape)], axis=-1)[:, inside]


def _shares(estimates: Estimates, arm: str, part: str) -> dict[str, Estimate]:
    """Shares of the source's bits that a measure recovers, by bucket, where there are any."""
    shares = {name: estimates.get("share", arm, name, part=part) for name in estimates.buckets()}
    return {name: share for name, share in shares.items() if share and not np.isnan(share.value)}


def _percent(share: Estimate) -> str:
    return share.scaled(100.0).text("{:z.0f}", "%")


def _lost(estimates: Estimates) -> Judgement | str:
    """C5. Neither measure finds more than there is: the one that finds more is judged."""
    none = next((arm for arm in estimates.arms() if estimates.attention(arm) == "none"), "")
    bucket = next((name for name in estimates.buckets() if holds(name, LOST_WORDS)), "")
    by_part = {part: _shares(estimates, none, part) for part in PARTS}
    shares = {part: known[bucket] for part, known in by_part.items() if bucket in known}
    part = max(shares, key=lambda part: shares[part].value, default="")
    if not part or bucket == next(iter(by_part[part])):
        return f"no share of the bits of {LOST_WORDS} words, and of shorter ones, without attention"
    share, shortest = shares[part], next(iter(by_part[part].values()))
    if not shortest.low >= LEARNED:
        return UNLEARNED
    lost = Estimate(1 - share.value, 1 - share.high, 1 - share.low)
    growth = shortest.minus(share)
    size = estimates.means.loc[estimates.means["arm"] == none, "context_size"].iloc[0]
    rest = [f"by the {name} {_percent(shares[name])}" for name in shares if name != part]
    clauses = [
        f"{_percent(lost)} of the bits of {share.n:,} sentences of {bucket} words were not "
        f"recovered by the {part} from {size} numbers (the slide: {SLIDE_LOST:.0%})",
        f"that is {growth.scaled(100.0).change(*POINTS)} than of the shortest sentences",
        *(f"what was recovered otherwise: {text}" for text in rest),
        "" if all(item.note == "exact" for item in shares.values()) else STAND_IN,
    ]
    near, measure = lost.low >= SLIDE_LOST - TOLERANCE, f"% of the bits lost, {bucket} words"
    return Judgement(near, growth.low > 0, clauses, measure, lost.scaled(100.0))


def _kept(estimates: Estimates) -> Judgement | str:
    """C6, for the first arm with attention that is compared with one without."""
    for arm in estimates.arms(selective=True):
        measures: dict[str, tuple[Estimate, Estimate, Estimate]] = {}
        for measure, part in LONGER.items():
            gain = estimates.get("kept_gain", arm, part=part)
            theirs = estimates.get("kept", gain.note, part=part) if gain else None
            if theirs and not np.isnan(gain.value):
                measures[measure] = estimates.get("kept", arm, part=part), theirs, gain
        if measures:
            break
    else:
        return "bits over three lengths with attention and without are needed"
    measure = max(measures, key=lambda measure: measures[measure][0].value)
    (ours, theirs, gain), attention = measures[measure], estimates.attention(arm)
    shares = [*_shares(estimates, arm, measure).values()]
    if not shares[0].low >= LEARNED:
        return UNLEARNED
    falls = " (under 0: their total falls)" if theirs.high < 0 else ""
    clauses = [
        f"in the longer half of the buckets {_percent(ours)} of each further word's bits "
        f"arrive with {attention} attention and {_percent(theirs)} without{falls}, "
        f"{gain.scaled(100.0).change(*POINTS)} with it (by the {measure})",
        "" if all(share.note == "exact" for share in shares) else STAND_IN,
    ]
    more, measure = gain.low > 0, f"% of a further word's bits arrive, {attention}"
    return Judgement(more and ours.low > RISES, more, clauses, measure, ours.scaled(100.0))


KINDS = {
    "exact": "Bits: -log2 P of the source in the language that it was drawn from, the draw of its "
    "length included. On the grammar some English sentences share their French: what tells them "
    "apart counts as the translator's (of three words 0.1 of 13.3 bits).",
    "hidden": "Bits: those of the reference under a translator whose source is hidden, trained as "
    "long, which stands for the language. An undertrained one has bits too many, and flatters.",
    "unknown": "How many bits the sentences have is not known of this text. A translator whose "
    "source is hidden can stand for it: run `bottleneck sweep vindication --set "
    "model.attention=none --set model.source=hidden --out DIR` with the settings of these runs.",
}


def notes(frame: pd.DataFrame) -> list[str]:
    """What the numbers are, by the kinds that are there."""
    means = frame[frame["seed"].isna()]
    kinds = set(means.loc[means["measure"] == "source_bits", "note"])
    lines = [text for kind, text in KINDS.items() if kind in kinds]
    lines.append(
        "Probe: a fresh decoder that learns to write the source from the frozen encoder's memory, "
        "in half as many updates. Untr.: the same of an untrained encoder. Trans.: the bits of the "
        "source less those of the reference under the translator. Shuf.: each is given another "
        "sentence of the bucket. Kept: the share of a further word's bits that arrives, by lines "
        "through the longer half of the buckets. Floored at 0: bits and their shares (not in the "
        "CSV). Slide: 256 of about 3,000 numbers (L9)."
    )
    return lines


class Information(Question):
    """The question, whose figure shows what was measured of the text."""

    def plot(self, frame: pd.DataFrame) -> Plot:
        """Bits by length, recovered and in the source: by the probe if there are any."""
        part = next((part for part in PARTS if len(chosen(frame, "recovered", part=part))), "probe")
        bits = {"probe": "Bits that a probe reads from the memory",
                "translator": "Bits that the translator need not be told"}[part]  # fmt: skip
        source = chosen(frame, "source_bits")
        source = source[source["seed"].isna()].drop_duplicates("bucket")
        rows = drawn(bits, source.assign(arm="", control="in the source"))
        recovered = chosen(frame, "recovered", part=part, control=("", "untrained"))
        rows += drawn(bits, recovered, floor=0)
        panel = Panel(bits, "source words", "bits per sentence", "sentences", limits=(0, None))
        return Plot(self.figure, (panel,), data_frame(rows), facts(frame))


SHARE = {"scale": 100.0, "form": "{:z.0f}"}

QUESTION = Information(
    name="information",
    ids=("C5", "C6", "L9"),
    question="How many bits of the source reach the decoder: do they level off, or rise with it?",
    title="Bits of the source that reach the decoder (C5, C6)",
    version=2,
    probe=probe,
    summarise=summarise,
    rule=LOST_RULE,
    decide=_lost,
    more_rules={"C6": (KEPT_RULE, _kept)},
    notes=notes,
    measures=("source_bits", "recovered", "share", "kept", "kept_gain"),
    grids=[
        Grid(
            "Bits of the source that reach the decoder (C5, C6)",
            [
                Column("bits", "source_bits", form="{:z.0f}", ends=""),
                Column("probe\nbits", "recovered", part="probe", form="{:z.0f}", floor=0.0),
                Column("probe\n%", "share", part="probe", floor=0.0, **SHARE),
                Column("untr.\n%", "share", part="probe", control="untrained", floor=0.0, **SHARE),
                Column("shuf.\n%", "share", part="probe", control="shuffled", floor=0.0, ends="",
                       **SHARE),
                Column("trans.\n%", "share", part="translator", floor=0.0, **SHARE),
                Column("its\nshuf.", "share", part="translator", control="shuffled", floor=0.0,
                       ends="", **SHARE),
            ],
            # Per cent kept by the slide, beside the bucket that its sentence is in.
            printed=lambda estimates, keys: (
                f"{100 * (1 - SLIDE_LOST):.0f}"
                if estimates.attention(keys["arm"]) == "none" and holds(keys["bucket"], LOST_WORDS)
                else ""
            ),
        ),
        Grid(
            "Of a further word's bits, in the longer half of the buckets (C6)",
            [
                Column("kept\n%", "kept", **SHARE),
                Column("attention\nminus none,\npoints", "kept_gain", scale=100.0,
                       form="{:+z.0f}", ends="{:+z.0f}"),
            ],
            heads=("arm", "measure"),
            lines=lambda estimates: [
                ((arm, name), {"arm": arm, "part": part})
                for (name, part), arm in product(LONGER.items(), estimates.arms())
            ],
        ),
    ],
    figure="How much of the source reaches the decoder?",
    axes=(),
)  # fmt: skip
