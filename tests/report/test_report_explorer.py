"""What the explorer says of a sentence is what the study and `bottleneck diagnose` say of it."""

import numpy as np
import pytest
from planted_report import PAIR, SOURCE, write_hostile, write_results

from seq2seq_bottleneck.corpus.grammar import english_french, word_class
from seq2seq_bottleneck.corpus.tokens import plain, tokenize
from seq2seq_bottleneck.questions.word_survival import LinkedReference, word_reports
from seq2seq_bottleneck.report import explorer
from seq2seq_bottleneck.report.explorer import explored, pair_of, readable
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.concerns import CorpusSettings

GRAMMAR = CorpusSettings()
LONG = (
    "in the afternoon, the yellow mat always shines",
    "our flowers moved carefully in the evening and were really old",
)


def _shown(text):
    """Tokens as examples show them."""
    return [plain(token) for token in tokenize(text)]


@pytest.mark.parametrize("english", [PAIR[0], *LONG])
def test_the_grammars_pair_is_found_again_from_the_shown_tokens(english):
    pair = english_french().parse(english)
    assert pair is not None
    assert pair_of(_shown(english), pair.target, GRAMMAR) == pair
    turned = pair_of(_shown(pair.target), english, CorpusSettings(reverse_direction=True))
    assert (turned.source, turned.target) == (pair.target, english)
    assert sorted(turned.links) == sorted((theirs, ours) for ours, theirs in pair.links)


def test_no_links_are_claimed_for_another_translation_or_another_corpus():
    english, french = PAIR
    assert pair_of(_shown(english), "le chien", GRAMMAR) is None
    assert pair_of(_shown("colourless green ideas"), french, GRAMMAR) is None
    files = CorpusSettings(name="files", source="a", target="b")
    assert pair_of(_shown(english), french, files) is None
    copy = CorpusSettings(name="copy")
    assert pair_of(["w1", "w2"], "w1 w2", copy).links == ((0, 0), (1, 1))
    assert pair_of(["w1", "w2"], "w1 w3", copy) is None


@pytest.mark.parametrize("english", [PAIR[0], *LONG])
def test_the_fate_of_each_word_is_that_of_diagnose(english):
    """Compared with `word_reports` on the text with its joiners, as `bottleneck diagnose` does."""
    pair, random = english_french().parse(english), np.random.default_rng(1)
    tokens, target = tokenize(english), tokenize(pair.target)
    linked = LinkedReference(len(tokens), tuple(target), pair.links)
    classes = [word_class(token) if plain(token).isalpha() else "" for token in tokens]
    fates = set()
    for _ in range(20):
        output = [token for token in target if random.random() < 0.6] + target[:1]
        gold = [one for one in word_reports(tokens, classes, linked, output)
                if plain(one.word).isalpha()]  # fmt: skip
        found = explorer._judged(
            _shown(english), pair.target, pair, [plain(token) for token in output], GRAMMAR
        )
        assert [one.word for one in found] == [plain(one.word) for one in gold]
        for ours, theirs in zip(found, gold, strict=True):
            assert (ours.fate, ours.share, ours.word_class) == (
                theirs.fate, theirs.share, theirs.word_class
            )  # fmt: skip
            assert ours.found == tuple(map(plain, theirs.found))
        fates |= {one.fate for one in found}
    assert {"survived", "lost"} <= fates


def test_the_data_are_those_of_the_examples(tmp_path):
    held = explored(load_bundle(write_results(tmp_path, seeds=2)))
    assert [arm["name"] for arm in held.data["arms"]] == ["none", "additive"]
    assert all("seed 1" in arm["told"] for arm in held.data["arms"])
    (sentence,) = held.data["sentences"]
    assert (sentence["text"], sentence["length"], sentence["reference"]) == (PAIR[0], 3, PAIR[1])
    assert sentence["source"] == SOURCE
    assert sentence["linked"]
    assert sentence["words"] == [
        ["the", "determiner", "le"], ["cat", "noun", "chat"], ["sat", "verb", "s' est assis"]
    ]  # fmt: skip
    first = sentence["arms"][0]
    assert first["fates"] == [["survived", "le"], ["survived", "chat"], ["in part", "est assis"]]
    assert first["weights"][0] == [1000, 0, 0, 0]
    assert first["weights"][-1] == [250, 250, 500, 0]
    assert held.left_out == 0
    assert held.data["first"] == 0


def test_of_text_without_links_the_references_words_are_looked_for(tmp_path):
    held = explored(load_bundle(write_hostile(tmp_path)))
    (sentence,) = held.data["sentences"]
    assert not sentence["linked"]
    words = [word for word, *_ in sentence["words"]]
    fates = dict(zip(words, sentence["arms"][0]["fates"], strict=True))
    assert fates["script"] == ["in part", "script"]  # once of three times
    assert fates["amp"] == ["survived", "amp"]
    assert fates["document.title"] == ["in part", "document.title"]
    assert words.count("script") == 3
    assert all(kind == "" for _, kind, _ in sentence["words"])


def test_sentences_beyond_the_room_are_left_out_and_counted(tmp_path, monkeypatch):
    bundle = load_bundle(write_results(tmp_path))
    monkeypatch.setattr(explorer, "MOST_WEIGHTS", 31)
    assert explored(bundle) is None
    monkeypatch.setattr(explorer, "MOST_WEIGHTS", 32)
    assert explored(bundle).sentences == 1


@pytest.mark.parametrize(
    ("sentences", "first"),
    [
        ([(8, 0)], 0),
        ([(8, 7), (25, 9), (12, 3)], 1),
        ([(26, 9), (8, 0), (22, 2), (24, 20), (21, 12)], 4),
        ([(26, 9), (22, 2), (24, 20)], 0),
        ([(26, 9), (22, 2)], 0),
        ([(3, 1), (4, 0), (2, 2)], 0),
        ([(3, 1), (4, 1)], 1),
        # Of those that are too wide to be seen at once it is only where there are no others.
        ([(54, 25), (26, 13), (49, 26), (21, 6), (9, 0)], 1),
        ([(54, 25), (27, 1), (28, 2)], 1),
        ([(50, 9), (44, 2), (60, 30), (35, 12)], 0),
    ],
)
def test_the_page_opens_on_a_sentence_seen_at_once_with_the_median_of_lost_words(sentences, first):
    """Each is of so many words, of which the first arm lost so many."""
    held = [
        {
            "length": length,
            "source": ["x"] * (length + 1),
            "arms": [
                {"fates": [["lost", ""]] * lost + [["survived", "x"]] * (length - lost)},
                {"fates": [["survived", "x"]] * length},
            ],
        }
        for length, lost in sentences
    ]
    assert explorer._telling(held, (5, 11, 21, 31, 41)) == first


def test_words_are_put_together_as_a_person_reads_them():
    french = ["mardi", ",", "l'", "homme", "qu’", "il", "voit", "."]
    assert readable(french) == "mardi, l'homme qu’il voit."
    assert readable(["martin", "'s", "dress"]) == "martin's dress"
