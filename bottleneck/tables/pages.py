"""The tables by name, with their captions: of a bundle's runs, of a study, of gold links."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pandas as pd

from ..claims.registry import CLAIMS, verdict_on
from ..claims.verdict import LEAST_BASE, MARKED_BELOW, Verdict, small_buckets
from ..lecture.slides import SLIDES
from ..results.bundle import Results, load_probe
from ..results.schema import ALL_TABLES, SETTING_COLUMNS, TABLES
from ..scoring.bootstrap import percent_change
from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.run import resolve
from ..settings.sweep import LONGER
from .claims import judge_study
from .comparison import (
    Arm,
    Pair,
    arms_of,
    as_condition,
    common_seeds,
    compare,
    compare_sizes,
    declared,
    list_values,
    rows_of,
    usual,
    what_was_run,
)
from .page import Page
from .render import (
    BUCKET_COLUMNS,
    Column,
    CompactTable,
    cell,
    filled_table,
    new_table,
    with_bounds,
)

SPECS = {
    "failure-pattern": (
        "The failure pattern (L-FAIL): no attention, by sentence length",
        "bucket n compression_ratio bleu quality_drop slide_bleu slide_drop brevity_penalty",
    ),
    "vindication": (
        "The vindication (L-VIND): no attention against {attention}",
        "bucket n bleu_none bleu_attention gain improvement slide_none slide_attention "
        "slide_improvement brevity_penalty_none brevity_penalty_attention",
    ),
    "context-size": (
        "BLEU by context size and source words",
        "context_size bucket n compression_ratio bleu_none bleu_attention gain "
        "brevity_penalty_none brevity_penalty_attention",
    ),
    "compression": (
        "Compression (L4) and BLEU without attention, by ratio",
        "context_size bucket n source_words numbers compression_ratio slide_words slide_ratio "
        "slide_word bleu brevity_penalty",
    ),
    "arms": ("BLEU of every arm by sentence length", ""),
}
"""Each table's title and data columns; measured numbers also have the ends of their interval."""
COLUMNS = [
    Column("context", "context_size"),
    *BUCKET_COLUMNS,
    Column("mean", "source_words", "{:.1f}"),
    Column("ratio", "compression_ratio", "{:.1f}:1"),
    Column("slide L4", "slide_word"),
    Column("BLEU", "bleu", "{:.1f}"),
    Column("BP", "brevity_penalty", "{:.2f}"),
    Column("drop", "quality_drop", "{:+.0f}%", zero="baseline"),
    Column("BLEU\nnone", "bleu_none", "{:.1f}"),
    Column("BLEU\n{attention}", "bleu_attention", "{:.1f}"),
    Column("gain", "gain", "{:+z.1f}"),
    Column("impr.", "improvement", lambda row: cell(row["improvement"], form="{:+.0f}%")),
    Column("slide\nBLEU", "slide_bleu", "{:.1f}"),
    Column("slide\ndrop", "slide_drop", "{:+.0f}%", zero="baseline"),
    Column("slide\nnone", "slide_none", "{:.1f}"),
    Column("slide\nattn", "slide_attention", "{:.1f}"),
    Column("slide\nimpr.", "slide_improvement", "{:+.3g}%"),
]
"""How a terminal shows a column of the data."""
LIKE_SLIDE = {
    "failure-pattern": [
        Column("Sentence Length", "bucket", "{} words"),
        Column("Compression Ratio", "compression_ratio", "{:.1f}:1"),
        Column("BLEU Score", "bleu", "{:.1f}"),
        Column("Quality Drop", "quality_drop", "{:+z.0f}%", zero="baseline"),
    ],
    "vindication": [
        Column("Sentence Length", "bucket", "{} words"),
        Column("No Attention", "bleu_none", "{:.1f}"),
        Column("With Attention", "bleu_attention", "{:.1f}"),
        Column("Improvement", "improvement", "{:+z.0f}%"),
    ],
    "compression": [
        Column("Length", "bucket", "{} words"),
        Column("Input Dims", "numbers", "{:.0f}"),
        Column("Context Dims", "context_size"),
        Column("Ratio", "compression_ratio", "{:.1f}:1"),
        Column(
            "Quality",
            "bleu",
            lambda row: f"BLEU {row['bleu']:.1f} (slide: {row['slide_word']})" if row["n"] else "",
        ),
    ],
}
"""The columns of the slide's own table, and the data that fill them."""
SLIDE_WORDS = "Slide L4: its word for the highest of its ratios that does not exceed the row's."


def default_pages(bundle: Results) -> list[Page]:
    """The tables that show every arm of a bundle: the slides', `context-size` or `arms`."""
    names, every = ["arms"], set(usual(declared(bundle))["arm"])
    with suppress(UserError):  # no arm without attention, or arms that are not alike
        sizes = compare_sizes(bundle)
        if every == {arm.name for pair in sizes for arm in pair if arm}:
            slides = ["failure-pattern", "vindication"][: len(every)]
            names = ["context-size"] if sizes[1:] else slides
    return [make_page(name, bundle) for name in names]


def study_page(study: str, folder: Path, runs: pd.DataFrame | None = None) -> Page:
    """A study's table in a folder; ``runs`` is the folder's tidy table, if it has been read."""
    question = import_module("...questions.question", __name__).find_question(study)
    frame = load_probe(folder, study)
    if runs is None and (bundle := Results.find(folder, sentences=False)):
        runs = bundle.runs
    claims = [claim for claim in CLAIMS if claim.study == study.partition("-")[0]]
    judged = [judge_study(claim, frame, runs)[0] for claim in claims]
    return replace(question.page(frame), judged=judged)


def check_name(name: str, like_slide: bool = False) -> str:
    """A table's name with ``-`` for ``_``; a ``UsageError`` if `make_page` cannot make it."""
    name = name.replace("_", "-")
    if name not in ALL_TABLES:
        raise UsageError(f"unknown table {name!r}{did_you_mean(name, ALL_TABLES)}")
    if like_slide and name not in LIKE_SLIDE:
        raise UsageError(f"--like-slide is for {', '.join(LIKE_SLIDE)}, not {name}")
    return name


def make_page(name: str, bundle: Results, like_slide: bool = False) -> Page:
    """The table of a name in `ALL_TABLES`; ``like_slide``: with the columns of its slide."""
    name = check_name(name, like_slide)
    if name not in TABLES:
        return study_page(name, bundle.folder)
    pairs, judged = [], []
    if name in ("context-size", "compression"):
        pairs = compare_sizes(bundle)
        judged = [verdict_on("C1", [b for none, _ in pairs for b in none.buckets])]
    elif name != "arms":
        start = "L-FAIL" if name == "failure-pattern" else "L-VIND"
        pairs = [compare(bundle, alone=start == "L-FAIL")]
        ids = [claim.id for claim in CLAIMS if claim.id.startswith(start)]
        rows = rows_of(*pairs[0])
        equal = pairs[0][1] is not None and pairs[0][1].attention == "uniform"
        reason = "the only arm with attention has equal weights" * (equal and start == "L-VIND")
        judged = [verdict_on(claim, rows, reason=reason) for claim in ids]
    arms = [arm for pair in pairs for arm in pair if arm] or arms_of(bundle)
    attention = next((arm.attention for _, arm in pairs if arm), None)
    title = SPECS[name][0].format(attention=attention)
    if pairs:
        frame = run_data(name, pairs)
        columns = [
            replace(column, head=column.head.format(attention=attention))
            for column in COLUMNS
            if column.name in frame and frame[column.name].notna().any()
        ]
        table = filled_table(title, frame, columns)
    else:
        frame, table = arms_table(title, arms)
    used = pd.concat([arm.runs for arm in arms])
    ran = what_was_run(used)
    small = small_buckets(dict(zip(frame["bucket"], frame["n"], strict=True)))
    left = len(set(bundle.runs["arm"]) - set(used["arm"]))
    others = f"not in this table: {counted(left, 'arm')} (choose with --where)" if left else ""
    if like_slide:
        return slide_page(name, title, frame, judged, [ran, small, others])
    parts = [ran, "95 % intervals over test sentences", small and f"* {small}", others]
    setup = "; ".join(filter(None, [*parts, *bundle.left_out()]))
    lines = [
        "The slide's numbers are its illustration: compare shapes (order, drop, gain), never "
        "levels. BLEU is not comparable across buckets either, because texts of different lengths "
        "have different n-grams: the claim for attention rests on attention minus none within a "
        "bucket."
    ]
    if "compression_ratio" in frame:
        lines.append("Ratio: mean source words of the bucket x embedding size / context size (L4).")
    lines += [SLIDE_WORDS] if name == "compression" else []
    of_arms, facts = _facts(arms, bundle)
    lines += of_arms
    if pairs:
        lines += bundle.environment["runs"][used["run"].iloc[0]]["environment"]["notes"]
    lines += [f"{setup}.", *facts]
    return Page(name.replace("-", "_"), title, frame, table, judged, lines, setup)


def _facts(arms: Sequence[Arm], bundle: Results) -> tuple[list[str], list[str]]:
    """Lines on the arms; and on unlike settings, intervals and sacreBLEU's signatures.

    An arm has its size, its losses, how much its seeds differ, and what twice the training adds.
    """
    runs, lines = declared(bundle), []
    for arm in arms:
        train, valid = arm.runs[["train_loss", "valid_loss"]].astype(float).mean()
        falling = (arm.runs["best_update"] == arm.runs["updates"]).any()
        size = arm.runs["parameters"].iloc[0]
        text = (
            f"{arm.name}: {size:,} parameters; loss at the end {train:.2f} in training, "
            f"{valid:.2f} in validation (nats per target token), "
            f"{'still falling' if falling else 'which no longer fell'}"
        )
        if len(arm.runs) > 1:
            spreads = (cell(bucket.by_seed.std(ddof=1)) or "-" for bucket in arm.buckets)
            text += f"; standard deviation of BLEU over seeds, by bucket: {' '.join(spreads)}"
        parts = common_seeds(arm.runs, runs[runs["arm"] == f"{arm.name}, {LONGER}"])
        if len(parts[1]):
            once, twice = arms_of(bundle, *parts)
            buckets = zip(once.buckets, twice.buckets, strict=True)
            gains = (cell(b.bleu.value - a.bleu.value, form="{:+.1f}") or "-" for a, b in buckets)
            text += f"; twice the training adds, by bucket: {' '.join(gains)} BLEU"
        lines.append(f"{text}.")
    used, preset = pd.concat([arm.runs for arm in arms]), resolve("lecture")
    unlike = [
        f"{column} {list_values(used[column])}"
        for column, (place, _) in SETTING_COLUMNS.items()
        if column not in ("attention", "seed")
        and (used[column].map(as_condition) != as_condition(preset.value(place))).any()
    ]
    signatures = set(bundle.runs.loc[bundle.runs["run"].isin(used["run"]), "signature"]) - {""}
    resamples = bundle.settings(used["run"].iloc[0]).scoring.resamples
    return lines, [
        *([f"Settings unlike those of preset lecture: {', '.join(unlike)}."] if unlike else []),
        f"Intervals: {resamples:,} bootstrap resamples, the same for every arm and seed, of the "
        "mean over seeds; they do not cover seeds.",
        f"sacreBLEU: {'; '.join(sorted(signatures))}",
    ]


def run_data(name: str, pairs: Sequence[Pair]) -> pd.DataFrame:
    """The data of a table: one row per context size and bucket.

    ``quality_drop`` is the change in per cent from the first filled bucket without attention,
    ``improvement`` from the arm without attention; neither is given from under `LEAST_BASE`.
    ``numbers`` is mean source words x embedding size; ``slide_words``, ``slide_ratio`` and
    ``slide_word`` are of the row of L4 with the highest unrounded ratio that is not above the
    bucket's, else of the first.
    """
    rows, slide = [], SLIDES["L4"]
    lengths = [*zip(slide["words"], slide["printed"]["ratio"], slide["quality"], strict=True)]
    fail, vind = (
        {row["bucket"]: row for row in SLIDES[table]["rows"]} for table in ("L-FAIL", "L-VIND")
    )
    for pair in pairs:
        buckets = rows_of(*pair)
        first = next((row for row in buckets if row.none.bleu.filled), buckets[0]).none.bleu
        for row in buckets:
            none, attention, ratio = row.none, row.attention, row.none.compression_ratio
            drop = improvement = None
            if first.value >= LEAST_BASE:
                drop = percent_change(none.bleu, first)
            if attention and none.bleu.value >= LEAST_BASE:
                improvement = percent_change(attention.bleu, none.bleu)
            cells = {
                "context_size": none.context_size,
                "bucket": none.name,
                "n": none.n,
                "source_words": none.source_words,
                "numbers": ratio * none.context_size,
                "compression_ratio": ratio,
                "slide_word": "",
                "brevity_penalty": none.brevity,
                "brevity_penalty_none": none.brevity,
                "brevity_penalty_attention": attention and attention.brevity,
                **with_bounds("bleu", none.bleu),
                **with_bounds("bleu_none", none.bleu),
                **with_bounds("bleu_attention", attention and attention.bleu),
                **with_bounds("gain", attention and row.gain),
                **with_bounds("quality_drop", drop),
                **with_bounds("improvement", improvement),
            }
            if printed := fail.get(none.name):
                cells |= {"slide_bleu": printed["bleu"], "slide_drop": printed["drop_percent"]}
            if printed := vind.get(none.name):
                cells |= {f"slide_{arm}": printed[arm] for arm in ("none", "attention")}
                cells["slide_improvement"] = printed["improvement_percent"]
            if none.n:
                reached = [item for item in lengths if item[0] * 100 / 256 <= ratio]  # L4's ratio
                words, printed, word = (reached or lengths[:1])[-1]
                cells |= {"slide_words": words, "slide_ratio": printed, "slide_word": word}
            rows.append(cells)
    frame = pd.DataFrame(rows)
    texts = ("context_size", "bucket", "n", "slide_word")
    frame = frame.astype({column: "float64" for column in frame if column not in texts})
    columns = SPECS[name][1].split()
    ends = [f"{column}_{end}" for column in columns for end in ("low", "high")]
    frame = frame.reindex(columns=[*columns, *filter(frame.__contains__, ends)])
    if name == "compression":
        frame = frame.sort_values("compression_ratio", kind="stable", ignore_index=True)
    return frame


def slide_page(
    name: str, title: str, frame: pd.DataFrame, judged: Sequence[Verdict], facts: list[str]
) -> Page:
    """A table in its slide's columns; the caption has the facts, then what is unlike the slide."""
    numbers = frame.drop(columns=[n for n in frame if n.endswith(("_low", "_high"))])
    table = filled_table(title, numbers, LIKE_SLIDE[name])
    slide = pd.DataFrame({column.header: [*column.cells] for column in table.columns})
    scores = [column.name for column in LIKE_SLIDE[name] if column.name.startswith("bleu")]
    widest = max((frame[f"{score}_high"] - frame[f"{score}_low"]).max() for score in scores)
    counts = " to ".join(f"{n:,}" for n in sorted({frame["n"].min(), frame["n"].max()}))
    intervals = f"95 % intervals over test sentences at most {widest:.1f} BLEU wide"
    facts = [*facts[:1], f"{counts} sentences per row; {intervals}", *facts[1:]]
    lines, says = ["; ".join(filter(None, facts)) + "."], {claim.id: claim.says for claim in CLAIMS}
    unlike = [
        f"{says[item.claim]}: {item.verdict} ({item.because.split('; ')[0]})."
        for item in judged
        if item.verdict != "held" and item.claim != "C1"
    ]
    lines += [" ".join(["Not as on the slide.", *unlike])] if unlike else []
    if name == "compression":
        spans = frame[frame["n"] > 0].groupby("slide_word", sort=False)["bleu"]
        words = [f"{word} {bleu.min():.1f} to {bleu.max():.1f}" for word, bleu in spans]
        lines += [SLIDE_WORDS, f"Measured BLEU by the slide's word: {', '.join(words)}."]
    return Page(name.replace("-", "_"), title, slide, table, [], lines)


def arms_table(title: str, arms: Sequence[Arm]) -> tuple[pd.DataFrame, CompactTable]:
    """The data by arm and bucket, and the table by arm; n and ratio are above where they change."""
    rows = [
        {
            "arm": arm.name,
            "seeds": len(arm.runs),
            "parameters": int(arm.runs["parameters"].iloc[0]),
            "bucket": bucket.name,
            "n": bucket.n,
            "compression_ratio": bucket.compression_ratio,
            **with_bounds("bleu", bucket.bleu),
        }
        for arm in arms
        for bucket in arm.buckets
    ]
    numbers = ("compression_ratio", "bleu", "bleu_low", "bleu_high")
    frame = pd.DataFrame(rows).astype(dict.fromkeys(numbers, "float64"))
    table, above = new_table(title, ["arm", *frame["bucket"].unique()]), {}
    table.padding = 0  # five ranges leave no space
    for arm, buckets in frame.groupby("arm", sort=False):
        ratios = [cell(ratio, form="{:.1f}:1") for ratio in buckets["compression_ratio"]]
        counts = [f"n={n:,}{'*' * (n < MARKED_BELOW)}" for n in buckets["n"]]
        lines = {"": counts, "ratio": ratios}
        for head, texts in lines.items():
            if texts != above.get(head):
                table.add_row(head, *texts, style="dim")
        above = lines
        scores = buckets[["bleu", "bleu_low", "bleu_high"]].to_numpy()
        table.add_row(arm, *(cell(*numbers) for numbers in scores))
    return frame, table
