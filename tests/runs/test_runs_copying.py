"""Unknown words copied: from the source word with the largest weight, as it was written."""

import json

import numpy as np
import pytest
from random_run import random_run

from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.results.folders import HYPOTHESES
from seq2seq_bottleneck.runs.attention import (
    Copyable,
    check_pointing,
    copied,
    weights_behind,
    with_copies,
)
from seq2seq_bottleneck.runs.checkpoint import StopRequest
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import resolve

WEIGHTS = np.array([[0.1, 0.2, 0.0, 0.7], [0.1, 0.6, 0.3, 0.0], [0.4, 0.3, 0.3, 0.0]])


def test_each_unknown_word_is_the_one_with_the_largest_weight():
    """The end token's column, the last, may have more: it is no word."""
    said = Copyable(
        [UNK, 5, 6, EOS], [UNK, 7, UNK, EOS], ["⁇", "deux", "⁇"], ["One", "two", "three"]
    )
    assert copied(said, WEIGHTS) == ["two", "deux", "One"]


def test_an_output_without_unknown_words_is_left_as_it_is():
    said = Copyable([5, EOS], [6, EOS], ["un"], ["one"])
    run = random_run()
    assert with_copies(run.graph, run.weights, False, [said]) == [["un"]]
    assert with_copies(run.graph, run.weights, False, []) == []


@pytest.mark.parametrize("reverse", [False, True])
def test_each_output_is_read_with_its_own_weights(reverse):
    """Whatever stands between, and in reading order though the network reads backwards."""
    run = random_run(reverse_source=reverse)
    sources = [["a", "b", "c"], ["d"], ["e", "f", "g", "h", "i"]]
    ids = [[4, 5, 6, EOS], [7, EOS], [8, 4, UNK, 7, 5, EOS]]
    outputs = [[UNK, 5, UNK, EOS], [6, 6], [4, UNK, UNK, UNK, 8]]
    tokens = [
        [run.target_vocabulary.tokens[word] for word in ids if word != EOS] for ids in outputs
    ]
    said = [Copyable(*each) for each in zip(ids, outputs, tokens, sources, strict=True)]
    found = with_copies(run.graph, run.weights, reverse, said)
    for place, each in enumerate(said):
        (weights,) = weights_behind(run.graph, run.weights, reverse, [each.source], [each.output])
        best = weights[:, : len(each.words)].argmax(axis=1)
        expected = [
            each.words[best[at]] if token == "⁇" else token for at, token in enumerate(each.tokens)
        ]
        assert found[place] == expected
    assert found[1] == tokens[1]
    assert len({word for words in (found[0][0], *found[2:]) for word in words}) > 1


@pytest.mark.parametrize(
    "model", [{"attention": "none"}, {"attention": "uniform"}, {"source": "hidden"}]
)
def test_an_arm_whose_weights_point_at_no_word_is_refused(model):
    settings = resolve("smoke").changed(model=model)
    with pytest.raises(UsageError, match=r"this wish needs attention.*--arm"):
        check_pointing(settings, "this wish")
    check_pointing(resolve("smoke").changed(model={"attention": "dot"}), "this wish")


SMALL = [
    "corpus.name=copy",
    "corpus.copy_words=20",
    "corpus.target_vocabulary=8",
    "corpus.max_words=12",
    "corpus.test_pairs=40",
    "scoring.edges=3,7",
    "training.shapes=1",
    "model.attention=additive",
    "training.updates=40",
    "training.validations=1",
    "scoring.resamples=9",
]


def executed(store, *changes):
    """A run's folder, or the event that it ended with."""
    events = []
    settings = resolve("smoke", [*SMALL, *changes])
    execute([settings], store, lambda _, event: events.append(event), StopRequest())
    return store / events[-1]["run"]


def hypotheses(folder):
    lines = (folder / HYPOTHESES).read_text().splitlines()
    return [(json.loads(line)["source"], json.loads(line)["hypothesis"]) for line in lines]


@pytest.mark.exhaustive(sample="session")
def test_a_runs_own_test_decoding_copies_by_setting(tmp_path):
    """The same network with and without: only unknown words differ, and all of them."""
    plain, copying = (
        hypotheses(executed(tmp_path, f"decoding.copy_unknown={copy}"))
        for copy in ("false", "true")
    )
    replaced = 0
    for (source, text), (_, filled) in zip(plain, copying, strict=True):
        for word, written in zip(text.split(), filled.split(), strict=True):
            assert written in source.split() if word == "⁇" else written == word
            replaced += word == "⁇"
    assert replaced > 20
