"""Sentences translated: each as it is alone, with its weights, checked against a decoder walked by
hand."""

import json

import numpy as np
import pytest
from executing import executed
from random_run import never_ending, random_run, walked

from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.vocabulary import EOS
from seq2seq_bottleneck.runs.translate import END, attended, load_run
from seq2seq_bottleneck.settings.run import resolve


def translation_of(run, sentence):
    """A sentence's translation with its weights."""
    return run.translations([sentence], 1, attended=True)[0]


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_comes_with_the_weights_behind_it(beam):
    run = random_run(decoding={"beam_size": beam})
    sentence = "w1 w0 w3 w9"
    matrix = attended(run, translation_of(run, sentence))
    assert matrix.source == ["w1", "w0", "w3", "w9", END]
    words = [word for word in matrix.output if word != END]
    assert " ".join(words) == run.translate([sentence])[0]
    assert matrix.weights.shape == (len(matrix.output), len(matrix.source))
    np.testing.assert_allclose(matrix.weights.sum(axis=1), 1, rtol=1e-5)
    ids = [*run.target_vocabulary.encode(words), EOS]
    expected = walked(run, [5, 4, 7, 3, EOS], ids)[: len(matrix.output)]
    np.testing.assert_allclose(matrix.weights, expected, rtol=1e-4, atol=1e-6)


def test_an_output_that_was_cut_has_no_row_for_an_end():
    run = never_ending(random_run())
    matrix = attended(run, translation_of(run, "w1 w0"))
    assert END not in matrix.output
    assert len(matrix.weights) == len(matrix.output) > 2


@pytest.mark.slow
def test_many_sentences_are_translated_as_each_alone():
    """Words of the user that the run never saw among them, and no words at all."""
    run = random_run()
    sentences = [" ".join(f"w{n * k % 7}" for k in range(1, n)) for n in range(1, 12)]
    empty, *translations = run.translations(sentences, 4, attended=True)
    assert empty.source == empty.output == []
    for sentence, item in zip(sentences[1:], translations, strict=True):
        alone = translation_of(run, sentence)
        assert item[:-1] == alone[:-1]
        assert item.source == sentence.split()
        np.testing.assert_allclose(item.weights, alone.weights, rtol=1e-4, atol=1e-6)
    assert any(map(run.unknown, sentences))


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
def test_unknown_words_of_an_output_become_those_of_the_source(reverse):
    """By the largest weights, in reading order, never those of the end token, the last column."""
    plain, copying = (
        random_run(7, {"lowercase": True}, {"copy_unknown": copy}, reverse_source=reverse)
        for copy in (False, True)
    )
    sentences = ["Anna w0 w3 Bert", "w2 w1 Carla w1 w4 Doris", "w1"]
    before, after = (run.translations(sentences, 2, True) for run in (plain, copying))
    replaced = 0
    for first, other in zip(before, after, strict=True):
        best = first.weights[: len(first.output), : len(first.source)].argmax(axis=1)
        assert other.output == [
            first.source[i] if word == "⁇" else word
            for i, word in zip(best, first.output, strict=True)
        ]
        replaced += first.output.count("⁇")
    assert replaced > 0


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
        shown = attended(trained, translation)
        assert (item["source"], item["hypothesis"]) == (shown.source, shown.output)
        np.testing.assert_allclose(item["weights"], shown.weights, atol=2e-3)
