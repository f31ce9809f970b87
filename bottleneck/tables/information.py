"""The tables of the study ``information`` (C5, C6): bits, their growth, and robustness."""

import pandas as pd
from rich.table import Table

from ..claims.information import LOST_WORDS, SLIDE_LOST
from ..settings.buckets import holds
from ..settings.errors import counted
from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, wide

TITLE = "Bits of the source that reach the decoder (C5, C6)"
GROWTH_TITLE = "Bits a further word adds: level, or rising with the source? (C5, C6)"
ROBUSTNESS_TITLE = "BLEU at a few bits a number: robustness, not content (C5)"
HEADS = ["source\nwords", "arm", "n", "bits", "probe\nbits", "probe\n%", "untr.\n%",
         "shuf.\n%", "trans.\n%", "its\nshuf.", "slide\n%"]  # fmt: skip
GROWTH_HEADS = ["arm", "measure", "half", "n", "bits\na word", "in the\nsource",
                "kept\n%", "attention\nminus none,\npoints"]  # fmt: skip
LEVELS = ("1", "2", "4", "8", "full")
HALVES = ("shorter", "longer")
PARTS = ("probe", "translator")
MEASURES = ["source_bits", "recovered", "share", "per_word", "share_gain", "slope", "source_slope",
            "kept", "kept_gain", "hidden_excess", "bleu", "bleu_lost"]  # fmt: skip

CONTROLS = (
    "Probe: a fresh decoder that learns to write the source from the frozen encoder's memory (the "
    "last state without attention, all states with it); what it recovers is the bits less its "
    "cross-entropy of the whole sentence, a sum floored at 0. It is a lower bound on what the "
    "memory holds: the probe was trained for {updates} updates, and one of more might read more. "
    "Untr.: an untrained encoder, of the weights that the run began with, and a probe trained as "
    "long. Shuf.: shuffled, the probe is given the memory of another sentence of the bucket."
)
EXACT = (
    "Bits: -log2 P of the source in the language that it was drawn from, the draw of its length "
    "included. On the grammar some English sentences share their French: what tells them apart "
    "counts as the translator's (of three words 0.1 of 13.3 bits)."
)
TRANSLATOR = (
    "Trans.: the translator's own, the bits of the source less those of the reference under it. "
    "Its shuf.: the same where it is given the source of another sentence of the bucket, from "
    "which it can learn no more than what all have in common; floored at 0 as well (the CSV has "
    "all as they are). Slide: 256 of about 3,000 numbers (L9). %: of the bits in the source."
)
HIDDEN = (
    "Bits: those of the reference under a translator whose source is hidden, trained as long, "
    "which stands for the language. An undertrained one has bits too many, and flatters."
)
UNKNOWN = (
    "How many bits the sentences have is not known of this text: a translator whose source is "
    "hidden stands for it. `bottleneck sweep vindication --set model.attention=none --set "
    "model.source=hidden --out DIR`, with the settings of these runs and into their folder, "
    "trains one; then `bottleneck study information --results DIR`."
)
GROWTH = (
    "Lines through the buckets' totals, shorter and longer half (the middle bucket is in both), by "
    "their mean words. Kept: the share of a further word's bits that arrives, about 0 where they "
    "level off and 100 % where they rise as the source does; not floored."
)
ROBUSTNESS = (
    "After training, each number of the context (with attention of every state; s_0 is made of "
    "them too) is put into the middle of one of 2, 4, 16 or 256 equal cells of its range over "
    "1,000 training sentences; greedy search. What survives shows how coarse a context the "
    "translator stands, not how many bits are in it: it was not trained to use them."
)


def page(frame: pd.DataFrame) -> Page:
    """Three tables under each other."""
    shown = means(frame)
    grid = Table.grid()
    grid.add_row(_bits(shown))
    if (shown["measure"] == "kept").any():
        grid.add_row(_growth(shown))
    grid.add_row(_robustness(shown))
    known = [name for name in MEASURES if (shown["measure"] == name).any()]
    told = [*_told(shown), *caption(frame)]
    return Page("information", TITLE, wide(frame, known), grid, [], told)


def _bits(shown: pd.DataFrame) -> Table:
    table = new_table(TITLE, HEADS, texts=2)
    for bucket in dict.fromkeys(shown["bucket"]):
        for arm in arms(shown):
            whole = cell(shown, arm=arm, bucket=bucket, measure="source_bits")
            if whole is not None:
                table.add_row(bucket, arm, count(int(whole["n"])), *_cells(shown, arm, whole))
    return table


def _cells(shown: pd.DataFrame, arm: str, whole: dict) -> list[str]:
    """Bits in the source and what reaches the decoder, of one arm and bucket."""
    keys = {"arm": arm, "bucket": whole["bucket"]}
    mine = keys | {"part": "probe"}
    own = cell(shown, **keys, part="translator", measure="share")
    said = whole["attention"] == "none" and holds(whole["bucket"], LOST_WORDS)
    return [
        number(whole["value"], "{:z.0f}"),
        _floored(cell(shown, **mine, measure="recovered"), "{:z.0f}"),
        _floored(cell(shown, **mine, measure="share"), scale=100.0),
        _floored(cell(shown, **mine, control="untrained", measure="share"), scale=100.0),
        _shuffled(shown, mine),
        _floored(own, scale=100.0),
        _shuffled(shown, keys | {"part": "translator"}),
        f"{100 * (1 - SLIDE_LOST):.0f}" if said else "",
    ]


def _shuffled(shown: pd.DataFrame, keys: dict[str, str]) -> str:
    """The share that a measure has of another sentence; no room for the interval."""
    row = cell(shown, **keys, control="shuffled", measure="share")
    return _floored(row, scale=100.0, ranged=False)


def _growth(shown: pd.DataFrame) -> Table:
    table = new_table(GROWTH_TITLE, GROWTH_HEADS, texts=3)
    for part in PARTS:
        for half in HALVES:
            for arm in arms(shown):
                keys = {"arm": arm, "part": f"{part} {half}"}
                slope = cell(shown, **keys, measure="slope")
                if slope is None:
                    continue
                table.add_row(
                    arm,
                    part,
                    half,
                    "" if pd.isna(slope["n"]) else count(int(slope["n"])),
                    _ranged(slope, "{:z.2f}"),
                    number(cell(shown, **keys, measure="source_slope")["value"], "{:z.2f}"),
                    _ranged(cell(shown, **keys, measure="kept"), "{:z.0f}", scale=100.0),
                    _ranged(cell(shown, **keys, measure="kept_gain"), "{:+z.0f}", scale=100.0),
                )
    return table


def _robustness(shown: pd.DataFrame) -> Table:
    heads = [f"{level} bit{'s' * (level != '1')}" for level in LEVELS[:-1]]
    heads = ["source\nwords", "arm", "n", *heads, "all"]
    table = new_table(ROBUSTNESS_TITLE, heads, texts=2)
    rows = shown[shown["measure"] == "bleu"]
    for bucket in dict.fromkeys(rows["bucket"]):
        for arm in arms(rows):
            held = [cell(rows, arm=arm, bucket=bucket, part=level) for level in LEVELS]
            if held[0] is not None:
                values = [_ranged(each, "{:.1f}", ends="{:z.0f}") for each in held]
                table.add_row(bucket, arm, count(int(held[0]["n"])), *values)
    return table


def _told(shown: pd.DataFrame) -> list[str]:
    """What the numbers are, by the kinds that are there."""
    bits = shown[shown["measure"] == "source_bits"]
    kinds = {"exact": EXACT, "hidden": HIDDEN, "unknown": UNKNOWN}
    told = [text for kind, text in kinds.items() if (bits["note"] == kind).any()]
    updates = sorted(set(shown.loc[shown["measure"] == "probe_updates", "value"]))
    told.append(TRANSLATOR)
    if updates:
        told.append(CONTROLS.format(updates=" or ".join(f"{int(each):,}" for each in updates)))
    told += [line for line in (_left_out(shown), _excess(shown)) if line]
    if (shown["measure"] == "kept").any():
        told.append(GROWTH)
    return [*told, ROBUSTNESS]


def _left_out(shown: pd.DataFrame) -> str:
    """How many sentences have a word that is in no vocabulary."""
    rows = shown[shown["measure"] == "left_out"]
    most = int(rows.groupby("arm")["value"].sum().max()) if len(rows) else 0
    return (
        f"Bits without {counted(most, 'sentence')} with a word outside of the vocabularies: as "
        '"unknown" it would be cheaper than it is.'
        if most
        else ""
    )


def _excess(shown: pd.DataFrame) -> str:
    """How much a hidden-source translator would flatter, where the exact bits are known."""
    rows = shown[(shown["measure"] == "hidden_excess") & shown["value"].notna()]
    rows = rows.drop_duplicates("bucket")
    listed = ", ".join(f"{row['bucket']} {row['value']:+z.1f}" for row in rows.to_dict("records"))
    return (
        "A translator whose source is hidden, trained as long, has of these references more bits "
        f"than the sources have, and would flatter by so many: {listed}."
        if listed
        else ""
    )


def _floored(
    row: dict | None, form: str = "{:z.0f}", scale: float = 1.0, ranged: bool = True
) -> str:
    """A total, none under 0, with its interval below it."""
    if row is None or pd.isna(row["value"]):
        return ""
    floored = row | {name: max(0.0, row[name]) for name in ("value", "low", "high")}
    return _ranged(floored, form, scale) if ranged else form.format(scale * floored["value"])


def _ranged(row: dict | None, form: str, scale: float = 1.0, ends: str = "") -> str:
    """A value with its interval below it, in a form of its own where it would be too wide."""
    if row is None or pd.isna(row["value"]):
        return ""
    low, high = ((ends or form).format(scale * row[end]) for end in ("low", "high"))
    return f"{form.format(scale * row['value'])}\n{low}..{high}"
