"""Survival of runs: outputs whose survival is known, put into a real run's folder."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from listed import write_relisted

from seq2seq_bottleneck.corpus.grammar import word_class
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.subject import Subject, open_subject
from seq2seq_bottleneck.questions.survival import QUESTION, probe, summarise
from seq2seq_bottleneck.questions.word_survival import CLASSES, class_of, lexicon
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.folders import HYPOTHESES
from seq2seq_bottleneck.results.folders import TEXT_COLUMNS as COLUMNS
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.run import resolve

pytestmark = pytest.mark.exhaustive(sample="session")

SENTENCES = 400


@pytest.fixture(scope="module")
def subject(finished):
    """One of the runs with a test set of more sentences, from its training text."""
    found = open_subject(finished_runs(finished)[0])
    corpus = replace(found.corpus, test=found.corpus.train[:SENTENCES])
    return _like(found, found.folder, found.settings, corpus)


def _like(subject, folder, settings, corpus):
    made = Subject(folder, replace(subject.trained, settings=settings))
    made.__dict__["corpus"] = corpus
    return made


def _silent(_):
    pass


def _with_outputs(subject, folder, outputs):
    """The same run, as if these had been its translations."""
    folder.mkdir()
    rows = [json.dumps(dict.fromkeys(COLUMNS, text)) + "\n" for text in outputs]
    write_relisted(folder / HYPOTHESES, "".join(rows))
    return _like(subject, folder, subject.settings, subject.corpus)


def _summed(columns, settings, folder):
    keep(folder, QUESTION, columns)
    return summarise([read_kept(folder, settings.changed(scoring={"resamples": 40}), QUESTION)])


def _rows(subject, tmp_path, outputs):
    """The mean rows for these translations, by bucket, part and measure."""
    made = _with_outputs(subject, tmp_path / "run", outputs)
    rows = _summed(probe(made, _silent), subject.settings, tmp_path)
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


def _filled(subject):
    words = np.array([pair.words for pair in subject.corpus.test])
    return subject.buckets.names[: subject.buckets.assign(words).max() + 1]


def test_references_survive_whole(subject, tmp_path):
    rows = _rows(subject, tmp_path, [pair.target for pair in subject.corpus.test])
    for bucket in _filled(subject):
        row = rows[bucket, "", "recall"]
        assert (row["value"], row["low"], row["high"]) == (1, 1, 1)
        assert rows[bucket, "", "corrected"]["value"] == 1
        chance = rows[bucket, "", "chance"]["value"]
        assert 0.02 < chance < 0.6
        assert rows[bucket, "", "less_chance"]["value"] == pytest.approx(1 - chance)
        classes = [rows[bucket, name, "corrected"]["value"] for name in CLASSES]
        known = [value for value in classes if not np.isnan(value)]
        assert known == pytest.approx([1] * len(known))
    longest = _filled(subject)[-1]
    assert rows[longest, "modifiers", "gist_more"]["value"] == pytest.approx(0, abs=1e-12)


def test_others_references_survive_by_chance(subject, tmp_path):
    test = subject.corpus.test
    places = subject.buckets.assign(np.array([pair.words for pair in test]))
    outputs = [""] * len(test)
    for bucket in np.unique(places):
        ids = np.flatnonzero(places == bucket)
        for own, other in zip(ids, np.roll(ids, 1), strict=True):
            outputs[own] = test[other].target
    rows = _rows(subject, tmp_path, outputs)
    for bucket in _filled(subject):
        assert rows[bucket, "", "recall"]["value"] > 0.02
        row = rows[bucket, "", "less_chance"]
        assert abs(row["value"]) < 0.05
        assert abs(rows[bucket, "noun", "corrected"]["value"]) < 0.05


def test_one_output_for_all_sources_is_chance_exactly(subject, tmp_path):
    outputs = ["le chat de la ville a été vu, et les hommes l'ont dit"] * len(subject.corpus.test)
    rows = _rows(subject, tmp_path, outputs)
    for bucket in _filled(subject):
        assert rows[bucket, "", "recall"]["value"] > 0.05
        for part in ("", "fifth 1", "noun", "function word"):
            assert rows[bucket, part, "less_chance"]["value"] == pytest.approx(0, abs=1e-12)


def test_a_lost_class_is_lost_alone_and_words_are_counted_as_a_loop_does(subject, tmp_path):
    rows = _rows(subject, tmp_path, _without(subject, lambda word: word_class(word) == "adjective"))
    longest, expected = _filled(subject)[-1], Counter()
    for pair in subject.corpus.test:
        place = subject.buckets.assign(np.array([pair.words]))[0]
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


@pytest.mark.parametrize(("fewest", "left"), [(32, 0.02), (24, 0.1)])  # at a band's edge, within
def test_what_frequency_alone_loses_no_kind_loses_among_words_as_common(
    subject, tmp_path, fewest, left
):
    seen = Counter(word for pair in subject.corpus.train for word in tokenize(pair.source))
    rows = _rows(subject, tmp_path, _without(subject, lambda word: seen[word] < fewest))
    longest = _filled(subject)[-1]
    assert rows[longest, "modifiers", "gist_more"]["value"] < -0.2
    assert abs(rows[longest, "modifiers", "gist_more_alike"]["value"]) < left


def test_early_words_survive_where_outputs_are_cut(subject, tmp_path):
    test = subject.corpus.test
    cut = [" ".join(pair.target.split()[: len(pair.target.split()) // 2]) for pair in test]
    rows = _rows(subject, tmp_path, cut)
    longest = _filled(subject)[-1]
    kept = [rows[longest, f"fifth {place}", "recall"]["value"] for place in range(1, 6)]
    assert kept[0] > 0.85
    assert kept[-1] < 0.5
    assert kept[0] > kept[2] > kept[4]


def test_arms_and_seeds_meet_the_same_shuffled_sources(subject, tmp_path):
    outputs = [pair.target for pair in subject.corpus.test]
    one = _with_outputs(subject, tmp_path / "run", outputs)
    settings = subject.settings.changed(model={"attention": "none"}, training={"seed": 7})
    other = _like(one, one.folder, settings, one.corpus)
    first, second = (probe(each, _silent) for each in (one, other))
    assert list(first) == list(second)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    scoring = _like(one, one.folder, settings.changed(scoring={"seed": 8}), one.corpus)
    name = "position word 1 by_chance"
    assert (np.asarray(probe(scoring, _silent)[name]) != np.asarray(first[name])).any()


def test_a_real_runs_own_outputs_are_measured(finished, tmp_path):
    own = open_subject(finished_runs(finished)[0])
    rows = _summed(probe(own, _silent), own.settings, tmp_path)
    whole = [row for row in rows if row["measure"] == "recall" and not row.get("part")]
    assert len(whole) == 2 * len(own.buckets.names)
    assert sum(row["n"] for row in whole) > 0
    assert all(0 <= row["value"] < 0.5 for row in whole if row["n"])


def test_files_have_frequencies_in_place_of_classes_and_links_of_their_own(subject, tmp_path):
    settings = resolve("smoke", ["corpus.name=files", "corpus.source=a", "corpus.target=b"])
    targets = [pair.target for pair in subject.corpus.test]
    made = _with_outputs(subject, tmp_path / "run", targets)
    unlinked = [replace(pair, links=()) for pair in made.corpus.test]
    corpus = replace(made.corpus, test=tuple(unlinked))
    messages = []
    columns = probe(_like(made, made.folder, settings, corpus), messages.append)
    assert messages == ["IBM model 1", "counting"]
    rows = _summed(columns, settings, tmp_path)
    parts = {row["part"].split()[0] for row in rows if row.get("part")}
    assert parts == {"fifth", "frequency"}
    recalls = [row["value"] for row in rows if row["measure"] == "recall" and row["n"]]
    known = [value for value in recalls if not np.isnan(value)]
    assert known == pytest.approx([1.0] * len(known))


def test_the_lexicon_of_a_long_text_is_taught_by_a_sample_of_it(subject, monkeypatch):
    monkeypatch.setattr("seq2seq_bottleneck.questions.word_survival.LEXICON_PAIRS", 4)
    pairs = subject.corpus.train[:10]
    model = lexicon(pairs)
    assert set(model.source_ids) == {w for pair in pairs[::3] for w in tokenize(pair.source)}
