"""C5, C6: summaries of planted runs, both rules, the tables, a real run."""

from pathlib import Path

import numpy as np
import pytest
from planted_pages import frame, one_row, read_back, row_of

from seq2seq_bottleneck.questions.information import QUESTION, probe, summarise
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.settings.run import resolve

NATS = np.log(2.0)
WORDS = np.repeat(np.arange(5, 51), 3).astype(float)
BITS = 4.0 * WORDS
"""Bits of sentences in a language with four bits per word."""


def planted(attention="none", limit=999, seed=1, **changed):
    """A run that tells all bits of the words up to a limit, with noise by sentence."""
    luck = np.random.default_rng(seed).normal(0.0, 3.0, WORDS.size)
    left = 4.0 * np.maximum(WORDS - limit, 0) + luck - luck.mean()
    columns = {
        "source_words": WORDS, "bits": BITS, "unknown": np.zeros(WORDS.size),
        "nll": left * NATS, "probe": (left + 5.0) * NATS, "probe_untrained": (left + 10.0) * NATS,
    }  # fmt: skip
    model = {"attention": attention}
    settings = resolve("smoke").changed(model=model, training={"seed": seed})
    return Probed(Path(f"run {seed}"), settings, columns | changed)


def test_bits_recovered_and_their_share():
    limited = planted(limit=20)
    rows = summarise([limited, planted("additive")])
    inside = (WORDS >= 21) & (WORDS <= 30)
    expected = (BITS - limited.found["nll"] / NATS)[inside]
    keys = {"arm": "none", "bucket": "21-30"}
    assert one_row(rows, "source_bits", **keys)["value"] == pytest.approx(4 * 25.5)
    recovered = one_row(rows, "recovered", part="translator", **keys)
    assert recovered["low"] < recovered["value"] < recovered["high"]
    assert recovered["n"] == inside.sum()
    for measure, part, control, value in (
        ("recovered", "translator", "", expected.mean()),
        ("share", "translator", "", expected.sum() / BITS[inside].sum()),
        ("recovered", "probe", "", expected.mean() - 5),
        ("recovered", "probe", "untrained", expected.mean() - 10),
    ):
        row = one_row(rows, measure, part=part, control=control, **keys)
        assert row["value"] == pytest.approx(value)


def test_what_levels_off_is_distinguished_from_what_rises():
    rows = summarise([planted(limit=20), planted("additive")])
    longer = {"part": "translator longer"}
    limited, rising = (one_row(rows, "kept", arm=arm, **longer) for arm in ("none", "additive"))
    assert limited["low"] < 0.05
    assert limited["high"] < 0.2
    assert rising["value"] == pytest.approx(1.0, abs=0.1)
    assert rising["n"] == sum(WORDS >= 21)
    gain = one_row(rows, "kept_gain", arm="additive", **longer)
    assert gain["value"] == pytest.approx(rising["value"] - limited["value"])
    assert (gain["low"] > 0.5, gain["note"]) == (True, "none")


def lost(share, shortest=0.9, part="probe"):
    """The table that C5 reads."""
    return [
        row_of("none", "share", value, 0.02, bucket=bucket, part=part)
        for bucket, value in {"5-10": shortest, "21-30": share}.items()
    ]


def kept(attention, gain, shortest=0.9, part="translator"):
    """The table that C6 reads."""
    longer = {"half": 0.02, "part": f"{part} longer"}
    return [
        row_of("additive", "share", shortest, 0.02, bucket="5-10", part=part),
        row_of("additive", "kept", attention, **longer),
        row_of("none", "kept", attention - gain, **longer),
        row_of("additive", "kept_gain", gain, note="none", **longer),
    ]


UNJUDGED = "not measured"


@pytest.mark.parametrize(
    ("rows", "discard", "keep"),
    [
        (lost(0.09), "held", UNJUDGED),
        (lost(0.18), "partly", UNJUDGED),  # the lower end of what is lost is under 81 %
        (lost(0.60, 0.62), "not held", UNJUDGED),
        (lost(0.09, 0.11), UNJUDGED, UNJUDGED),  # even the shortest were not learned
        (lost(0.4)[:1], UNJUDGED, UNJUDGED),  # no bucket of thirty words
        (kept(0.80, 0.30), UNJUDGED, "held"),
        (kept(0.76, 0.30), UNJUDGED, "partly"),
        (kept(0.80, 0.01), UNJUDGED, "not held"),
        (kept(0.80, 0.30, 0.11), UNJUDGED, UNJUDGED),
    ],
)
def test_what_is_lost_and_what_attention_keeps_decide(rows, discard, keep):
    judged = QUESTION.verdict(frame(rows))
    assert [(item.claim, item.verdict) for item in judged] == [("C5", discard), ("C6", keep)]
    assert all(item.because for item in judged)
    if discard != UNJUDGED:
        share, numbers = rows[1]["value"], (judged[0].value, judged[0].low, judged[0].high)
        assert numbers == pytest.approx((100 - 100 * share, 98 - 100 * share, 102 - 100 * share))


@pytest.mark.parametrize(
    ("changes", "suits"),
    [
        ({}, True),
        ({"corpus": {"name": "multi30k"}}, False),
        ({"corpus": {"joined": 2}}, False),
    ],
)
def test_bits_must_be_known(changes, suits):
    assert QUESTION.suits(resolve("smoke").changed(**changes)) == suits


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_summed_up(subject, tmp_path):
    test, columns = subject.corpus.test, probe(subject)
    probed = read_back(QUESTION, tmp_path, subject.settings, columns)
    assert probed.found["bits"].tolist() == [pair.bits for pair in test]
    rows = [row for row in summarise([probed]) if not row.get("control") and "seed" not in row]
    recovered = [
        row for row in rows if (row["measure"], row.get("part")) == ("recovered", "translator")
    ]
    counted = (probed.found["unknown"] == 0) & (probed.found["source_words"] >= 5)
    difference = probed.found["bits"] - probed.found["nll"] / NATS
    total = sum(row["value"] * row["n"] for row in recovered)
    assert total == pytest.approx(difference[counted].sum())
