"""Dimensions of runs: known numbers through the summing up, and a real run measured."""

from typing import ClassVar

import numpy as np
import pytest

from seq2seq_bottleneck.corpus.pair import sources
from seq2seq_bottleneck.probes.dimensions import GROUPS, Jackknifed, dimensions
from seq2seq_bottleneck.questions.subject import Subject, open_subject
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.studies.dimensions import (
    MEASURES,
    SEED,
    STUDY,
    measure,
    summarise,
)
from seq2seq_bottleneck.studies.encoding import contexts, states
from seq2seq_bottleneck.studies.fresh import fresh_sentences
from seq2seq_bottleneck.studies.kept import keep, read_kept


def _silent(_):
    pass


def _probed(tmp_path, seed, trained, untrained):
    """A run whose components are these, 1 less without each group."""
    rows = []
    for control, value in (("trained", trained), ("untrained", untrained)):
        left_out = {f"without_{group}": value - 1 - group / 10 for group in range(GROUPS)}
        keys = {"control": control, "bucket": "5-10", "part": "all", "measure": "components"}
        rows.append(keys | {"n": 100, "value": value} | left_out)
    settings = resolve("smoke", [f"training.seed={seed}"])
    folder = tmp_path / str(seed)
    keep(folder, STUDY, {name: [row[name] for row in rows] for name in rows[0]})
    return read_kept(folder, settings, STUDY)


def test_the_mean_over_seeds_has_the_jackknifes_interval(tmp_path):
    rows = summarise([_probed(tmp_path, 1, 20.0, 5.0), _probed(tmp_path, 2, 30.0, 6.0)])
    held = {(r["measure"], r.get("control", ""), r.get("seed")): r for r in rows}
    assert len(rows) == len(held) == 9
    found = held["components", "", None]
    expected = Jackknifed(25.0, 24.0 - np.arange(GROUPS) / 10).interval
    assert found["value"] == 25.0
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))
    assert found["n"] == 100
    assert held["components", "untrained", None]["value"] == 5.5
    assert [held["components", "", seed]["value"] for seed in (1, 2)] == [20.0, 30.0]


def test_what_training_adds_is_paired(tmp_path):
    rows = summarise([_probed(tmp_path, 1, 20.0, 5.0)])
    added = next(row for row in rows if row["measure"] == "components_added")
    assert added["value"] == 15.0
    assert (added["low"], added["high"]) == pytest.approx((15.0, 15.0))  # the scatter is shared


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_on_new_sentences(subject, tmp_path):
    found = measure(subject, _silent, 90)
    buckets = subject.buckets.names
    assert len(found["value"]) == len(buckets) * 2 * 2 * len(MEASURES)
    keep(tmp_path, STUDY, found)
    kept = read_kept(tmp_path, subject.settings, STUDY)
    pairs = fresh_sentences(subject, 90)[1]
    expected = dimensions(contexts(subject, subject.weights, pairs), seed=SEED)
    rows = {(r["bucket"], r["measure"], r.get("control"), r.get("part")): r
            for r in summarise([kept]) if "seed" not in r}  # fmt: skip
    ours = rows[buckets[1], "components", "", ""]
    assert ours["value"] == pytest.approx(expected.components.value)
    assert ours["low"] == pytest.approx(expected.components.interval.low)
    assert rows[buckets[1], "components", "", "half"]["n"] == 45
    untrained = dimensions(contexts(subject, subject.untrained, pairs), seed=SEED)
    assert rows[buckets[1], "effective_rank", "untrained", ""]["value"] == pytest.approx(
        untrained.effective_rank.value
    )


@pytest.mark.exhaustive(sample="session")
def test_too_few_sentences_are_a_row_without_numbers(subject, tmp_path):
    keep(tmp_path, STUDY, measure(subject, _silent, 79))
    rows = summarise([read_kept(tmp_path, subject.settings, STUDY)])
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
    with pytest.raises(UserError, match=r"no 2,100 sentences a bucket .* of 5-10 words"):
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
