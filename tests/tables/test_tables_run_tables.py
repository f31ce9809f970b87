"""The tables of runs from planted translations: every number equals an outside computation."""

import numpy as np
import pytest
from planted import (
    LENGTHS,
    sentences,
    write_planted,
    write_sizes,
)
from sacrebleu import corpus_bleu

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.tables.pages import default_pages, make_page

FALLING = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1, 0.1, 0.1, 0.1, 0.1]}
BUCKETS = {"5-10": 7, "11-20": 15, "21-30": 25, "31-40": 35, "41+": 50}
# The share of words lost is 0.7 % per unit of the ratio (16 numbers per word); attention's is 5.
CELLS = {
    (size, arm): [0.007 * 16 * n / size for n in BUCKETS.values()] if arm == "none" else [0.05] * 5
    for size in (8, 16, 32)
    for arm in ("none", "additive")
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A bundle of both arms with two seeds each, and its hypotheses by arm."""
    folder = tmp_path_factory.mktemp("pair")
    made = write_planted(folder, FALLING)
    return Results.open(folder), made


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """A bundle of three context sizes with two seeds each, and its hypotheses by size and arm."""
    folder = tmp_path_factory.mktemp("sizes")
    made = write_sizes(folder, CELLS, seeds=2, changes={"hidden_size": 32})
    return Results.open(folder), made


def mean_bleu(hypotheses, length):
    """sacreBLEU's score of the sentences of one length, mean over seeds."""
    places = [place for place, n in enumerate(LENGTHS) if n == length]
    references = [[sentences()[place] for place in places]]
    return np.mean([corpus_bleu([h[p] for p in places], references).score for h in hypotheses])


def test_failure_pattern_has_its_columns_and_sacrebleus_numbers(pair):
    bundle, made = pair
    table = make_page("failure-pattern", bundle).frame
    expected = "bucket n compression_ratio bleu quality_drop slide_bleu slide_drop"
    assert list(table.columns[:7]) == expected.split()
    assert list(table["bucket"]) == list(BUCKETS)
    assert list(table["n"]) == [12] * 5
    for row, length in zip(table.to_dict("records"), BUCKETS.values(), strict=True):
        assert row["bleu"] == pytest.approx(mean_bleu(made["none"], length), abs=1e-9)
        assert row["compression_ratio"] == pytest.approx(length * 16 / 32)
        assert row["bleu_low"] <= row["bleu"] <= row["bleu_high"]
    base = table["bleu"].iloc[0]
    np.testing.assert_allclose(table["quality_drop"], 100 * (table["bleu"] / base - 1), atol=1e-9)
    assert list(table["slide_bleu"]) == [35.2, 28.5, 18.7, 12.4, 8.1]


def test_like_the_slide_a_table_has_its_columns_and_one_measured_number_per_cell(pair):
    bundle, made = pair
    scores = {arm: [mean_bleu(made[arm], n) for n in BUCKETS.values()] for arm in made}
    rows = list(zip(BUCKETS, BUCKETS.values(), *scores.values(), strict=True))
    first, words = scores["none"][0], ["Good", "Good", "Mediocre", "Mediocre", "Poor"]
    drops = ["baseline", *(f"{100 * (bleu / first - 1):+.0f}%" for bleu in scores["none"][1:])]
    expected = {
        "failure-pattern": {
            "Sentence Length": [f"{bucket} words" for bucket in BUCKETS],
            "Compression Ratio": [f"{n * 16 / 32:.1f}:1" for n in BUCKETS.values()],
            "BLEU Score": [f"{bleu:.1f}" for bleu in scores["none"]],
            "Quality Drop": drops,
        },
        "vindication": {
            "Sentence Length": [f"{bucket} words" for bucket in BUCKETS],
            "No Attention": [f"{bleu:.1f}" for bleu in scores["none"]],
            "With Attention": [f"{bleu:.1f}" for bleu in scores["additive"]],
            "Improvement": [f"{100 * (b / a - 1):+.0f}%" for *_, a, b in rows],
        },
        "compression": {
            "Length": [f"{bucket} words" for bucket in BUCKETS],
            "Input Dims": [str(16 * n) for n in BUCKETS.values()],
            "Context Dims": ["32"] * 5,
            "Ratio": [f"{n * 16 / 32:.1f}:1" for n in BUCKETS.values()],
            "Quality": [
                f"BLEU {bleu:.1f} (slide: {word})"
                for bleu, word in zip(scores["none"], words, strict=True)
            ],
        },
    }
    for name, columns in expected.items():
        page = make_page(name, bundle, like_slide=True)
        assert page.frame.to_dict("list") == columns
        assert "12 sentences per row; 95 % intervals over test " in " ".join(page.caption)


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [(FALLING, "held"), (dict.fromkeys(FALLING, [0.3] * 5), "not held")],
)
def test_a_flat_curve_is_not_called_a_fall(tmp_path, shares, verdict):
    write_planted(tmp_path, shares)
    failure, gains = default_pages(Results.open(tmp_path))
    verdicts = {page.judged[0].claim: page.judged[0].verdict for page in (failure, gains)}
    assert verdicts == {"L-FAIL": verdict, "L-VIND": verdict}
    like = make_page("failure-pattern", Results.open(tmp_path), like_slide=True)
    says = "Not as on the slide. Without attention quality falls as sentences grow longer: not held"
    assert like.caption[-1].startswith(says) == (verdict != "held")


def test_the_caption_says_all_that_an_honest_table_must(pair):
    text = "\n".join(make_page("failure-pattern", pair[0]).caption)
    for part in (
        "never levels",
        "Ratio: mean source words of the bucket x",
        "none: 1,000 parameters",
        "standard deviation of BLEU over seeds, by bucket: ",
        "rammar; 10 training pairs; context 32; 10 updates; seeds 1, 2",
        "they do not cover seeds",
        "under 100 sentences",
        "2 test sentences outside",
        "target token), still falling",
        "|eff:no|tok:13a|",
    ):
        assert part in text


def test_an_empty_bucket_is_a_row_of_blanks(tmp_path):
    write_planted(tmp_path, FALLING, seeds=1, keep=frozenset({7, 15, 25, 35}))
    bundle = Results.open(tmp_path)
    for page in default_pages(bundle):
        row = page.frame.iloc[-1]
        assert (row["bucket"], row["n"]) == ("41+", 0)
        measured = [name for name in page.frame.columns[2:] if not name.startswith("slide")]
        assert row[measured].isna().all()
    frame = make_page("arms", bundle).frame
    assert frame.query("n == 0")[["bleu", "bleu_low", "bleu_high"]].isna().all(axis=None)
    assert set(frame.query("n == 0")["bucket"]) == {"41+"}


@pytest.mark.slow
def test_context_size_has_both_arms_and_sacrebleus_numbers(sizes):
    bundle, made = sizes
    frame = make_page("context-size", bundle).frame
    expected = "context_size bucket n compression_ratio bleu_none bleu_attention gain"
    assert list(frame.columns[:7]) == expected.split()
    assert list(frame["context_size"]) == [8] * 5 + [16] * 5 + [32] * 5
    assert list(frame["bucket"]) == list(BUCKETS) * 3
    for row in frame.to_dict("records"):
        size, length = row["context_size"], BUCKETS[row["bucket"]]
        none, other = (mean_bleu(made[size, arm], length) for arm in ("none", "additive"))
        assert row["bleu_none"] == pytest.approx(none, abs=1e-9)
        assert row["bleu_attention"] == pytest.approx(other, abs=1e-9)
        assert row["gain"] == pytest.approx(other - none, abs=1e-9)
        assert row["compression_ratio"] == pytest.approx(length * 16 / size)
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]


def test_compression_is_sorted_and_has_the_slides_words(sizes):
    bundle, made = sizes
    frame = make_page("compression", bundle).frame
    assert len(frame) == 15
    assert frame["compression_ratio"].is_monotonic_increasing
    for row in frame.to_dict("records"):
        ratio = row["source_words"] * 16 / row["context_size"]
        assert row["numbers"] == row["source_words"] * 16
        assert row["compression_ratio"] == pytest.approx(ratio)
        # A slide's word begins at its unrounded ratio.
        words = ["Good", "Mediocre", "Poor", "Very Poor"]
        place = sum(ratio >= edge for edge in (2000 / 256, 5000 / 256, 10000 / 256))
        assert row["slide_word"] == words[place]
        none = made[row["context_size"], "none"]
        assert row["bleu"] == pytest.approx(mean_bleu(none, BUCKETS[row["bucket"]]), abs=1e-9)
