"""Neighbours of runs: planted shares through the summing up, and a real run measured."""

import numpy as np
import pytest

from seq2seq_bottleneck.corpus.grammar import noun_gender, word_class
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.questions.embeddings import (
    CONTROLS,
    QUESTION,
    french_labels,
    probe,
    same_label,
    summarise,
)
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.settings.run import resolve


@pytest.fixture(scope="module")
def found(subject):
    """What the probe finds on it."""
    return probe(subject, lambda _: None)


def _probed(tmp_path, seed, trained):
    """30 nouns and 10 verbs a side, of which the class's shares are these."""
    nouns, verbs = 30, 10
    words = 2 * (nouns + verbs)
    columns = {
        "word": [f"w{place}" for place in range(words)],
        "class": (["noun"] * nouns + ["verb"] * verbs) * 2,
        "side": ["source"] * (words // 2) + ["target"] * (words // 2),
    }
    for control in CONTROLS:
        share = trained if control == "trained" else 0.25
        columns[f"class_{control}"] = [share] * words
        columns[f"gender_{control}"] = ([0.5] * nouns + [np.nan] * verbs) * 2
    folder = tmp_path / str(seed)
    keep(folder, QUESTION, columns)
    return read_kept(folder, resolve("smoke", [f"training.seed={seed}"]), QUESTION)


def test_shares_are_means_over_words_and_seeds(tmp_path):
    rows = summarise([_probed(tmp_path, 1, 0.6), _probed(tmp_path, 2, 0.8)])
    held = {(r["part"], r["measure"], r.get("control", ""), r.get("seed")): r for r in rows}
    assert len(held) == len(rows)
    both = held["source", "same_class", "", None]
    assert both["value"] == pytest.approx(0.7)
    assert (both["low"], both["high"], both["n"]) == (pytest.approx(0.7), pytest.approx(0.7), 40)
    assert held["source", "same_class_added", "", None]["value"] == pytest.approx(0.45)
    assert held["source", "same_class_added", "", 2]["value"] == pytest.approx(0.55)
    assert held["target", "same_class", "chance", None]["value"] == pytest.approx(0.25)
    assert held["source", "same_gender", "untrained", None]["n"] == 30
    assert held["source noun", "same_class", "", None]["n"] == 30
    parts = {part for part, *_ in held}
    assert parts == {"source", "target", "source noun", "target noun"}  # too few verbs


def test_a_real_runs_words_have_their_neighbours(subject, found):
    vocabulary = subject.vocabularies[0]
    source = [place for place, side in enumerate(found["side"]) if side == "source"]
    assert [found["word"][place] for place in source] == list(vocabulary.words)
    embeddings = np.asarray(subject.weights["encoder"]["embedding"][...])[4:]
    kinds = [word_class(word) for word in vocabulary.words]
    expected = same_label(embeddings, np.unique(kinds, return_inverse=True)[1], k=5)
    np.testing.assert_allclose(np.array(found["class_trained"])[source], expected)
    nouns = [place for place in source if found["class"][place] == "noun"]
    genders = [noun_gender(found["word"][place]) for place in nouns]
    places = [place for place, kind in enumerate(kinds) if kind == "noun"]
    expected = same_label(embeddings[places], np.unique(genders, return_inverse=True)[1], k=5)
    np.testing.assert_allclose(np.array(found["gender_trained"])[nouns], expected)
    others = [place for place in source if found["class"][place] != "noun"]
    assert np.isnan(np.array(found["gender_trained"])[others]).all()


def test_untrained_embeddings_give_about_what_chance_gives(found):
    source = np.array(found["side"]) == "source"
    gap = (np.array(found["class_untrained"]) - np.array(found["class_chance"]))[source]
    assert abs(gap.mean()) < 0.04


def test_words_next_in_frequency_are_the_frequency_controls_neighbours(found):
    source = np.array(found["side"]) == "source"
    kinds = np.array(found["class"])[source]
    place = 100
    nearest = [98, 99, 101, 102]  # and 97 or 103
    share = np.array(found["class_frequency"])[source][place]
    held = (kinds[nearest] == kinds[place]).sum()
    assert held / 5 <= share + 1e-9 <= (held + 1) / 5 + 1e-6


def test_french_words_are_what_their_english_is():
    pairs = [
        SentencePair("the cat will love", "le chat aimera", ((0, 0), (1, 1), (2, 2), (3, 2))),
        SentencePair("the key of a cat", "la clé du chat", ((0, 0), (1, 1), (2, 2), (4, 3))),
        SentencePair("a cat", "un clé", ((0, 0), (1, 1))),
        SentencePair("the key", "la clé", ((0, 0), (1, 1))),
    ]
    assert french_labels(pairs) == {
        "le": ("determiner", ""), "la": ("determiner", ""), "un": ("determiner", ""),
        "chat": ("noun", "m"),
        "clé": ("noun", "f"),  # twice the key, once the cat
        "aimera": ("verb", ""),  # not the auxiliary
        "du": ("preposition", ""),
    }  # fmt: skip


def test_what_is_kept_is_read_back_and_summed_up(subject, found, tmp_path):
    keep(tmp_path, QUESTION, found)
    rows = summarise([read_kept(tmp_path, subject.settings, QUESTION)])
    row = next(r for r in rows if r["part"] == "source" and r["measure"] == "same_gender"
               and not r["control"] and "seed" not in r)  # fmt: skip
    ours = np.array(found["gender_trained"])[np.array(found["side"]) == "source"]
    assert row["value"] == pytest.approx(np.nanmean(ours))
    assert row["n"] == np.isfinite(ours).sum()
    assert row["low"] < row["value"] < row["high"]


def test_the_study_is_for_the_grammar_alone():
    settings = resolve("smoke")
    assert QUESTION.suits(settings)
    assert not QUESTION.suits(settings.changed(corpus={"name": "copy"}))
    assert not QUESTION.suits(settings.changed(model={"source": "hidden"}))
