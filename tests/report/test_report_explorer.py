"""What the explorer says of a sentence is what the question survival and `diagnose` say of it."""

from random import Random

import numpy as np
import pytest
from planted_report import PAIR, SOURCE, write_hostile, write_results

from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.vocabulary import plain, tokenize
from seq2seq_bottleneck.questions.word_survival import LinkedReference, word_reports
from seq2seq_bottleneck.report.explorer import explorer_data, find_pair, readable
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.concerns import CorpusSettings

GRAMMAR = CorpusSettings()


def shown(text):
    """Tokens as examples have them."""
    return [plain(token) for token in tokenize(text)]


@pytest.mark.parametrize("words", [3, 8, 13, 30, 55])
def test_the_grammars_pair_is_found_from_the_shown_tokens(words):
    random = Random(words)
    for _ in range(20):
        pair = english_french().draw(random, words)
        same = find_pair(shown(pair.source), pair.target, GRAMMAR)
        assert (same.source, same.target, same.links) == (pair.source, pair.target, pair.links)
        turned = CorpusSettings(reverse_direction=True)
        same = find_pair(shown(pair.target), pair.source, turned)
        assert (same.source, same.target) == (pair.target, pair.source)
        assert sorted((ours, theirs) for theirs, ours in same.links) == sorted(pair.links)


@pytest.mark.parametrize(
    ("source", "reference", "corpus"),
    [
        (PAIR[0], "le chien", GRAMMAR),
        ("colourless green ideas", PAIR[1], GRAMMAR),
        (*PAIR, CorpusSettings(name="files", source="a", target="b")),
    ],
)
def test_no_links_are_claimed_for_another_translation_or_another_corpus(source, reference, corpus):
    assert find_pair(shown(source), reference, corpus) is None


def test_the_data_are_those_of_the_examples(tmp_path):
    data = explorer_data(load_bundle(write_results(tmp_path, seeds=2)))
    assert [arm["name"] for arm in data["arms"]] == ["none", "additive"]
    assert all("seed 1" in arm["run"] for arm in data["arms"])
    (sentence,) = data["sentences"]
    assert (sentence["text"], sentence["reference"]) == PAIR
    assert (sentence["source"], sentence["linked"]) == (SOURCE, True)
    assert sentence["words"] == [["the", "le"], ["cat", "chat"], ["sat", "s' est assis"]]
    first = sentence["arms"][0]
    assert first["fates"] == [["survived", "le"], ["survived", "chat"], ["in part", "est assis"]]
    assert first["weights"][0] == [1000, 0, 0, 0]
    assert first["weights"][-1] == [250, 250, 500, 0]
    target, output = tuple(shown(PAIR[1])), ["le", "chat", "est", "assis"]
    pair = english_french().parse(PAIR[0])
    reports = word_reports(SOURCE[:3], [""] * 3, LinkedReference(3, target, pair.links), output)
    assert first["fates"] == [[item.fate, " ".join(item.found)] for item in reports]
    assert np.array(first["weights"]).shape == (len(first["output"]), len(SOURCE))


def test_of_text_without_links_the_references_words_are_looked_for(tmp_path):
    (sentence,) = explorer_data(load_bundle(write_hostile(tmp_path)))["sentences"]
    assert not sentence["linked"]
    words = [word for word, _ in sentence["words"]]
    fates = dict(zip(words, sentence["arms"][0]["fates"], strict=True))
    assert fates["script"] == ["in part", "script"]  # once of three times
    assert fates["amp"] == ["survived", "amp"]
    assert words.count("script") == 3


def test_words_are_put_together_as_a_person_reads_them():
    french = ["mardi", ",", "l'", "homme", "qu’", "il", "voit", "."]
    assert readable(french) == "mardi, l'homme qu’il voit."
    assert readable(["martin", "'s", "dress"]) == "martin's dress"
