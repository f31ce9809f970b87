"""C3: the rule, the tables, and outputs of known survival put into a real run's folder."""

import json
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from listed import write_relisted
from planted_pages import frame as table_of
from planted_pages import kept_rows, row_of

from seq2seq_bottleneck.corpus.grammar import FUNCTION, WORD_CLASS
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.questions.survival import CLASSES, QUESTION
from seq2seq_bottleneck.results.folders import find_runs
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.concerns import bucket_labels, bucket_of

NAN = float("nan")
BUCKETS = ("5-10", "31-40", "41+")
HELD = {
    ("", "corrected"): (0.7, 0.6, 0.8),
    ("gist", "corrected"): (0.6, 0.55, 0.65),
    ("modifiers", "gist_more"): (0.2, 0.1, 0.3),
    ("names", "gist_more"): (0.3, 0.15, 0.45),
}
"""Numbers for every arm and bucket, with which C3 is held."""


def frame(changes=None, arms=("none", "additive"), n=200):
    """A study's table with which C3 is held, but for ``changes`` by arm, bucket, part, measure."""
    rows = []
    for bucket, arm, (part, measure) in product(BUCKETS, arms, HELD):
        numbers = (changes or {}).get((arm, bucket, part, measure), HELD[part, measure])
        ends = dict(zip(("value", "low", "high"), numbers, strict=True))
        rows.append(row_of(arm, measure, **ends, bucket=bucket, part=part, n=n))
    return table_of(rows)


def none(bucket, part, measure, *numbers):
    return {("none", bucket, part, measure): numbers}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        (none("41+", "names", "gist_more", 0.1, -0.01, 0.2), "partly"),
        (none("41+", "gist", "corrected", 0.49, 0.4, 0.6), "partly"),
        (
            none("41+", "names", "gist_more", 0.1, -0.01, 0.2)
            | none("31-40", "modifiers", "gist_more", -0.1, -0.2, -0.05),
            "not held",
        ),
        # Attention is reported but decides nothing.
        ({("additive", "41+", "names", "gist_more"): (-0.1, -0.2, -0.05)}, "held"),
    ],
)
def test_the_verdict_flips_at_the_rules_numbers(changes, expected):
    (verdict,) = QUESTION.verdict(frame(changes))
    assert (verdict.claim, verdict.verdict) == ("C3", expected)
    if not changes:  # the smaller of the two differences in the longest bucket
        assert (verdict.value, verdict.low, verdict.high) == pytest.approx((20, 10, 30))
        assert verdict.measure == "points, gist less modifiers, recall beyond chance, none, 41+"


@pytest.fixture(scope="module")
def subject(finished):
    """One of the runs with a test set of more sentences, from its training text."""
    run = Subject(next(iter(find_runs(finished).done)))
    corpus = replace(run.corpus, test=run.corpus.train[:400])
    return _like(run, run.folder, corpus)


def _like(subject, folder, corpus):
    made = Subject(folder, subject.trained)
    made.__dict__["corpus"] = corpus
    return made


def _rows(subject, tmp_path, outputs):
    """The mean rows by bucket, part and measure, if these were the run's translations."""
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [
        json.dumps(dict.fromkeys(("source", "reference", "hypothesis"), text)) + "\n"
        for text in outputs
    ]
    write_relisted(folder / "hypotheses.jsonl", "".join(lines))
    made = _like(subject, folder, subject.corpus)
    settings = subject.settings.changed(scoring={"resamples": 40})
    rows = kept_rows(QUESTION, tmp_path, settings, QUESTION.probe(made))
    assert set().union(*rows) <= set(PROBE_COLUMNS)
    means = {(r["bucket"], r.get("part", ""), r["measure"]): r for r in rows if "seed" not in r}
    assert len(rows) == 2 * len(means)  # one row per seed beside each mean, and no key twice
    return means


def _without(subject, lost):
    """The references without the words that are linked to lost source words."""
    outputs = []
    for pair in subject.corpus.test:
        source, target = tokenize(pair.source), tokenize(pair.target)
        gone = {j for i, j in pair.links if lost(source[i])}
        outputs.append(" ".join(word for j, word in enumerate(target) if j not in gone))
    return outputs


def _places(subject):
    return bucket_of([pair.words for pair in subject.corpus.test], subject.edges)


def _filled(subject):
    return bucket_labels(subject.edges)[: _places(subject).max() + 1]


STUDIED = pytest.mark.exhaustive(sample="session")


@STUDIED
def test_one_output_for_all_sources_is_chance_exactly(subject, tmp_path):
    outputs = ["le chat de la ville a été vu, et les hommes l'ont dit"] * len(subject.corpus.test)
    rows = _rows(subject, tmp_path, outputs)
    for bucket in _filled(subject):
        assert rows[bucket, "", "recall"]["value"] > 0.05
        for part in ("", "fifth 1", "noun", "function word"):
            assert rows[bucket, part, "corrected"]["value"] == pytest.approx(0, abs=1e-12)


@STUDIED
def test_a_lost_class_is_lost_alone_and_words_are_counted_as_a_loop_does(subject, tmp_path):
    rows = _rows(subject, tmp_path, _without(subject, lambda word: WORD_CLASS[word] == "adjective"))
    longest, expected = _filled(subject)[-1], Counter()
    for pair, place in zip(subject.corpus.test, _places(subject), strict=True):
        if place >= 0 and bucket_labels(subject.edges)[place] == longest:
            source = tokenize(pair.source)
            expected.update(WORD_CLASS[source[i]] for i in {i for i, _ in pair.links})
    for name in CLASSES:
        kinds = FUNCTION - {"punctuation"} if name == "function word" else name.split(", ")
        assert rows[longest, name, "recall"]["n"] == sum(expected[kind] for kind in kinds)
    assert rows[longest, "adjective", "recall"]["value"] < 0.15
    assert rows[longest, "verb", "recall"]["value"] > 0.9
    more, alike = (rows[longest, "modifiers", name] for name in ("gist_more", "gist_more_alike"))
    gist, modifiers = (rows[longest, name, "corrected"]["value"] for name in ("gist", "modifiers"))
    assert more["value"] == pytest.approx(gist - modifiers)
    assert more["low"] > 0.2
    assert alike["low"] > 0.2
    assert 0 < alike["n"] <= more["n"]
