"""C5, C6: small channels that are known, planted runs summed up, both rules, and the tables."""

from pathlib import Path

import numpy as np
import pytest
from planted_pages import REFERENCE, frame, printed_words, row_of
from scipy import stats

from seq2seq_bottleneck.questions.information import QUESTION, STAND_IN
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.questions.recovered_bits import (
    LEVELS,
    bleu_names,
    ratio,
    slope,
    summarise,
)
from seq2seq_bottleneck.scoring.bootstrap import Estimate
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve

NATS = np.log(2.0)
WORDS = np.repeat(np.arange(5, 51), 3).astype(float)
BITS = 4.0 * WORDS
"""Of a language of four bits per word."""


def run(attention="none", limit=999, seed=1, **changed):
    """A run that tells all bits of the words up to a limit; sentence by sentence with luck."""
    luck = np.random.default_rng(seed).normal(0.0, 3.0, WORDS.size)
    left = 4.0 * np.maximum(WORDS - limit, 0) + luck - luck.mean()
    counts = np.tile([9.0, 10.0, 8.0, 6.0, 4.0, 2.0, 9.0, 8.0, 7.0, 6.0], (WORDS.size, 1))
    found = {
        "source_words": WORDS, "bits": BITS, "unknown": np.zeros(WORDS.size),
        "nll": left * NATS, "probe": (left + 5.0) * NATS, "probe_untrained": (left + 10.0) * NATS,
        "probe_shuffled": (BITS + 20.0) * NATS, "nll_shuffled": (0.75 * BITS + 3.0) * NATS,
    }  # fmt: skip
    for level in LEVELS:
        found |= dict(zip(bleu_names(level), counts.T, strict=True))
    model = {"attention": attention, "source": changed.pop("source", "seen")}
    settings = resolve("smoke").changed(model=model, training={"seed": seed})
    return Probed(Path(f"run {seed}"), settings, found | changed)


def text_run(attention="none", **changed):
    """A run on a text whose bits are unknown."""
    known = run(attention, bits=np.full(WORDS.size, np.nan), **changed)
    found = {name: column for name, column in known.found.items() if not name.startswith("probe")}
    return Probed(known.folder, known.settings, found)


def read(rows, **keys):
    """The only row with these keys, of means unless a seed is named."""
    wanted = {"seed": None, "control": "", "bucket": "", "part": ""} | keys
    blank = {"seed": None}
    (row,) = [
        row for row in rows if all(row.get(k, blank.get(k, "")) == v for k, v in wanted.items())
    ]
    return row


def test_bits_recovered_and_their_share():
    limited = run(limit=20)
    rows = summarise([limited, run("additive")])
    inside = (WORDS >= 21) & (WORDS <= 30)
    expected = (BITS - limited.found["nll"] / NATS)[inside]
    source = read(rows, measure="source_bits", arm="none", bucket="21-30")
    assert source["value"] == pytest.approx(4 * 25.5)
    keys = {"arm": "none", "bucket": "21-30", "part": "translator"}
    recovered = read(rows, measure="recovered", **keys)
    assert recovered["value"] == pytest.approx(expected.mean())
    assert recovered["low"] < recovered["value"] < recovered["high"]
    assert recovered["n"] == inside.sum()
    share, per_word = (read(rows, measure=name, **keys)["value"] for name in ("share", "per_word"))
    assert share == pytest.approx(expected.sum() / BITS[inside].sum())
    assert per_word == pytest.approx(expected.sum() / WORDS[inside].sum())
    for part, control, value in (
        ("probe", "", expected.mean() - 5),
        ("probe", "untrained", expected.mean() - 10),
        ("probe", "shuffled", -20),  # as it is: floored in print alone
        ("translator", "shuffled", 0.25 * 4 * 25.5 - 3),
    ):
        row = read(rows, measure="recovered", **keys | {"part": part, "control": control})
        assert row["value"] == pytest.approx(value)


def test_no_sentence_is_floored():
    """A probe that knows nothing is lucky as often as not: 0 bits on average."""
    luck = np.random.default_rng(2).normal(0.0, 5.0, size=WORDS.size)
    short = WORDS <= 10
    left = BITS + luck - luck[short].mean()
    rows = summarise([run(probe=left * NATS)])
    found = read(rows, measure="recovered", bucket="5-10", part="probe")
    assert found["value"] == pytest.approx(0.0, abs=1e-9)
    assert found["low"] < 0 < found["high"]


def test_what_levels_off_is_distinguished_from_what_rises():
    rows = summarise([run(limit=20), run("additive")])
    limited, rising = (
        read(rows, measure="kept", arm=arm, part="translator longer")
        for arm in ("none", "additive")
    )
    assert limited["low"] < 0.05
    assert limited["high"] < 0.2
    assert rising["value"] == pytest.approx(1.0, abs=0.1)
    source = read(rows, measure="source_slope", arm="additive", part="translator longer")
    assert source["value"] == pytest.approx(4.0)
    shorter = read(rows, measure="slope", arm="additive", part="translator shorter")
    assert (shorter["n"], source["n"]) == (sum(WORDS <= 30), sum(WORDS >= 21))
    gain = read(rows, measure="kept_gain", arm="additive", part="translator longer")
    assert gain["value"] == pytest.approx(rising["value"] - limited["value"])
    assert gain["low"] > 0.5
    assert gain["note"] == "none"


def test_a_gain_is_paired_sentence_by_sentence():
    """Both arms have the same luck: a quarter more of each sentence's bits has no scatter."""
    none = run()
    rows = summarise([none, run("additive", probe=none.found["probe"] - 0.25 * BITS * NATS)])
    gain, share = (
        read(rows, measure=name, arm="additive", bucket="5-10", part="probe")
        for name in ("share_gain", "share")
    )
    assert [gain[end] for end in ("value", "low", "high")] == pytest.approx([0.25] * 3)
    assert share["high"] - share["low"] > 0.01


def test_sentences_with_an_unknown_word_are_left_out_of_bits_not_of_bleu():
    rows = summarise([run(unknown=(WORDS == 7).astype(float))])
    source = read(rows, measure="source_bits", bucket="5-10")
    assert source["n"] == 15
    assert source["value"] == pytest.approx(4 * np.mean([5, 6, 8, 9, 10]))
    assert read(rows, measure="left_out", bucket="5-10")["value"] == 3
    assert read(rows, measure="bleu", bucket="5-10", part="4")["n"] == 18


def test_a_hidden_source_stands_for_an_unknown_language():
    hidden = text_run(source="hidden", nll=(BITS + 6.0) * NATS)
    rows = summarise([text_run(limit=20), text_run("additive"), hidden])
    assert {row["arm"] for row in rows} == {"none", "additive"}
    for arm in ("none", "additive"):
        source = read(rows, measure="source_bits", arm=arm, bucket="21-30")
        assert (source["value"], source["note"]) == (pytest.approx(4 * 25.5 + 6), "hidden")
    keys = {"measure": "recovered", "arm": "additive", "bucket": "5-10", "part": "translator"}
    assert read(rows, **keys)["value"] == pytest.approx(36.0, abs=2.5)
    others = read(rows, control="shuffled", **keys)["value"]
    assert others == pytest.approx(0.25 * 4 * 7.5 + 6 - 3)  # there is a control without a probe
    assert not any(row.get("part") == "probe" for row in rows)


def test_a_hidden_source_of_other_settings_stands_for_nothing():
    hidden = text_run(source="hidden", nll=BITS * NATS)
    longer = hidden.settings.changed(training={"updates": 41})
    rows = summarise([text_run(), Probed(hidden.folder, longer, hidden.found)])
    source = read(rows, measure="source_bits", bucket="5-10")
    assert np.isnan(source["value"])
    assert source["note"] == "unknown"
    assert not any(row["measure"] == "share" for row in rows)
    assert read(rows, measure="bleu", bucket="5-10", part="1")["value"] > 0
    with pytest.raises(UserError, match="source=hidden"):
        summarise([hidden])


def test_where_bits_are_exact_a_hidden_source_shows_how_it_would_flatter():
    rows = summarise([run(), run(source="hidden", nll=(BITS + 6.0) * NATS)])
    assert read(rows, measure="hidden_excess", bucket="5-10")["value"] == pytest.approx(6.0)
    assert read(rows, measure="source_bits", bucket="5-10")["note"] == "exact"


def test_growth_needs_three_filled_buckets():
    inside = WORDS <= 20
    short = run()
    found = {name: column[inside] for name, column in short.found.items()}
    rows = summarise([Probed(short.folder, short.settings, found)])
    assert not any(row["measure"] == "kept" for row in rows)
    assert read(rows, measure="share", bucket="11-20", part="probe")["value"] > 0.5


def test_slope_is_least_squares_in_every_draw_and_a_share_of_nothing_is_undefined():
    rng, words = np.random.default_rng(3), [7.0, 15.0, 26.0]
    bits = [Estimate(value, value + rng.normal(size=5)) for value in (20.0, 41.0, 55.0)]
    line = slope(words, bits)
    assert line.value == pytest.approx(stats.linregress(words, [20.0, 41.0, 55.0]).slope)
    for index, drawn in enumerate(line.draws):
        assert drawn == pytest.approx(np.polyfit(words, [item.draws[index] for item in bits], 1)[0])
    assert np.isnan(ratio(Estimate(1.0, np.ones(3)), Estimate(0.0, np.zeros(3))).value)


def share_of(arm, value, bucket, part="probe", note="exact"):
    return row_of(arm, "share", value, 0.02, bucket=bucket, part=part, note=note)


def lost(share, shortest=0.9, **keys):
    """What C5 reads."""
    shares = {"5-10": shortest, "21-30": share}
    return [share_of("none", value, bucket, **keys) for bucket, value in shares.items()]


def kept(attention, gain, shortest=0.9, part="translator", note="exact"):
    """What C6 reads."""
    return [
        share_of("additive", shortest, "5-10", part, note),
        row_of("additive", "kept", attention, 0.02, part=f"{part} longer"),
        row_of("none", "kept", attention - gain, 0.02, part=f"{part} longer"),
        row_of("additive", "kept_gain", gain, 0.02, part=f"{part} longer", note="none"),
        row_of("additive", "kept", 0.99, 0.02, part=f"{part} shorter"),
    ]


@pytest.mark.parametrize(
    ("share", "shortest", "expected"),
    [
        (0.09, 0.9, "held"),
        (0.16, 0.9, "held"),
        (0.18, 0.9, "partly"),  # the lower end of what is lost is under 81 %
        (-0.50, 0.9, "held"),  # less than nothing recovered: all is lost
        (0.60, 0.64, "partly"),  # .04 more than of the shortest, give or take .028
        (0.60, 0.62, "not held"),
        (0.90, 0.60, "not held"),
        (0.09, 0.13, "held"),
        (0.09, 0.11, "not measured"),  # nothing was learned even of the shortest
    ],
)
def test_what_is_lost_decides(share, shortest, expected):
    judged, _ = QUESTION.verdict(frame(lost(share, shortest)))
    assert (judged.claim, judged.verdict) == ("C5", expected)
    if expected != "not measured":
        assert judged.value == pytest.approx(100 * (1 - share))
        assert (judged.low, judged.high) == pytest.approx((98 - 100 * share, 102 - 100 * share))


@pytest.mark.parametrize(
    ("attention", "gain", "shortest", "expected"),
    [
        (0.80, 0.30, 0.9, "held"),
        (0.76, 0.30, 0.9, "partly"),
        (0.80, 0.01, 0.9, "not held"),
        (0.80, -0.3, 0.9, "not held"),
        (0.80, 0.30, 0.13, "held"),
        (0.80, 0.30, 0.11, "not measured"),
    ],
)
def test_what_attention_keeps_decides(attention, gain, shortest, expected):
    _, judged = QUESTION.verdict(frame(kept(attention, gain, shortest)))
    assert (judged.claim, judged.verdict) == ("C6", expected)


@pytest.mark.parametrize(
    ("rows", "index", "stand_in", "words"),
    [
        (lost(0.4, note="hidden"), 0, True, "60% [58, 62] of the bits of 240 sentences"),
        (lost(0.6, 0.5), 0, False, "that is 10 points [7, 13] less than of the shortest"),
        (kept(0.8, 0.3, note="hidden"), 1, True, "80% [78, 82] of each further word's bits"),
        (kept(0.8, 1.0), 1, False, "-20% [-22, -18] without (under 0: their total falls), 100 poi"),
    ],
)
def test_the_sentences_say_what_was_read(rows, index, stand_in, words):
    because = QUESTION.verdict(frame(rows))[index].because
    assert words in because
    assert (STAND_IN in because) == stand_in


def test_the_measure_that_finds_more_is_judged_whatever_the_controls_and_seeds():
    rows = lost(0.4) + lost(0.3, part="translator")
    rows += [row | {"value": 0.99, "control": "untrained"} for row in rows]
    discard, keep = QUESTION.verdict(frame(rows + kept(0.95, 0.4, part="probe") + kept(0.9, 0.5)))
    assert discard.value == pytest.approx(60)
    assert (keep.value, keep.verdict) == (pytest.approx(95), "held")
    assert keep.because.endswith("(by the probe)")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (None, ["not measured", "not measured"]),
        ([], ["not measured", "not measured"]),
        (lost(0.4), ["partly", "not measured"]),
        (kept(0.8, 0.3), ["not measured", "held"]),
        (lost(0.4)[:1], ["not measured", "not measured"]),  # no bucket of thirty words
        (lost(0.4)[1:], ["not measured", "not measured"]),  # it is the shortest
        (lost(np.nan), ["not measured", "not measured"]),
    ],
)
def test_what_was_not_measured_is_not_judged(rows, expected):
    judged = QUESTION.verdict(None if rows is None else frame(rows))
    assert [item.claim for item in judged] == ["C5", "C6"]
    assert [item.verdict for item in judged] == expected
    assert all(item.because for item in judged)


@pytest.fixture(scope="module")
def committed():
    return QUESTION.load(REFERENCE / "vindication")


def test_totals_are_floored_in_print_alone_with_both_ends(committed):
    page = QUESTION.page(committed)
    lines = printed_words(page)
    for row in (
        ["21-30", "none", "200", "120", "41", "34", "0", "0", "32", "0", "9"],  # the slide's
        ["40..42", "33..35", "0..0", "31..33"],
        ["41+", "additive", "200", "234", "231", "99", "30", "0", "94", "0"],
        ["additive", "probe", "longer", "600", "4.41", "4.51", "98", "+111"],
        ["none", "probe", "longer", "600", "-0.57", "4.51", "-13"],
        ["41+", "additive", "200", "9.4", "50.7", "87.4", "88.1", "88.1"],
        ["9..10", "49..52", "86..88", "87..89", "87..89"],
    ):
        assert row in lines
    shuffled = (page.frame["control"] == "shuffled") & (page.frame["part"] == "probe")
    assert (page.frame.loc[shuffled, "share"] < 0).all()
    caption = " ".join(page.caption)
    for words in ("trained for 1,000 updates", "without 1 sentence", "-log2 P"):
        assert words in caption
    assert "flatter" not in caption


@pytest.mark.parametrize(
    ("kind", "words", "first", "missing"),
    [
        ("hidden", "has bits too many, and flatters.", ["234", "94", "0"], {"kept"}),
        ("unknown", "--set model.source=hidden", [], {"kept", "share"}),
    ],
)
def test_of_a_text_without_exact_bits_there_is_no_probe(committed, kind, words, first, missing):
    rows = committed[~committed["measure"].isin([*missing, "slope", "source_slope", "kept_gain"])]
    rows = rows[~rows["part"].fillna("").str.startswith("probe")]
    rows = rows[(kind == "hidden") | ~rows["measure"].isin(["recovered", "per_word"])].copy()
    rows.loc[rows["measure"] == "source_bits", "note"] = kind
    if kind == "unknown":
        rows.loc[rows["measure"] == "source_bits", ["value", "low", "high"]] = np.nan
    page = QUESTION.page(rows)
    assert words in " ".join(page.caption)
    assert not missing & set(page.frame.columns)
    lines = printed_words(page)
    assert ["41+", "additive", "200", *first] in lines
    assert not any("further" in line for line in lines)
    assert ["41+", "additive", "200", "9.4", "50.7", "87.4", "88.1", "88.1"] in lines
