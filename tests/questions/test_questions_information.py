"""C5, C6: planted runs summed up, both rules, the tables, a real run."""

from pathlib import Path

import numpy as np
import pytest
from planted_pages import REFERENCE, frame, one_row, printed_words, row_of
from scipy import stats

from seq2seq_bottleneck.questions.information import QUESTION, probe, summarise
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.settings.run import resolve

NATS = np.log(2.0)
WORDS = np.repeat(np.arange(5, 51), 3).astype(float)
BITS = 4.0 * WORDS
"""Of a language of four bits per word."""


def planted(attention="none", limit=999, seed=1, **changed):
    """A run that tells all bits of the words up to a limit; sentence by sentence with luck."""
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


def test_no_sentence_is_floored():
    """A probe that knows nothing is lucky as often as not: 0 bits on average."""
    luck = np.random.default_rng(2).normal(0.0, 5.0, size=WORDS.size)
    left = BITS + luck - luck[WORDS <= 10].mean()
    row = one_row(summarise([planted(probe=left * NATS)]), "recovered", bucket="5-10", part="probe")
    assert row["value"] == pytest.approx(0.0, abs=1e-9)
    assert row["low"] < 0 < row["high"]


def test_growth_needs_three_filled_buckets():
    short = planted()
    columns = {name: column[WORDS <= 20] for name, column in short.found.items()}
    rows = summarise([Probed(short.folder, short.settings, columns)])
    assert not any(row["measure"] == "kept" for row in rows)
    assert one_row(rows, "share", bucket="11-20", part="probe")["value"] > 0.5


def test_what_levels_off_is_distinguished_from_what_rises():
    rows = summarise([planted(limit=20), planted("additive"), planted("dot", limit=45)])
    longer = {"part": "translator longer"}
    limited, rising, between = (
        one_row(rows, "kept", arm=arm, **longer) for arm in ("none", "additive", "dot")
    )
    assert limited["low"] < 0.05
    assert limited["high"] < 0.2
    assert rising["value"] == pytest.approx(1.0, abs=0.1)
    assert rising["n"] == sum(WORDS >= 21)
    totals = [one_row(rows, "recovered", arm="dot", bucket=bucket, part="translator")["value"]
              for bucket in ("21-30", "31-40", "41+")]  # fmt: skip
    line = stats.linregress([25.5, 35.5, 45.5], totals)  # a point a bucket
    assert between["value"] == pytest.approx(line.slope / 4.0)
    gain = one_row(rows, "kept_gain", arm="additive", **longer)
    assert gain["value"] == pytest.approx(rising["value"] - limited["value"])
    assert (gain["low"] > 0.5, gain["note"]) == (True, "none")
    copying = planted("additive").settings.changed(decoding={"copy_unknown": True})
    rows = summarise([planted(), Probed(Path("copies"), copying, planted().found)])
    assert one_row(rows, "kept_gain", **longer)["note"] == "none copy_unknown=false"


def test_a_gain_is_paired_sentence_by_sentence():
    """Both arms have the same luck: a quarter more of each sentence's bits has no scatter."""
    none = planted()
    rows = summarise([none, planted("additive", probe=none.found["probe"] - 0.25 * BITS * NATS)])
    gain, kept = (
        one_row(rows, name, arm="additive", part="probe longer") for name in ("kept_gain", "kept")
    )
    assert [gain[end] for end in ("value", "low", "high")] == pytest.approx([0.25] * 3)
    assert kept["high"] - kept["low"] > 0.01


def test_sentences_with_an_unknown_word_are_left_out():
    rows = summarise([planted(unknown=(WORDS == 7).astype(float))])
    source = one_row(rows, "source_bits", bucket="5-10")
    assert source["n"] == 15
    assert source["value"] == pytest.approx(4 * np.mean([5, 6, 8, 9, 10]))


def lost(share, shortest=0.9, part="probe"):
    """What C5 reads."""
    return [
        row_of("none", "share", value, 0.02, bucket=bucket, part=part)
        for bucket, value in {"5-10": shortest, "21-30": share}.items()
    ]


def kept(attention, gain, shortest=0.9, part="translator"):
    """What C6 reads."""
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
        (lost(-0.50), "held", UNJUDGED),  # less than nothing recovered: all is lost
        (lost(0.60, 0.62), "not held", UNJUDGED),
        (lost(0.90, 0.60), "not held", UNJUDGED),
        (lost(0.09, 0.13), "held", UNJUDGED),
        (lost(0.09, 0.11), UNJUDGED, UNJUDGED),  # nothing was learned even of the shortest
        (lost(0.4)[:1], UNJUDGED, UNJUDGED),  # no bucket of thirty words
        (lost(np.nan), UNJUDGED, UNJUDGED),
        (kept(0.80, 0.30), UNJUDGED, "held"),
        (kept(0.76, 0.30), UNJUDGED, "partly"),
        (kept(0.80, 0.01), UNJUDGED, "not held"),
        (kept(0.80, 0.30, 0.13), UNJUDGED, "held"),
        (kept(0.80, 0.30, 0.11), UNJUDGED, UNJUDGED),
        (None, UNJUDGED, UNJUDGED),
    ],
)
def test_what_is_lost_and_what_attention_keeps_decide(rows, discard, keep):
    judged = QUESTION.verdict(None if rows is None else frame(rows))
    assert [(item.claim, item.verdict) for item in judged] == [("C5", discard), ("C6", keep)]
    assert all(item.because for item in judged)
    if discard != UNJUDGED:
        share, numbers = rows[1]["value"], (judged[0].value, judged[0].low, judged[0].high)
        assert numbers == pytest.approx((100 - 100 * share, 98 - 100 * share, 102 - 100 * share))


@pytest.mark.parametrize(
    ("rows", "index", "words"),
    [
        (lost(0.6, 0.5), 0, "that is 10 points [7, 13] less than of the shortest"),
        (kept(0.8, 1.0), 1, "-20% [-22, -18] without (under 0: their total falls), 100 poi"),
    ],
)
def test_the_sentences_say_what_was_one_row(rows, index, words):
    assert words in QUESTION.verdict(frame(rows))[index].because


def test_totals_are_floored_in_print_alone_with_both_ends():
    rows = QUESTION.load(REFERENCE / "vindication")
    below = (rows["control"] == "untrained") & (rows["part"] == "probe")
    rows.loc[below, ["value", "low", "high"]] -= 500
    page = QUESTION.page(rows)
    lines = printed_words(page)
    for row in (
        ["21-30", "none", "200", "120", "41", "34", "0", "32", "9"],  # the slide's
        ["40..42", "33..35", "0..0", "31..33"],
        ["additive", "probe", "600", "98", "+111"],
        ["none", "probe", "600", "-13"],
    ):
        assert row in lines
    below = (page.frame["control"] == "untrained") & (page.frame["part"] == "probe")
    assert (page.frame.loc[below, "share"] < 0).all()


@pytest.mark.parametrize(
    ("changes", "suits"),
    [
        ({}, True),
        ({"corpus": {"name": "copy"}}, True),
        ({"corpus": {"name": "multi30k"}}, False),
        ({"corpus": {"reverse_direction": True}}, False),
        ({"corpus": {"joined": 2}}, False),
    ],
)
def test_bits_must_be_known(changes, suits):
    assert QUESTION.suits(resolve("smoke").changed(**changes)) == suits


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_summed_up(subject, tmp_path):
    messages, test = [], subject.corpus.test
    columns = probe(subject, messages.append)
    assert any("untrained" in words for words in messages)
    keep(tmp_path, QUESTION, columns)
    probed = read_kept(tmp_path, subject.settings, QUESTION)
    assert probed.found["bits"].tolist() == [pair.bits for pair in test]
    rows = [row for row in summarise([probed]) if not row.get("control") and "seed" not in row]
    recovered = [
        row for row in rows if (row["measure"], row.get("part")) == ("recovered", "translator")
    ]
    counted = (probed.found["unknown"] == 0) & (probed.found["source_words"] >= 5)
    difference = probed.found["bits"] - probed.found["nll"] / NATS
    total = sum(row["value"] * row["n"] for row in recovered)
    assert total == pytest.approx(difference[counted].sum())
