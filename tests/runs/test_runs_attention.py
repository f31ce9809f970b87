"""Weights behind given outputs, against a decoder walked by hand; unknown words copied by them."""

import json

import numpy as np
import pytest
from executing import executed, smoke
from random_run import random_run, walked

from seq2seq_bottleneck.corpus.batches import EncodedPairs
from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.results.folders import HYPOTHESES
from seq2seq_bottleneck.runs.attention import (
    Copyable,
    attention_matrices,
    check_pointing,
    copied,
    weights_behind,
    with_copies,
)
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import resolve


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(
    "model",
    [
        {"placement": "input"},
        {"placement": "output", "attention": "general"},
        {"placement": "output", "reverse_source": True},
    ],
)
def test_row_t_is_what_target_token_t_was_chosen_with(model):
    trained = random_run(**model)
    reverse = trained.settings.model.reverse_source
    sources = [[5, 4, 7, EOS], [6, EOS], [8, 8, 4, 5, 6, 7, 4, EOS]]
    targets = [[4, 6, EOS], [7, 8, 4, 5, EOS], [EOS]]
    encoded = EncodedPairs(sources, targets)
    matrices = attention_matrices(trained.graph, trained.weights, encoded, reverse, 2)
    for matrix, source, target in zip(matrices, sources, targets, strict=True):
        expected = walked(trained, source, target)
        if reverse:
            places = [*reversed(range(len(source) - 1)), len(source) - 1]
            expected = expected[:, places]
        assert matrix.shape == (len(target), len(source))
        np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-6)


def test_an_output_without_a_token_has_no_row():
    run = random_run()
    sources = [[4, EOS], [5, 6, EOS]]
    matrices = weights_behind(run.graph, run.weights, False, sources, [[], [4]])
    assert [matrix.shape for matrix in matrices] == [(0, 2), (1, 3)]


def test_each_unknown_word_is_the_one_with_the_largest_weight():
    """The end token's column, the last, may have more: it is no word."""
    weights = np.array([[0.1, 0.2, 0.0, 0.7], [0.1, 0.6, 0.3, 0.0], [0.4, 0.3, 0.3, 0.0]])
    output = Copyable(
        [UNK, 5, 6, EOS], [UNK, 7, UNK, EOS], ["⁇", "deux", "⁇"], ["One", "two", "three"]
    )
    assert copied(output, weights) == ["two", "deux", "One"]


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
    items = [Copyable(*item) for item in zip(ids, outputs, tokens, sources, strict=True)]
    texts = with_copies(run.graph, run.weights, reverse, items)
    for text, item in zip(texts, items, strict=True):
        (weights,) = weights_behind(run.graph, run.weights, reverse, [item.source], [item.output])
        best = weights[:, : len(item.words)].argmax(axis=1)
        assert text == [
            item.words[best[at]] if token == "⁇" else token for at, token in enumerate(item.tokens)
        ]
    assert texts[1] == tokens[1]  # there was no unknown word
    assert len({word for words in (texts[0][0], *texts[2:]) for word in words}) > 1
    assert with_copies(run.graph, run.weights, reverse, []) == []


@pytest.mark.parametrize(
    "model", [{"attention": "none"}, {"attention": "uniform"}, {"source": "hidden"}]
)
def test_an_arm_whose_weights_point_at_no_word_is_refused(model):
    settings = resolve("smoke").changed(model=model)
    with pytest.raises(UsageError, match=r"this wish needs attention.*--arm"):
        check_pointing(settings, "this wish")
    check_pointing(resolve("smoke").changed(model={"attention": "dot"}), "this wish")


SMALL = [
    "corpus.target_vocabulary=8", "corpus.max_words=12", "corpus.test_pairs=40",
    "scoring.edges=3,7", "scoring.resamples=9", "training.shapes=1", "training.updates=40",
    "training.validations=1", "model.attention=additive",
]  # fmt: skip


def hypotheses(store, *changes):
    """Sources and translations of a run's test set."""
    run = executed(store, smoke(*SMALL, *changes))[-1]["run"]
    lines = (store / run / HYPOTHESES).read_text().splitlines()
    return [(json.loads(line)["source"], json.loads(line)["hypothesis"]) for line in lines]


@pytest.mark.exhaustive(sample="session")
def test_a_runs_own_test_decoding_copies_by_setting(tmp_path):
    """The same network with and without: only unknown words differ, and all of them."""
    plain, copying = (
        hypotheses(tmp_path, f"decoding.copy_unknown={copy}") for copy in ("false", "true")
    )
    replaced = 0
    for (source, text), (_, filled) in zip(plain, copying, strict=True):
        for word, written in zip(text.split(), filled.split(), strict=True):
            assert written in source.split() if word == "⁇" else written == word
            replaced += word == "⁇"
    assert replaced > 20
