"""A run on subwords, from its training to its studies."""

import json

import numpy as np
import pytest

from seq2seq_bottleneck.corpus.batches import encode_pairs
from seq2seq_bottleneck.corpus.subwords import Subwords, shares_of
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.questions import (
    embeddings,
    gradients,
    reading,
)
from seq2seq_bottleneck.questions.alignment import probe
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.results.folders import STORE, find_runs
from seq2seq_bottleneck.runs.pool import run_cells
from seq2seq_bottleneck.runs.sweep import gather, plan_comparison
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve

pytestmark = pytest.mark.exhaustive(sample="session")

SETTINGS = [
    "training.updates=12", "training.validations=1", "corpus.test_pairs=40", "corpus.max_words=25",
    "corpus.tokens=subwords", "corpus.source_vocabulary=380", "corpus.target_vocabulary=400",
    "model.reverse_source=true",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An output folder with a run without attention and one with it."""
    out = tmp_path_factory.mktemp("subwords")
    cells = plan_comparison(resolve("smoke", SETTINGS), 1, False)
    outcomes = run_cells(cells, out / STORE, lambda *_: None)
    assert [outcome.phase for outcome in outcomes] == ["done"] * 2
    gather(out)
    return out


@pytest.fixture(scope="module")
def subject(folder):
    """The arm with attention."""
    runs = [Subject(run) for run in find_runs(folder).done]
    return next(run for run in runs if run.settings.model.attention == "additive")


@pytest.fixture(scope="module")
def found(subject):
    """What the alignment study finds on this run."""
    return probe(subject)


def test_the_folder_has_sentencepieces_files_and_what_it_writes_is_text_again(subject):
    for side, vocabulary in zip(("source", "target"), subject.vocabularies, strict=True):
        model = (subject.folder / f"{side}.subwords.model").read_bytes()
        assert vocabulary.tokenizer == Subwords(model)
        lines = (subject.folder / f"{side}.vocabulary").read_text(encoding="utf8").splitlines()
        assert tuple(lines) == vocabulary.tokens
    corpus = subject.corpus
    assert (corpus.source_vocabulary, corpus.target_vocabulary) == subject.vocabularies
    words = [len(tokenize(pair.source)) for pair in corpus.test]
    pieces = [len(ids) - 1 for ids in subject.encode(corpus.test).source]
    assert sum(pieces) > 1.3 * sum(words)  # words are cut, otherwise the rest tests nothing
    lines = (subject.folder / "hypotheses.jsonl").read_text(encoding="utf8").splitlines()
    outputs = [json.loads(line) for line in lines]
    sentences = [output["source"] for output in outputs]
    found = [item.text for item in subject.trained.translations(sentences)]
    assert found == [output["hypothesis"] for output in outputs]
    assert not any("▁" in text or text != " ".join(text.split()) for text in found)


def test_weights_are_compared_with_gold_word_by_word(subject, found):
    """Weights of a source word's pieces are added, weights of a target word's pieces averaged."""
    pairs = [pair for pair in subject.corpus.test if pair.links][:6]
    for place, pair in enumerate(pairs):
        encoded = encode_pairs([pair], *subject.vocabularies, True)
        (raw,) = subject.trained.attention(encoded, 1)
        sides = zip(subject.vocabularies, (pair.source, pair.target), strict=True)
        source, target = (
            np.argmax(shares_of(side.pieces(text), tokenize(text), side.tokenizer), axis=1)
            for side, text in sides
        )
        best = set()
        for j in range(len(tokenize(pair.target))):
            rows = raw[target == j].mean(axis=0)
            words = range(len(tokenize(pair.source)))
            best.add((max(words, key=lambda i, rows=rows: rows[source == i].sum()), j))
        assert found["trained_agreements"][place] == 2 * len(best & set(pair.links))


@pytest.mark.parametrize("study", [reading, embeddings, gradients])
def test_studies_that_need_single_words_say_so(study, subject):
    with pytest.raises(UserError, match=r"needs single words.*--where tokens=words") as told:
        study.probe(subject)
    assert "\n" not in str(told.value)
