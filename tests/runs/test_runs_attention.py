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
    attention_matrices,
    check_pointing,
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
            expected = expected[:, [*reversed(range(len(source) - 1)), len(source) - 1]]
        assert matrix.shape == (len(target), len(source))
        np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_unknown_words_are_copied_by_each_outputs_largest_weights(reverse):
    """Whatever stands between, in reading order, and never the end token's column, the last."""
    run = random_run(reverse_source=reverse)
    words = [["a", "b", "c"], ["d"], ["e", "f", "g", "h", "i"], ["j"]]
    sources = [[4, 5, 6, EOS], [7, EOS], [8, 4, UNK, 7, 5, EOS], [4, EOS]]
    outputs = [[UNK, 5, UNK, EOS], [6, 6], [4, UNK, UNK, UNK, 8], []]
    tokens = [
        [run.target_vocabulary.tokens[word] for word in ids if word != EOS] for ids in outputs
    ]
    network = run.graph, run.weights, reverse
    texts = with_copies(*network, sources, outputs, tokens, words)
    for text, *item, before, copyable in zip(texts, sources, outputs, tokens, words, strict=True):
        (weights,) = weights_behind(*network, *([ids] for ids in item))
        assert weights.shape == (len(item[1]), len(item[0]))
        best = weights[:, :-1].argmax(axis=1)
        assert text == [
            copyable[best[at]] if token == "⁇" else token for at, token in enumerate(before)
        ]
    assert texts[1] == tokens[1]  # there was no unknown word
    assert len({*texts[0], *texts[2]}) > 3
    assert with_copies(*network, [], [], [], []) == []


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


@pytest.mark.exhaustive(sample="session")
def test_a_runs_own_test_decoding_copies_by_setting(tmp_path):
    """The same network with and without: only unknown words differ, and all of them."""
    texts = []
    for copy in ("false", "true"):
        settings = smoke(*SMALL, f"decoding.copy_unknown={copy}")
        path = tmp_path / executed(tmp_path, settings)[-1]["run"] / HYPOTHESES
        texts.append([json.loads(line) for line in path.read_text().splitlines()])
    replaced = 0
    for plain, filled in zip(*texts, strict=True):
        pairs = zip(plain["hypothesis"].split(), filled["hypothesis"].split(), strict=True)
        for word, written in pairs:
            assert written in plain["source"].split() if word == "⁇" else written == word
            replaced += word == "⁇"
    assert replaced > 20
