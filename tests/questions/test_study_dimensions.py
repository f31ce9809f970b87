"""Dimensions of a real run, and the new sentences that they are measured on."""

from typing import ClassVar

import numpy as np
import pytest

from seq2seq_bottleneck.corpus.pair import sources
from seq2seq_bottleneck.questions.dimensions import (
    QUESTION,
    SEED,
    TITLES,
    dimensions,
    jackknife,
    probe,
    summarise,
)
from seq2seq_bottleneck.questions.encoding import contexts, states
from seq2seq_bottleneck.questions.fresh_sentences import fresh_sentences
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.subject import Subject, open_subject
from seq2seq_bottleneck.settings.errors import UserError


def _silent(_):
    pass


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_on_new_sentences(subject, tmp_path):
    found = probe(subject, _silent, 90)
    buckets = subject.buckets.names
    assert len(found["value"]) == len(buckets) * 2 * 2 * len(TITLES)
    keep(tmp_path, QUESTION, found)
    kept = read_kept(tmp_path, subject.settings, QUESTION)
    pairs = fresh_sentences(subject, 90)[1]
    expected = dimensions(contexts(subject, subject.weights, pairs), seed=SEED)
    rows = {(r["bucket"], r["measure"], r.get("control"), r.get("part")): r
            for r in summarise([kept]) if "seed" not in r}  # fmt: skip
    ours = rows[buckets[1], "components", "", ""]
    assert ours["value"] == pytest.approx(jackknife(expected["components"]).value)
    assert ours["low"] == pytest.approx(jackknife(expected["components"]).low)
    assert rows[buckets[1], "components", "", "half"]["n"] == 45
    untrained = dimensions(contexts(subject, subject.untrained, pairs), seed=SEED)
    assert rows[buckets[1], "effective_rank", "untrained", ""]["value"] == pytest.approx(
        untrained["effective_rank"][0]
    )


@pytest.mark.exhaustive(sample="session")
def test_too_few_sentences_are_a_row_without_numbers(subject, tmp_path):
    keep(tmp_path, QUESTION, probe(subject, _silent, 79))
    rows = summarise([read_kept(tmp_path, subject.settings, QUESTION)])
    assert {row["n"] for row in rows} == {79}
    assert all(np.isnan(row["value"]) for row in rows)


@pytest.mark.exhaustive(sample="session")
def test_new_sentences_are_new_and_of_the_buckets_lengths(subject, runs):
    held = fresh_sentences(subject, 30)
    known = frozenset().union(*map(sources, subject.corpus.splits.values()))
    assert [len(pairs) for pairs in held] == [30] * len(subject.buckets.names)
    for place, pairs in enumerate(held):
        assert len(sources(pairs)) == 30
        assert not sources(pairs) & known
        assert {int(one) for one in subject.buckets.assign(np.array([p.words for p in pairs]))} == {
            place
        }
    assert fresh_sentences(open_subject(runs[-1]), 30) == held


class _Files(Subject):
    """The same run, taken for one of the user's files."""

    changes: ClassVar = {"name": "files"}

    @property
    def settings(self):
        return super().settings.changed(corpus=self.changes)


class _Narrow(_Files):
    """Taken for one of a language with few sentences: 2,016 of 5 to 10 words."""

    changes: ClassVar = {"name": "copy", "copy_words": 2}


def _taken_for(kind, subject):
    made = kind(subject.folder, subject.trained)
    made.__dict__["corpus"] = subject.corpus  # a cached property
    return made


def test_of_files_the_test_and_validation_sentences_are_taken(subject):
    held = fresh_sentences(_taken_for(_Files, subject), 5)
    given = sources(subject.corpus.test) | sources(subject.corpus.valid)
    assert [len(pairs) for pairs in held] == [5] * 5
    assert all(sources(pairs) <= given for pairs in held)


def test_a_language_without_so_many_sentences_is_the_users_error(subject):
    with pytest.raises(UserError, match=r"no 2,100 sentences per bucket .* of 5-10 words"):
        fresh_sentences(_taken_for(_Narrow, subject), 2100)


def test_padding_never_matters_to_a_context_or_a_state(subject):
    pairs = sorted(subject.corpus.test, key=lambda pair: pair.words)
    short, long = pairs[0], pairs[-1]
    together = contexts(subject, subject.weights, [short, long])
    alone = contexts(subject, subject.weights, [short])
    np.testing.assert_allclose(together[0], alone[0], rtol=1e-5, atol=1e-6)
    held = states(subject, subject.weights, [long, short])
    assert [len(one) for one in held] == [
        len(ids) - 1 for ids in subject.encode([long, short]).source
    ]
    np.testing.assert_allclose(
        states(subject, subject.weights, [short])[0], held[1], rtol=1e-5, atol=1e-6
    )
