"""Weights behind given outputs, against a decoder walked by hand, and translations with theirs."""

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from random_run import never_ending, random_run

from seq2seq_bottleneck.corpus.batches import EncodedPairs
from seq2seq_bottleneck.corpus.vocabulary import BOS, EOS
from seq2seq_bottleneck.runs.attention import END, attention_matrices, weights_behind
from seq2seq_bottleneck.runs.translate import attended


def _walked(trained, source, target):
    """The weights of each step of the decoder, one word after the other, without padding."""
    translator = nnx.merge(trained.graph, trained.weights)
    memory = translator.encode(jnp.array([source]), jnp.array([len(source)]))
    states, rows = translator.decoder.initial(memory), []
    for word in [BOS, *target[:-1]]:
        states, _, weights = translator.decoder.step(states, jnp.array([word]), memory)
        rows.append(np.asarray(weights[0]))
    return np.stack(rows)


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
    found = attention_matrices(trained.graph, trained.weights, encoded, reverse, 2)
    for matrix, source, target in zip(found, sources, targets, strict=True):
        expected = _walked(trained, source, target)
        if reverse:
            places = [*reversed(range(len(source) - 1)), len(source) - 1]
            expected = expected[:, places]
        assert matrix.shape == (len(target), len(source))
        np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-6)


def translated(run, sentence):
    """A translation with its weights, for people to look at."""
    return attended(run, run.translations([sentence], 1, attended=True)[0])


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_comes_with_the_weights_behind_it(beam):
    run = random_run(decoding={"beam_size": beam})
    sentence = "w1 w0 w3 w9"
    found = translated(run, sentence)
    assert found.source == ["w1", "w0", "w3", "w9", END]
    words = [word for word in found.output if word != END]
    assert " ".join(words) == run.translate([sentence])[0]
    assert found.weights.shape == (len(found.output), len(found.source))
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, rtol=1e-5)
    ids = [*run.target_vocabulary.encode(words), EOS]
    walked = _walked(run, [5, 4, 7, 3, EOS], ids)[: len(found.output)]
    np.testing.assert_allclose(found.weights, walked, rtol=1e-4, atol=1e-6)


def test_an_output_that_was_cut_has_no_row_for_an_end():
    found = translated(never_ending(random_run()), "w1 w0")
    assert END not in found.output
    assert len(found.weights) == len(found.output) > 2


def test_an_output_without_a_token_has_no_row():
    run = random_run()
    sources = [[4, EOS], [5, 6, EOS]]
    found = weights_behind(run.graph, run.weights, False, sources, [[], [4]])
    assert [matrix.shape for matrix in found] == [(0, 2), (1, 3)]


@pytest.mark.slow
def test_many_sentences_are_translated_as_each_alone():
    """Words of the user that the run never saw among them, and no words at all."""
    run = random_run()
    sentences = [" ".join(f"w{n * k % 7}" for k in range(1, n)) for n in range(1, 12)]
    found = run.translations(sentences, 4, attended=True)
    assert found[0].source == found[0].output == []
    for sentence, each in zip(sentences[1:], found[1:], strict=True):
        (alone,) = run.translations([sentence], 1, attended=True)
        assert each[:-1] == alone[:-1]
        assert each.source == sentence.split()
        assert each.unknown == len(run.unknown(sentence))
        np.testing.assert_allclose(each.weights, alone.weights, rtol=1e-4, atol=1e-6)
    assert any(each.unknown for each in found)


def test_words_are_copied_as_they_are_written():
    """The corpus is in lower case; where another case has other tokens, the model's own are it."""
    run = random_run(corpus={"lowercase": True})
    assert run.written("W1 John  O.K.") == ["W1", "John", "O.K", "\uffed."]
    assert run.tokens("W1 John") == ["w1", "john"]
    grammar = random_run(corpus={"name": "grammar"})
    assert grammar.written("The Cat sat.") == ["The", "Cat", "sat"]
    assert run.written("\u0130x") == run.tokens("\u0130x")


@pytest.mark.slow
def test_unknown_words_of_an_output_become_the_users_own():
    plain, copying = (
        random_run(7, {"lowercase": True}, {"copy_unknown": copy}) for copy in (False, True)
    )
    sentences = ["Anna w0 w3 Bert", "w2 w1 Carla w1 w4 Doris", "w1"]
    before, after = (run.translations(sentences, 2, True) for run in (plain, copying))
    replaced = 0
    for one, other in zip(before, after, strict=True):
        best = one.weights[: len(one.output), : len(one.source)].argmax(axis=1)
        expected = [one.source[i] if w == "⁇" else w for i, w in zip(best, one.output, strict=True)]
        assert other.output == expected
        replaced += one.output.count("⁇")
    assert replaced > 0
