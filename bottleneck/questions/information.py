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

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..claims.verdict import FAMILY, Verdict, numbers
from ..corpus.vocabulary import UNK
from ..figures.plot import Panel, Plot, chosen, data_frame, drawn, facts, longest
from ..results.folders import SENTENCES, run_rows
from ..scoring.bleu import bleu_statistics
from ..settings.buckets import holds
from ..settings.errors import counted
from .estimates import Estimate, Estimates
from .question import Column, Columns, Grid, Line, Question, Tell, grade
from .recovered_bits import FULL, HALVES, LEVELS, PARTS, bleu_names, summarise

if TYPE_CHECKING:
    from .subject import Subject

SLIDE_LOST, LOST_WORDS = 0.91, 30
"""L9: 2,744 of 3,000 numbers, of a sentence of so many words."""
TOLERANCE, RISES = 0.10, 0.75
"""The shares (0 to 1) that the rules speak of."""
LEARNED = 0.10
"""Share of the shortest bucket's bits under which nothing has been learned to judge."""
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
UNLEARNED = (
    f"of the shortest sentences' bits under {LEARNED:.0%} are recovered: nothing has been learned "
    "to judge"
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """A row for each test sentence: exact bits, what each measure has to be told, BLEU's counts.

    Of a translator whose source is hidden it is what the reference has to be told alone; of a text
    whose bits are unknown there is no probe of the source.
    """
    from .coarse_memory import coarse_translations
    from .source_reader import losses, shuffled, train_reader, written_back

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
    references = [pair.target for pair in pairs]
    for level, texts in coarse_translations(subject, tell):
        columns |= dict(zip(bleu_names(level), bleu_statistics(texts, references).T, strict=True))
    return columns


def decide(estimates: Estimates | None) -> Sequence[Verdict]:
    """C5: 91 % of 30 words are lost. C6: attention keeps every state."""
    if estimates is None:
        reason = "no bits were measured: run `bottleneck study information`"
        rules = {"C5": LOST_RULE, "C6": KEPT_RULE}
        return [Verdict(claim, "not measured", rule, reason) for claim, rule in rules.items()]
    return [_lost(estimates), _kept(estimates)]


def _shares(estimates: Estimates, arm: str) -> dict[str, dict[str, Estimate]]:
    """An arm's shares of the source's bits that were measured, by bucket and part."""
    shares: dict[str, dict[str, Estimate]] = {}
    for name, bucket, control, part in estimates.keys("share"):
        estimate = estimates.get("share", name, bucket, control, part)
        if name == arm and not control and not np.isnan(estimate.value):
            shares.setdefault(bucket, {})[part] = estimate
    return shares


def _percent(share: Estimate) -> str:
    """Per cent as the slide writes it."""
    return share.scaled(100.0).text("{:z.0f}", "%")


def _points(gain: Estimate) -> str:
    """A difference of two shares in words."""
    return gain.scaled(100.0).change("{} more", "{} less", "{:z.0f}", " points")


def _lost(estimates: Estimates) -> Verdict:
    """C5. Neither measure finds more than there is: the one that finds more is judged."""
    none = next((arm for arm in estimates.arms() if estimates.attention(arm) == "none"), "")
    shares = _shares(estimates, none)
    bucket = next((name for name in shares if holds(name, LOST_WORDS)), "")
    first = next(iter(shares), "")
    if not bucket or bucket == first:
        reason = (
            f"no share of the bits of {LOST_WORDS} words, and of shorter ones, without attention"
        )
        return Verdict("C5", "not measured", LOST_RULE, reason)
    part, *others = sorted(shares[bucket], key=lambda part: -shares[bucket][part].value)
    share, shortest = shares[bucket][part], shares[first][part]
    if not shortest.low >= LEARNED:
        return Verdict("C5", "not measured", LOST_RULE, UNLEARNED)
    lost = Estimate(1 - share.value, 1 - share.high, 1 - share.low)
    growth = shortest.minus(share)
    size = estimates.means.loc[estimates.means["arm"] == none, "context_size"].iloc[0]
    rest = ", ".join(f"by the {name} {_percent(shares[bucket][name])}" for name in others)
    exact = all(item.note == "exact" for item in shares[bucket].values())
    clauses = [
        f"{_percent(lost)} of the bits of {share.n:,} sentences of {bucket} words were not "
        f"recovered by the {part} from {size} numbers (the slide: {SLIDE_LOST:.0%})",
        f"that is {_points(growth)} than of the shortest sentences",
        f"what was recovered otherwise: {rest}" if rest else "",
        "" if exact else STAND_IN,
    ]
    scaled = lost.scaled(100.0)
    number = numbers(f"% of the bits lost, {bucket} words", scaled.value, scaled.low, scaled.high)
    verdict = grade(held=lost.low >= SLIDE_LOST - TOLERANCE, partly=growth.low > 0)
    return Verdict("C5", verdict, LOST_RULE, "; ".join(filter(None, clauses)), **number)


def _kept(estimates: Estimates) -> Verdict:
    """C6, for the first arm with attention that is compared with one without."""
    compared: dict[str, dict[str, tuple[Estimate, Estimate, Estimate]]] = {}
    for arm, _, _, part in estimates.keys("kept_gain"):
        gain = estimates.get("kept_gain", arm, part=part)
        ours, theirs = (estimates.get("kept", name, part=part) for name in (arm, gain.note))
        if arm in estimates.arms(selective=True) and ours and theirs and not np.isnan(gain.value):
            compared.setdefault(arm, {})[part] = ours, theirs, gain
    if not compared:
        reason = "bits over three lengths with attention and without are needed"
        return Verdict("C6", "not measured", KEPT_RULE, reason)
    arm, parts = next(iter(compared.items()))
    part = max(parts, key=lambda part: parts[part][0].value)
    ours, theirs, gain = parts[part]
    measure, attention = part.split()[0], estimates.attention(arm)
    shares = [item[measure] for item in _shares(estimates, arm).values() if measure in item]
    if not shares[0].low >= LEARNED:
        return Verdict("C6", "not measured", KEPT_RULE, UNLEARNED)
    falls = " (under 0: their total falls)" if theirs.high < 0 else ""
    because = (
        f"in the longer half of the buckets {_percent(ours)} of each further word's bits arrive "
        f"with {attention} attention and {_percent(theirs)} without{falls}, {_points(gain)} with "
        f"it (by the {measure})"
    )
    if not all(share.note == "exact" for share in shares):
        because += f"; {STAND_IN}"
    scaled = ours.scaled(100.0)
    name = f"% of a further word's bits arrive, {attention}"
    number = numbers(name, scaled.value, scaled.low, scaled.high)
    verdict = grade(held=gain.low > 0 and ours.low > RISES, partly=gain.low > 0)
    return Verdict("C6", verdict, KEPT_RULE, because, **number)


KINDS = {
    "exact": "Bits: -log2 P of the source in the language that it was drawn from, the draw of its "
    "length included. On the grammar some English sentences share their French: what tells them "
    "apart counts as the translator's (of three words 0.1 of 13.3 bits).",
    "hidden": "Bits: those of the reference under a translator whose source is hidden, trained as "
    "long, which stands for the language. An undertrained one has bits too many, and flatters.",
    "unknown": "How many bits the sentences have is not known of this text: a translator whose "
    "source is hidden stands for it. To train it, run `bottleneck sweep vindication --set "
    "model.attention=none --set model.source=hidden --out DIR` with the settings of these runs "
    "and into their folder, then `bottleneck study information --results DIR`.",
}
COLUMNS = (
    "Probe: a fresh decoder that learns to write the source from the frozen encoder's memory (the "
    "last state without attention, all states with it){updates}; with more training it might read "
    "more. Untr.: an untrained encoder, and a probe trained as long. Trans.: the translator's own, "
    "the bits of the source less those of the reference under it. Shuf.: each is given another "
    "sentence of the bucket. Totals are floored at 0 (the CSV has all numbers as they are). Slide: "
    "256 of about 3,000 numbers (L9)."
)
GROWTH = (
    "Kept: the share of a further word's bits that arrives, by lines through the buckets' totals, "
    "in the shorter and the longer half (the middle bucket is in both); not floored."
)
COARSE = (
    "BLEU at a few bits: after training, each number of the memory is put into the middle of one "
    "of 2, 4, 16 or 256 equal cells of its range over 1,000 training sentences. The translator was "
    "not trained to use them."
)


def notes(frame: pd.DataFrame) -> list[str]:
    """What the numbers are, by the kinds that are there."""
    rows = frame[frame["seed"].isna()]
    read = ("source_bits", "probe_updates", "left_out", "hidden_excess", "kept")
    rows_of = {name: rows[rows["measure"] == name] for name in read}
    lines = [text for kind, text in KINDS.items() if kind in set(rows_of["source_bits"]["note"])]
    updates = sorted(set(rows_of["probe_updates"]["value"].astype(int)))
    trained = f", trained for {' or '.join(f'{count:,}' for count in updates)} updates"
    lines.append(COLUMNS.format(updates=trained if updates else ""))
    most = rows_of["left_out"].groupby("arm")["value"].sum().max()
    if most > 0:
        lines.append(f"Bits without {counted(int(most), 'sentence')} with unknown words.")
    excess = rows_of["hidden_excess"].dropna(subset="value").drop_duplicates("bucket")
    if len(excess):
        pairs = zip(excess["bucket"], excess["value"], strict=True)
        more = ", ".join(f"{bucket} {value:+z.1f}" for bucket, value in pairs)
        lines.append(
            "A translator whose source is hidden, trained as long, has more bits of these "
            f"references than the sources have, and would flatter by so many: {more}."
        )
    return [*lines, *[GROWTH] * bool(len(rows_of["kept"])), COARSE]


def _floored(scale: float = 100.0, ranged: bool = True) -> Callable[[Estimate], str]:
    """How a total is printed, none under 0, with its interval below it if there is room."""

    def text(estimate: Estimate) -> str:
        ends = (estimate.value, estimate.low, estimate.high)
        value, low, high = (f"{max(0.0, scale * end):z.0f}" for end in ends)
        return f"{value}\n{low}..{high}" if ranged else value

    return text


def _slide(estimates: Estimates, keys: Mapping[str, str]) -> str:
    """Per cent kept by the slide, beside the bucket that its sentence is in."""
    said = estimates.attention(keys["arm"]) == "none" and holds(keys["bucket"], LOST_WORDS)
    return f"{100 * (1 - SLIDE_LOST):.0f}" if said else ""


def by_half(estimates: Estimates) -> Iterable[Line]:
    """A row for each measure, half of the buckets and arm."""
    for part, half, arm in product(PARTS, HALVES, estimates.arms()):
        yield (arm, part, half), {"arm": arm, "part": f"{part} {half}"}


class Information(Question):
    """The question, whose figure shows what was measured of the text at hand."""

    def plot(self, frame: pd.DataFrame) -> Plot:
        """Bits by length beside the source's; BLEU of the longest sentences by bits per number."""
        names = {"probe": "Bits that a probe reads from the memory",
                 "translator": "Bits that the translator need not be told"}  # fmt: skip
        part = next((part for part in PARTS if len(chosen(frame, "recovered", part=part))), "probe")
        source = chosen(frame, "source_bits")
        source = source[source["seed"].isna()].drop_duplicates("bucket")
        recovered = chosen(frame, "recovered", part=part, control=("", "untrained"))
        rows = drawn(names[part], source.assign(arm="", control="in the source"))
        rows += drawn(names[part], recovered, floor=0)
        scores = chosen(frame, "bleu")
        coarse = f"BLEU of coarse contexts, {longest(scores)} words"
        scores = chosen(scores, "bleu", bucket=longest(scores))
        rows += drawn(coarse, scores, "part", names={FULL: "all"})
        panels = (
            Panel(names[part], "source words", "bits per sentence", "sentences", limits=(0, None)),
            Panel(coarse, "bits per number", "BLEU (0 to 100)", "sentences", limits=(0, None)),
        )
        return Plot(self.figure, panels, data_frame(rows), facts(frame))


QUESTION = Information(
    name="information",
    ids=("C5", "C6", "L9"),
    question="How many bits of the source reach the decoder: do they level off, or rise with it?",
    title="Bits of the source that reach the decoder (C5, C6)",
    version=2,
    probe=probe,
    summarise=summarise,
    decide=decide,
    notes=notes,
    measures=("source_bits", "recovered", "share", "per_word", "share_gain", "slope",
              "source_slope", "kept", "kept_gain", "hidden_excess", "bleu", "bleu_lost"),
    grids=[
        Grid(
            "Bits of the source that reach the decoder (C5, C6)",
            [
                Column("bits", "source_bits", form="{:z.0f}", ends=""),
                Column("probe\nbits", "recovered", part="probe", cell=_floored(scale=1.0)),
                Column("probe\n%", "share", part="probe", cell=_floored()),
                Column("untr.\n%", "share", part="probe", control="untrained", cell=_floored()),
                Column("shuf.\n%", "share", part="probe", control="shuffled",
                       cell=_floored(ranged=False)),
                Column("trans.\n%", "share", part="translator", cell=_floored()),
                Column("its\nshuf.", "share", part="translator", control="shuffled",
                       cell=_floored(ranged=False)),
            ],
            printed=_slide,
        ),
        Grid(
            "Bits a further word adds: level, or rising with the source? (C5, C6)",
            [
                Column("bits\na word", "slope", form="{:z.2f}", ends="{:z.2f}"),
                Column("in the\nsource", "source_slope", form="{:z.2f}", ends=""),
                Column("kept\n%", "kept", scale=100.0, form="{:z.0f}", ends="{:z.0f}"),
                Column("attention\nminus none,\npoints", "kept_gain", scale=100.0,
                       form="{:+z.0f}", ends="{:+z.0f}"),
            ],
            heads=("arm", "measure", "half"),
            lines=by_half,
        ),
        Grid(
            "BLEU at a few bits per number: robustness, not content (C5)",
            [
                Column("all" if level == FULL else f"{level} bit{'s' * (level != '1')}", "bleu",
                       part=level, ends="{:z.0f}")
                for level in LEVELS
            ],
        ),
    ],
    figure="How much of the source reaches the decoder?",
    axes=(),
)  # fmt: skip
