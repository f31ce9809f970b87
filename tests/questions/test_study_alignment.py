"""Alignment measured on a real run, on its own test sentences and on these as a gold set."""

import numpy as np
import pytest

from seq2seq_bottleneck.corpus.tokens import plain, tokenize
from seq2seq_bottleneck.questions.alignment import COUNTS, probe, train_ibm1
from seq2seq_bottleneck.questions.alignment_gold import QUESTION, probe_gold, read_gold
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.runs.attention import attention_matrices
from seq2seq_bottleneck.settings.errors import UserError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(subject):
    """What the probe finds on it."""
    return probe(subject, lambda _: None)


def test_the_counts_are_those_of_the_runs_weights(subject, found):
    pairs = subject.corpus.test
    assert found["source_words"].tolist() == [pair.words for pair in pairs]
    (matrix,) = attention_matrices(
        subject.graph, subject.weights, subject.encode(pairs[:1]), False, 1
    )
    links = set(pairs[0].links)
    source, target = len(tokenize(pairs[0].source)), len(tokenize(pairs[0].target))
    best = {(int(np.argmax(matrix[j, :source])), j) for j in range(target)}
    counts = [found[f"trained_{name}"][0] for name in COUNTS]
    assert counts == [len(best & links), len(best & links), target, len(links)]
    on_gold = sum(matrix[j, i] for i, j in links)
    assert found["trained_on_gold"][0] == pytest.approx(on_gold, rel=1e-5)


def test_the_networks_differ_and_ibm1_is_the_training_texts(subject, found):
    assert (found["trained_on_gold"] != found["untrained_on_gold"]).any()
    pair = subject.corpus.test[-1]
    model = train_ibm1(subject, lambda _: None)
    (links,) = model.align([(tokenize(pair.source), tokenize(pair.target))])
    assert found["ibm1_links"][-1] == len(links)
    assert found["ibm1_sure_found"][-1] == len(links & set(pair.links))


def test_the_runs_own_test_set_as_a_gold_set_gives_the_same_numbers(subject, found, tmp_path):
    """Its tokens stand alone in the files, without marks."""
    pairs = subject.corpus.test[:8]
    paths = [tmp_path / name for name in ("gold", "source", "target")]
    for path, texts in zip(
        paths,
        (
            [" ".join(f"{i}-{j}" for i, j in pair.links) for pair in pairs],
            [" ".join(map(plain, tokenize(pair.source))) for pair in pairs],
            [" ".join(map(plain, tokenize(pair.target))) for pair in pairs],
        ),
        strict=True,
    ):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf8")
    sentences = read_gold(*paths, 0)
    columns = probe_gold(subject, sentences, lambda _: None)
    for name in found:
        np.testing.assert_allclose(columns[name], found[name][:8], rtol=1e-5, err_msg=name)
    rows = QUESTION.summarise([Probed(subject.folder, subject.settings, columns)])
    (mean,) = [row for row in rows if not row["bucket"] and row["measure"] == "aer"
               and not row["control"] and "seed" not in row]  # fmt: skip
    assert mean["n"] == 8
    assert mean["note"].startswith("additive: unknown to the run are 0.0 % of the source")
    unlinked = [sentences[0]._replace(links=sentences[0].links._replace(possible=frozenset()))]
    with pytest.raises(UserError, match="no sentence of --gold has links"):
        probe_gold(subject, unlinked, lambda _: None)
