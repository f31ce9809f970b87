"""Translations of many sentences equal those of each alone, and of a decoder stepped by hand."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from executing import executed
from flax import nnx
from tiny import random_weights

from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.vocabulary import BOS, EOS, Vocabulary
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.translate import TrainedRun, load_run
from seq2seq_bottleneck.settings.run import resolve

END = "</s>"
SPECIAL = ("<pad>", "<s>", END, "⁇")
WORDS = 9


def random_run(seed=3, corpus=None, decoding=None, **model):
    """An untrained run with nine words per side: w0 to w4 and the special tokens."""
    sizes = {"embedding_size": 4, "context_size": 5, "attention": "additive"} | model
    settings = resolve("smoke").changed(
        model=sizes, corpus={"name": "copy"} | (corpus or {}), decoding=decoding or {}
    )
    graph, weights = create(settings.model, WORDS, WORDS, 1)
    weights = random_weights(weights, seed, 1.5)  # so large that outputs differ with every word
    words = Vocabulary((*SPECIAL, *(f"w{place}" for place in range(WORDS - len(SPECIAL)))))
    return TrainedRun(settings, words, words, graph, weights)


def walked(trained, source, target):
    """The weights of each decoder step, word by word, without padding."""
    translator = nnx.merge(trained.graph, trained.weights)
    memory = translator.encode(jnp.array([source]), jnp.array([len(source)]))
    states, rows = translator.decoder.initial(memory), []
    for word in [BOS, *target[:-1]]:
        states, _, weights = translator.decoder.advance(states, jnp.array([word]), memory)
        rows.append(np.asarray(weights[0]))
    return np.stack(rows)


def translation_of(run, sentence):
    """A sentence's translation with its weights."""
    return run.translations([sentence], 1, attended=True)[0]


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_comes_with_the_weights_behind_it(beam):
    run = random_run(decoding={"beam_size": beam})
    sentence = "w1 w0 w3 w9"
    matrix = translation_of(run, sentence)
    assert matrix.source == ["w1", "w0", "w3", "w9", END]
    words = [word for word in matrix.output if word != END]
    assert " ".join(words) == run.translations([sentence])[0].text
    assert matrix.weights.shape == (len(matrix.output), len(matrix.source))
    np.testing.assert_allclose(matrix.weights.sum(axis=1), 1, rtol=1e-5)
    ids = [*run.target_vocabulary.numbers(" ".join(words)), EOS]
    expected = walked(run, [5, 4, 7, 3, EOS], ids)[: len(matrix.output)]
    np.testing.assert_allclose(matrix.weights, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_many_sentences_are_translated_as_each_alone():
    """Some have words that the run never saw, or no words at all."""
    run = random_run()
    sentences = [" ".join(f"w{n * k % 7}" for k in range(1, n)) for n in range(1, 12)]
    empty, *translations = run.translations(sentences, 4, attended=True)
    assert empty.source == empty.output == []
    for sentence, item in zip(sentences[1:], translations, strict=True):
        alone = translation_of(run, sentence)
        assert item[:-1] == alone[:-1]
        assert item.source == [*sentence.split(), END]
        np.testing.assert_allclose(item.weights, alone.weights, rtol=1e-4, atol=1e-6)
    assert run.unknown(sentences)[0]


@pytest.mark.slow
def test_a_run_on_the_grammar_keeps_its_translations_of_the_lectures_sentences(tmp_path):
    small = ["training.updates=2", "training.shapes=1", "training.validations=1",
             "corpus.test_pairs=20", "scoring.resamples=9"]  # fmt: skip
    run = tmp_path / executed(tmp_path, resolve("smoke", small))[-1]["run"]
    examples = json.loads((run / "examples.json").read_text())
    lecture = [item for item in examples if item["sentence"] < 0]
    assert examples[: len(lecture)] == lecture
    assert [item["sentence"] for item in lecture] == [*range(-len(LECTURE_SENTENCES), 0)]
    references = [english_french().parse(sentence).target for sentence in LECTURE_SENTENCES]
    assert [item["reference"] for item in lecture] == references
    trained = load_run(run)
    translations = trained.translations(LECTURE_SENTENCES, 64, attended=True)
    for item, translation in zip(lecture, translations, strict=True):
        assert (item["source"], item["hypothesis"]) == (translation.source, translation.output)
        np.testing.assert_allclose(item["weights"], translation.weights, atol=2e-3)
