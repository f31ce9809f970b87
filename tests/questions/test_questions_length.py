"""C11: loops and counts by hand, the rule at its thresholds, the table, and a real run."""

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_pages import frame as table_of
from planted_pages import row_of

from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.questions.length import QUESTION, repeats


@given(tokens=st.lists(st.sampled_from("ab"), max_size=16))
def test_loops_are_what_the_definition_says(tokens: list[str]) -> None:
    stretches = [
        tokens[start : start + period] * 3 == tokens[start : start + 3 * period]
        for period in range(1, len(tokens) // 3 + 1)
        for start in range(len(tokens) - 3 * period + 1)
    ]
    assert repeats(tokens) == any(stretches)


BUCKETS = ("5-10", "11-20", "21-30", "31-40")
FINE = {
    "length_ratio": (1.0, 0.95, 1.05),
    "empty": (0.0, 0.0, 0.0),
    "unfinished": (0.01, 0.0, 0.03),
    "repeating": (0.02, 0.0, 0.04),
    "repeating_references": (0.01, 0.0, 0.02),
}


def frame(changes=None, arms=("none", "additive"), buckets=BUCKETS, n=200):
    """A study's table that meets the rule, except for ``changes`` by arm, bucket and measure."""
    rows = []
    for arm in arms:
        for bucket in buckets:
            for measure, known in FINE.items():
                value, low, high = (changes or {}).get((arm, bucket, measure), known)
                row = row_of(arm, measure, value, bucket=bucket, n=n)
                rows.append(row | {"low": low, "high": high})
    return table_of(rows)


def changed(bucket, measure, *numbers, arm="additive"):
    return {(arm, bucket, measure): numbers}


SHORT = dict.fromkeys([("additive", b, "length_ratio") for b in BUCKETS[2:]], (0.5, 0.4, 0.6))


@pytest.mark.parametrize(
    ("table", "verdict", "part"),
    [
        (frame(), "held", ""),
        (frame(changed("31-40", "length_ratio", 1.05, 1.0, 1.11)), "partly", ""),
        # Minus the references' share, which is 1 per cent.
        (frame(changed("31-40", "repeating", 0.03, 0.0, 0.061)), "partly", ""),
        (frame(SHORT | changed(BUCKETS[1], "length_ratio", 0.8, 0.7, 0.85)), "not held",
         "1 of 4 length buckets are handled, not 11-20 (additive), 21-30"),
        (frame(n=99), "held", "under 100 sentences: 5-10 (n = 99)"),
        (frame(arms=("none", "uniform")), "not measured", "fewer than two buckets"),
        (frame(buckets=BUCKETS[:1]), "not measured", "fewer than two buckets"),
    ],
)  # fmt: skip
def test_the_outputs_decide(table, verdict, part):
    (result,) = QUESTION.verdict(table)
    assert (result.claim, result.verdict) == ("C11", verdict)
    assert part in result.because


def test_counts_are_those_of_the_files(subject):
    lines = (subject.folder / "hypotheses.jsonl").read_text(encoding="utf8").splitlines()
    outputs = [tokenize(json.loads(line)["hypothesis"]) for line in lines]
    with (subject.folder / "sentences.csv").open(newline="") as file:
        ended = [row["ended"] == "True" for row in csv.DictReader(file)]
    columns = QUESTION.probe(subject)
    assert columns["source_words"] == [pair.words for pair in subject.corpus.test]
    references = [tokenize(pair.target) for pair in subject.corpus.test]
    assert columns["reference_tokens"] == [*map(len, references)]
    assert columns["hypothesis_tokens"] == [*map(len, outputs)]
    assert columns["empty"] == [not output for output in outputs]
    assert columns["unfinished"] == [not done for done in ended]
