"""C3: the rule, the tables, and outputs of known survival put into a real run's folder."""

import json
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from listed import write_relisted
from planted_pages import REFERENCE, kept_rows, printed_words, row_of
from planted_pages import frame as table_of

from seq2seq_bottleneck.corpus.grammar import word_class
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.questions.subject import Subject, open_subject
from seq2seq_bottleneck.questions.survival import QUESTION, relative_bands
from seq2seq_bottleneck.questions.word_survival import CLASSES, class_of, lexicon
from seq2seq_bottleneck.results.folders import HYPOTHESES, TEXT_COLUMNS, finished_runs
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.run import resolve

NAN = float("nan")
BUCKETS = ("5-10", "31-40", "41+")
HELD = {
    ("", "corrected"): (0.7, 0.6, 0.8),
    ("gist", "corrected"): (0.6, 0.55, 0.65),
    ("modifiers", "gist_more"): (0.2, 0.1, 0.3),
    ("names", "gist_more"): (0.3, 0.15, 0.45),
}
"""Numbers of every arm and bucket with which C3 is held."""
ALIKE = {(part, "gist_more_alike"): (-0.2, -0.3, -0.1) for part in ("modifiers", "names")}


def frame(changes=None, arms=("none", "additive"), buckets=BUCKETS, n=200, known=HELD):
    """A study's table of such numbers, but for ``changes`` by arm, bucket, part and measure."""
    rows = []
    for bucket, arm, (part, measure) in product(buckets, arms, known):
        numbers = (changes or {}).get((arm, bucket, part, measure), known[part, measure])
        ends = dict(zip(("value", "low", "high"), numbers, strict=True))
        rows.append(row_of(arm, measure, **ends, bucket=bucket, part=part, n=n))
    return table_of(rows)


def none(bucket, part, measure, *numbers):
    return {("none", bucket, part, measure): numbers}


def verdict_of(table):
    (verdict,) = QUESTION.verdict(table)
    return verdict


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        (none("31-40", "modifiers", "gist_more", 0.1, 0.0, 0.2), "partly"),
        (none("41+", "names", "gist_more", 0.1, -0.01, 0.2), "partly"),
        (none("41+", "gist", "corrected", 0.5, 0.4, 0.6), "held"),
        (none("41+", "gist", "corrected", 0.49, 0.4, 0.6), "partly"),
        (
            none("41+", "names", "gist_more", 0.1, -0.01, 0.2)
            | none("31-40", "modifiers", "gist_more", -0.1, -0.2, -0.05),
            "not held",
        ),
        # Attention is reported and decides nothing.
        ({("additive", "41+", "names", "gist_more"): (-0.1, -0.2, -0.05)}, "held"),
    ],
)
def test_the_verdict_flips_at_the_rules_numbers(changes, expected):
    verdict = verdict_of(frame(changes))
    assert (verdict.claim, verdict.verdict) == ("C3", expected)
    if not changes:  # the smaller of the two differences in the longest bucket
        assert (verdict.value, verdict.low, verdict.high) == pytest.approx((20, 10, 30))
        assert verdict.measure == "points, gist less modifiers, recall beyond chance, none, 41+"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            frame(none("41+", "modifiers", "gist_more", -0.139, -0.161, -0.113)),
            "14 [11, 16] points less than of modifiers",
        ),
        (
            frame(known=HELD | ALIKE | {("names", "gist_more_alike"): (-0.2, NAN, NAN)}),
            "(among words as common 20 [10, 30] points less than of modifiers)",
        ),
        (frame(n=99), "under 100 sentences: 31-40 (n = 99), 41+ (n = 99)"),
        (None, "not measured: `bottleneck study survival`"),
        (frame(arms=("additive",)), "not measured: no arm without attention"),
        (frame(buckets=BUCKETS[:1]), "not measured: fewer than two buckets"),
        (frame()[lambda rows: rows["part"] == ""], "not measured: no word classes"),
        (frame(none("5-10", "", "corrected", 0.09, 0.0, 0.2)), "not measured: 9% in 5-10"),
        (frame(none("41+", "names", "gist_more", 0.1, NAN, NAN)), "not measured: too few words"),
    ],
)
def test_the_sentence_says_what_was_read_or_why_nothing_is_measured(table, words):
    verdict = verdict_of(table)
    assert words.removeprefix("not measured: ") in verdict.because
    unmeasured = words.startswith("not measured")
    assert (verdict.verdict == "not measured", verdict.value is None) == (unmeasured, unmeasured)
    assert "-0" not in verdict.because
    assert ("under 100" in verdict.because) == ("under 100" in words)


@pytest.fixture(scope="module")
def committed():
    """Three seeds of both arms; in `vindication`, which is older, no words as common."""
    return QUESTION.load(REFERENCE / "vindication_again")


def test_rows_are_buckets_parts_of_the_longest_and_what_gist_has_more(committed):
    lines = printed_words(QUESTION.page(committed))
    for row in (
        ["41+", "none", "200", "37", "17", "24"],
        ["noun", "41+", "none", "1,887", "17", "4", "13"],
        ["modifiers", "41+", "none", "2,369", "-13", "3"],
    ):
        assert row in lines
    older = QUESTION.page(QUESTION.load(REFERENCE / "vindication"))
    assert "gist_more_alike" not in older.frame
    assert "premier venues" in " ".join(older.caption)  # the slide's words
    parts = committed["part"].fillna("")
    plain = QUESTION.page(committed[(parts == "") | parts.str.startswith("fifth")])
    assert not any(line[:1] in (["noun"], ["modifiers"]) for line in printed_words(plain))


def test_an_empty_bucket_is_a_row_without_numbers_and_no_zero_has_a_sign(committed):
    table = committed.copy()
    table[["value", "low", "high"]] = [-0.001, -0.004, 0.004]
    empty = table["bucket"] == "41+"
    table.loc[empty, ["n", "value", "low", "high"]] = [0, NAN, NAN, NAN]
    lines = printed_words(QUESTION.page(table))
    assert not any(word.startswith("-0") for line in lines for word in line)
    assert lines.count(["41+", "none", "0*"]) == 1
    assert any(line[:3] == ["noun", "31-40", "none"] for line in lines)


@given(words=st.integers(1, 80), bands=st.integers(1, 10))
def test_bands_mirror_each_other_ascend_and_are_filled(words, bands):
    ours = relative_bands(np.arange(words), np.full(words, words), bands)
    middles = (np.arange(words) + 0.5) / words * bands
    inside = ~np.isclose(middles, np.round(middles))  # not on an edge between two bands
    assert np.array_equal(ours[inside], np.floor(middles[inside]))
    assert np.array_equal(ours[inside], (bands - 1 - ours[::-1])[inside])
    assert (np.diff(ours) >= 0).all()
    if words >= bands:
        assert set(ours) == set(range(bands))


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("cat", "noun"), ("two", "adverb, numeral"), ("paris", "name"), ("￭'s", "function word"),
        ("￭,", ""), ("bottleneck", ""),
    ],
)  # fmt: skip
def test_classes_of_words(token, kind):
    assert class_of(token) == kind
    assert not kind or kind in CLASSES


@pytest.fixture(scope="module")
def subject(finished):
    """One of the runs with a test set of more sentences, from its training text."""
    run = open_subject(finished_runs(finished)[0])
    corpus = replace(run.corpus, test=run.corpus.train[:400])
    return _like(run, run.folder, run.settings, corpus)


def _like(subject, folder, settings, corpus):
    made = Subject(folder, replace(subject.trained, settings=settings))
    made.__dict__["corpus"] = corpus
    return made


def _summed(subject, folder, messages):
    """The table's rows of a run, by way of the files in its folder."""
    settings = subject.settings.changed(scoring={"resamples": 40})
    return kept_rows(QUESTION, folder, settings, QUESTION.probe(subject, messages.append))


def _rows(subject, tmp_path, outputs, settings=None, corpus=None, messages=None):
    """The mean rows as if these had been the run's translations, by bucket, part and measure."""
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [json.dumps(dict.fromkeys(TEXT_COLUMNS, text)) + "\n" for text in outputs]
    write_relisted(folder / HYPOTHESES, "".join(lines))
    made = _like(subject, folder, settings or subject.settings, corpus or subject.corpus)
    rows = _summed(made, tmp_path, [] if messages is None else messages)
    assert set().union(*rows) <= set(PROBE_COLUMNS)
    means = {(r["bucket"], r.get("part", ""), r["measure"]): r for r in rows if "seed" not in r}
    assert len(rows) == 2 * len(means)  # one row per seed beside each mean, and no key twice
    return means


def _without(subject, lost):
    """The references without the words that are linked to lost ones."""
    outputs = []
    for pair in subject.corpus.test:
        source, target = tokenize(pair.source), tokenize(pair.target)
        gone = {j for i, j in pair.links if lost(source[i])}
        outputs.append(" ".join(word for j, word in enumerate(target) if j not in gone))
    return outputs


def _places(subject):
    return subject.buckets.assign(np.array([pair.words for pair in subject.corpus.test]))


def _filled(subject):
    return subject.buckets.names[: _places(subject).max() + 1]


STUDIED = pytest.mark.exhaustive(sample="session")


@STUDIED
def test_references_survive_whole_and_so_do_a_real_runs_words_in_part(subject, finished, tmp_path):
    rows = _rows(subject, tmp_path, [pair.target for pair in subject.corpus.test])
    for bucket in _filled(subject):
        row = rows[bucket, "", "recall"]
        assert (row["value"], row["low"], row["high"]) == (1, 1, 1)
        chance = rows[bucket, "", "chance"]["value"]
        assert 0.02 < chance < 0.6
        classes = [rows[bucket, name, "corrected"]["value"] for name in ("", *CLASSES)]
        known = [value for value in classes if not np.isnan(value)]
        assert known == pytest.approx([1] * len(known))
    longest = _filled(subject)[-1]
    assert rows[longest, "modifiers", "gist_more"]["value"] == pytest.approx(0, abs=1e-12)
    real = open_subject(finished_runs(finished)[0])
    rows = [row for row in _summed(real, tmp_path, []) if row["measure"] == "recall"]
    whole = [row for row in rows if not row.get("part")]
    assert len(whole) == 2 * len(real.buckets.names)
    assert sum(row["n"] for row in whole) > 0
    assert all(0 <= row["value"] < 0.5 for row in whole if row["n"])


@STUDIED
def test_one_output_for_all_sources_is_chance_exactly(subject, tmp_path):
    outputs = ["le chat de la ville a été vu, et les hommes l'ont dit"] * len(subject.corpus.test)
    rows = _rows(subject, tmp_path, outputs)
    for bucket in _filled(subject):
        assert rows[bucket, "", "recall"]["value"] > 0.05
        for part in ("", "fifth 1", "noun", "function word"):
            assert rows[bucket, part, "corrected"]["value"] == pytest.approx(0, abs=1e-12)


@STUDIED
def test_references_of_other_sentences_survive_by_chance(subject, tmp_path):
    test, places = subject.corpus.test, _places(subject)
    outputs = [""] * len(test)
    for bucket in np.unique(places):
        ids = np.flatnonzero(places == bucket)
        for own, other in zip(ids, np.roll(ids, 1), strict=True):
            outputs[own] = test[other].target
    rows = _rows(subject, tmp_path, outputs)
    for bucket in _filled(subject):
        recall, chance = (rows[bucket, "", name]["value"] for name in ("recall", "chance"))
        assert recall > 0.02
        assert abs(recall - chance) < 0.05
        assert abs(rows[bucket, "noun", "corrected"]["value"]) < 0.05


@STUDIED
def test_a_lost_class_is_lost_alone_and_words_are_counted_as_a_loop_does(subject, tmp_path):
    rows = _rows(subject, tmp_path, _without(subject, lambda word: word_class(word) == "adjective"))
    longest, expected = _filled(subject)[-1], Counter()
    for pair, place in zip(subject.corpus.test, _places(subject), strict=True):
        if place >= 0 and subject.buckets.names[place] == longest:
            source = tokenize(pair.source)
            expected.update(class_of(source[i]) for i in {i for i, _ in pair.links})
    for name in CLASSES:
        assert rows[longest, name, "recall"]["n"] == expected[name]
    assert rows[longest, "adjective", "recall"]["value"] < 0.15
    assert rows[longest, "verb", "recall"]["value"] > 0.9
    more, alike = (rows[longest, "modifiers", name] for name in ("gist_more", "gist_more_alike"))
    gist, modifiers = (rows[longest, name, "corrected"]["value"] for name in ("gist", "modifiers"))
    assert more["value"] == pytest.approx(gist - modifiers)
    assert more["low"] > 0.2
    assert alike["low"] > 0.2
    assert 0 < alike["n"] <= more["n"]


@STUDIED
@pytest.mark.parametrize(("fewest", "left"), [(32, 0.02), (24, 0.1)])  # at a band's edge, within
def test_what_frequency_alone_loses_no_kind_loses_among_words_as_common(
    subject, tmp_path, fewest, left
):
    seen = Counter(word for pair in subject.corpus.train for word in tokenize(pair.source))
    rows = _rows(subject, tmp_path, _without(subject, lambda word: seen[word] < fewest))
    longest = _filled(subject)[-1]
    assert rows[longest, "modifiers", "gist_more"]["value"] < -0.2
    assert abs(rows[longest, "modifiers", "gist_more_alike"]["value"]) < left


@STUDIED
def test_early_words_survive_where_outputs_are_cut(subject, tmp_path):
    halves = [pair.target.split() for pair in subject.corpus.test]
    rows = _rows(subject, tmp_path, [" ".join(words[: len(words) // 2]) for words in halves])
    longest = _filled(subject)[-1]
    kept = [rows[longest, f"fifth {place}", "recall"]["value"] for place in range(1, 6)]
    assert kept[0] > 0.85
    assert kept[-1] < 0.5
    assert kept[0] > kept[2] > kept[4]


@STUDIED
def test_arms_and_seeds_meet_the_same_shuffled_sources(finished):
    run = open_subject(finished_runs(finished)[0])
    first, other, scoring = (
        QUESTION.probe(_like(run, run.folder, settings, run.corpus), lambda _: None)
        for settings in (
            run.settings,
            run.settings.changed(model={"attention": "none"}, training={"seed": 7}),
            run.settings.changed(scoring={"seed": 8}),
        )
    )
    for name in first:
        np.testing.assert_array_equal(first[name], other[name])
    assert (np.nan_to_num(first["by_chance"]) != np.nan_to_num(scoring["by_chance"])).any()


@STUDIED
def test_files_have_no_classes_and_links_of_their_own(subject, tmp_path, monkeypatch):
    settings = resolve("smoke", ["corpus.name=files", "corpus.source=a", "corpus.target=b"])
    unlinked = tuple(replace(pair, links=()) for pair in subject.corpus.test)
    corpus, messages = replace(subject.corpus, test=unlinked), []
    targets = [pair.target for pair in unlinked]
    rows = _rows(subject, tmp_path, targets, settings, corpus, messages)
    assert messages == ["IBM model 1", "counting"]
    assert {part.split()[0] for _, part, _ in rows if part} == {"fifth"}
    recalls = [row["value"] for (*_, name), row in rows.items() if name == "recall" and row["n"]]
    known = [value for value in recalls if not np.isnan(value)]
    assert known == pytest.approx([1.0] * len(known))
    # The lexicon of a long text is taught by a sample of it.
    monkeypatch.setattr("seq2seq_bottleneck.questions.word_survival.LEXICON_PAIRS", 4)
    pairs = subject.corpus.train[:10]
    model = lexicon(pairs)
    assert set(model.source_ids) == {w for pair in pairs[::3] for w in tokenize(pair.source)}
