"""The tables of the study ``information`` on a planted bundle file."""

import pandas as pd
import pytest
from rich.console import Console

from seq2seq_bottleneck.claims.information import verdict
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.information import page

BUCKETS = {"5-10": 38.2, "21-30": 104.4, "41+": 236.5}
LEVELS = ("1", "2", "4", "8", "full")


def _around(value, half):
    return {"value": value, "low": value - half, "high": value + half}


def _rows(arm, kind):
    facts = {"arm": arm, "attention": arm, "placement": "input", "context_size": 256}
    facts |= {"corpus": "grammar", "updates": 2000, "control": "", "part": "", "note": ""}
    for place, (bucket, bits) in enumerate(BUCKETS.items()):
        mine = facts | {"bucket": bucket, "n": 240 if place else 90, "note": kind}
        bits = float("nan") if kind == "unknown" else bits
        yield mine | {"measure": "source_bits"} | _around(bits, 3.0)
        yield mine | {"measure": "left_out", "value": float(place)}
        yield mine | {"measure": "bleu", "part": "full", "seed": 1, "run": "a", "value": 12.0}
        for level, value in zip(LEVELS, (8.0, 17.0, 23.0, 24.5, 24.6), strict=True):
            yield mine | {"measure": "bleu", "part": level} | _around(value, 1.2)
        if kind == "unknown":
            continue
        for part, control, share in (
            ("probe", "", 0.81), ("probe", "untrained", 0.3), ("probe", "shuffled", -0.25),
            ("translator", "", 0.72), ("translator", "shuffled", 0.04),
        ):  # fmt: skip
            if kind == "exact" or part == "translator":
                own = mine | {"part": part, "control": control}
                yield own | {"measure": "share"} | _around(share, 0.02)
                yield own | {"measure": "recovered"} | _around(share * bits, 2.0)
    for half in ("shorter", "longer") if kind == "exact" else ():
        n = 180 if half == "longer" else 90
        own = facts | {"part": f"probe {half}", "bucket": "", "note": kind, "n": n}
        yield own | {"measure": "slope"} | _around(2.25, 0.1)
        yield own | {"measure": "source_slope"} | _around(4.5, 0.1)
        yield own | {"measure": "kept"} | _around(0.5, 0.03)
        if arm != "none" and half == "longer":
            yield own | {"measure": "kept_gain", "note": "none"} | _around(0.21, 0.02)
    if kind == "exact":
        yield facts | {"bucket": "", "measure": "probe_updates", "value": 1000.0}


def _frame(kind="exact"):
    rows = [row for arm in ("none", "additive") for row in _rows(arm, kind)]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def _printed(frame, width=80):
    console = Console(width=width, record=True, color_system=None)
    with console.capture() as held:
        console.print(page(frame).table)
    return held.get()


@pytest.fixture(scope="module")
def text():
    return _printed(_frame())


def _line(text, bucket, arm, place=0):
    found = [i for i, line in enumerate(text.splitlines()) if line.split()[:2] == [bucket, arm]]
    return [text.splitlines()[found[place] + below].split() for below in (0, 1)]


def test_bits_and_their_shares_fit_80_columns(text):
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    values, ends = _line(text, "41+", "additive")
    assert values == ["41+", "additive", "240", "236", "192", "81", "30", "0", "72", "4"]
    assert ends == ["190..194", "79..83", "28..32", "70..74"]


def test_what_the_shuffled_probe_loses_is_floored_in_print_alone(text):
    assert _line(text, "41+", "none")[0][7] == "0"
    frame = page(_frame()).frame
    probe = (frame["control"] == "shuffled") & (frame["part"] == "probe")
    assert frame.loc[probe, "share"].tolist() == [-0.25] * 6


def test_a_total_is_floored_with_both_ends_of_its_interval():
    frame = _frame()
    untrained = (frame["control"] == "untrained") & (frame["measure"] == "share")
    frame.loc[untrained, ["value", "low", "high"]] = [-0.01, -0.05, 0.03]
    values, ends = _line(_printed(frame), "41+", "additive")
    assert (values[6], ends[2]) == ("0", "0..3")


def test_the_slides_number_stands_beside_thirty_words_without_attention(text):
    values, _ = _line(text, "21-30", "none")
    assert values[-1] == "9"
    assert len(values) == len(_line(text, "21-30", "additive")[0]) + 1


def test_growth_is_in_per_cent_and_a_difference_beside_the_longer_half(text):
    lines = [line.split() for line in text.splitlines()]
    longer = [line for line in lines if line[1:3] == ["probe", "longer"]]
    assert longer == [
        ["none", "probe", "longer", "180", "2.25", "4.50", "50"],
        ["additive", "probe", "longer", "180", "2.25", "4.50", "50", "+21"],
    ]
    assert ["none", "probe", "shorter", "90*", "2.25", "4.50", "50"] in lines


def test_a_difference_of_per_cents_is_in_points(text):
    heads = [line.split() for line in text.splitlines() if line.split()[-1:] == ["points"]]
    assert len(heads) == 1


def test_bleu_by_level_of_bits(text):
    values, ends = _line(text, "5-10", "additive", 1)
    assert values == ["5-10", "additive", "90*", "8.0", "17.0", "23.0", "24.5", "24.6"]
    assert ends == ["7..9", "16..18", "22..24", "23..26", "23..26"]


def test_the_caption_says_what_the_probe_is_and_who_was_left_out():
    told = "\n".join(page(_frame()).caption)
    assert "trained for 1,000 updates" in told
    assert "without 3 sentences" in told
    assert "-log2 P" in told
    assert "flatters" not in told


def test_the_star_and_both_controls_are_explained():
    made = page(_frame())
    assert any("* behind a count: under 100" in line for line in made.caption)
    told = " ".join(made.caption)
    assert "the probe is given the memory of another sentence of the bucket" in told
    assert "it is given the source of another sentence of the bucket" in told


def test_of_an_empty_bucket_no_excess_is_told():
    frame = _frame()
    rows = frame[frame["measure"] == "source_bits"].assign(measure="hidden_excess", value=6.0)
    rows.loc[rows["bucket"] == "41+", ["value", "low", "high", "n"]] = [float("nan")] * 3 + [0]
    told = "\n".join(page(pd.concat([frame, rows])).caption)
    assert "would flatter by so many: 5-10 +6.0, 21-30 +6.0." in told


def test_of_a_text_without_exact_bits_the_translators_are_shown():
    made = page(_frame("hidden"))
    assert "An undertrained one has bits too many, and flatters." in "\n".join(made.caption)
    assert _line(_printed(_frame("hidden")), "41+", "additive")[0] == [
        "41+", "additive", "240", "236", "72", "4",
    ]  # fmt: skip
    assert made.frame.loc[made.frame["control"] == "shuffled", "share"].tolist() == [0.04] * 6


def test_where_nothing_stands_for_the_language_the_command_is_named():
    made = page(_frame("unknown"))
    assert "--set model.source=hidden" in "\n".join(made.caption)
    assert [one.verdict for one in verdict(_frame("unknown"))] == ["not measured"] * 2
    printed = _printed(_frame("unknown"))
    assert _line(printed, "41+", "none")[0] == ["41+", "none", "240"]
    assert _line(printed, "41+", "none", 1)[0][3:] == ["8.0", "17.0", "23.0", "24.5", "24.6"]
