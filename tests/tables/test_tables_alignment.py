"""The tables of the study ``alignment`` on a planted bundle file."""

import pandas as pd
import pytest
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables import alignment

ERRORS = {"": 0.197, "untrained": 0.964, "diagonal": 0.601, "ibm1": 0.124, "best": 0.033}
WEIGHTS = {"": 0.73, "untrained": 0.04, "equal": 0.03}
BUCKETS = {"5-10": 200, "11-20": 200, "41+": 99, "": 1000}


def _facts(arm):
    return {
        "arm": arm, "attention": arm, "placement": "input", "context_size": 256,
        "corpus": "grammar", "updates": 2000, "part": "", "bucket": "", "control": "", "note": "",
    }  # fmt: skip


def _rated(arm, bucket, n, errors=True):
    facts = _facts(arm) | {"bucket": bucket, "n": n}
    for measure in ("aer", "precision", "recall") if errors else ():
        for control, value in ERRORS.items():
            yield facts | {"measure": measure, "control": control, "value": value}
    for control in ("untrained", "diagonal", "ibm1") if errors else ():
        value = ERRORS[control] - ERRORS[""]
        yield facts | {"measure": "aer_gap", "control": control, "value": value}
    for control, value in WEIGHTS.items():
        yield facts | {"measure": "weight", "control": control, "value": value}
    yield facts | {"measure": "weight_after", "value": 0.11}


def _ranged(rows):
    """Each mean with its interval, and a seed's row that no table shows."""
    for row in rows:
        yield row | {"low": row["value"] - 0.01, "high": row["value"] + 0.01}
        yield row | {"run": "r1", "seed": 1, "value": 5.0}


def _frame(rows):
    return pd.DataFrame([*rows], columns=list(PROBE_COLUMNS))


def _alignment(arms=("additive", "scaled-dot"), buckets=BUCKETS):
    rows = [row for bucket, n in buckets.items() for arm in arms
            for row in _rated(arm, bucket, n, arm != "uniform")]  # fmt: skip
    return _frame(_ranged(rows))


def _printed(page):
    console = Console(width=80, color_system=None)
    with console.capture() as held:
        console.print(page.table)
    return held.get()


def test_alignment_has_a_row_a_bucket_and_arm_within_80_columns():
    text = _printed(alignment.page(_alignment()))
    assert "…" not in text
    lines = [line.split() for line in text.splitlines()]
    at = lines.index(["5-10", "additive", "200", "19.7", "96.4", "60.1", "12.4", "20", "20", "73"])
    assert lines[at + 1] == ["19..21", "59..61", "11..13", "(3)"]
    assert ["41+", "scaled-dot", "99*"] in [line[:3] for line in lines]
    assert sum(line[:1] == ["all"] for line in lines) == 2


def test_alignment_tells_what_was_possible():
    made = alignment.page(_alignment(("additive",)))
    assert any("* behind a count: under 100" in line for line in made.caption)
    told = " ".join(made.caption)
    assert "(gold has more, or none): 3.3 %." in told
    assert "right after the gold source words: additive 11 %." in told
    row = made.frame[(made.frame["bucket"] == "41+") & (made.frame["control"] == "ibm1")]
    assert row["aer"].item() == 0.124
    assert row["aer_gap_high"].item() == pytest.approx(0.124 - 0.197 + 0.01)


def test_the_least_error_is_the_gold_links_and_told_once_unless_arms_differ_in_them():
    told = " ".join(alignment.page(_alignment()).caption)
    assert "(gold has more, or none): 3.3 %." in told
    frame = _alignment()
    other = (frame["control"] == "best") & (frame["arm"] == "scaled-dot")
    frame.loc[other & (frame["measure"] == "aer"), "value"] = 0.052
    told = " ".join(alignment.page(frame).caption)
    assert "(gold has more, or none): additive 3.3 %, scaled-dot 5.2 %." in told


def test_equal_weights_have_dashes_for_an_error_rate_and_a_reason():
    made = alignment.page(_alignment(("uniform",)))
    lines = [line.split() for line in _printed(made).splitlines()]
    assert ["all", "uniform", "1,000", "-", "-", "-", "-", "-", "-", "73"] in lines
    assert any("equal weights have no largest" in line for line in made.caption)


def test_a_gold_set_is_one_row_with_its_note():
    frame = _alignment(("additive",), {"": 447})
    frame["note"] = "additive: unknown to the run are 2.0 % of the source"
    made = alignment.gold_page(frame)
    assert made.name == "alignment_gold"
    assert "additive: unknown to the run are 2.0 % of the source." in made.caption
    assert sum(line.split()[:1] == ["all"] for line in _printed(made).splitlines()) == 1


def test_a_gold_set_has_its_length_buckets_and_tells_of_shorter_sentences():
    made = alignment.gold_page(_alignment(("additive", "scaled-dot"), {"5-10": 200, "": 447}))
    assert sum(line.split()[:1] == ["5-10"] for line in _printed(made).splitlines()) == 2
    assert made.caption[0] == "Sentences shorter than any bucket: 247, in the row all alone."
    whole = alignment.gold_page(_alignment(("additive",), {"5-10": 200, "": 200}))
    assert not any("shorter" in line for line in whole.caption)
