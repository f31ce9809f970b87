"""C8: chains with known half-distance, finite differences, the rule, tables, a real run."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from planted_pages import frame as table_of
from planted_pages import kept_rows, one_row, row_of

from seq2seq_bottleneck.corpus.batches import EncodedPairs
from seq2seq_bottleneck.corpus.vocabulary import BOS, EOS, tokenize
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions.gradients import QUESTION, gradient_norms, probe
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.settings.concerns import ModelSettings, bucket_labels
from seq2seq_bottleneck.settings.run import resolve

SENTENCES, LENGTH = 60, 12
OPEN = "value at least, low at least, high at least"


def run_of(sentence, steps, aligned, last, seed=1):
    """A run with these links in sentences of 12 words; untrained, no gradient fades."""
    sentence, steps = np.asarray(sentence, float), np.asarray(steps, float)
    columns = {"sentence": sentence, "steps": steps}
    columns |= {"trained_aligned": aligned, "trained_last": last}
    columns |= {"untrained_aligned": 3 + 0 * steps, "untrained_last": 3 + 0 * steps}
    settings = resolve("smoke", [f"training.seed={seed}", "scoring.resamples=200"])
    return Probed(Path(f"r{seed}"), settings, columns)


def planted(rate, seed):
    """A link for each source word."""
    sentence, steps = np.repeat(np.arange(SENTENCES), LENGTH), np.tile(np.arange(LENGTH), SENTENCES)
    level = np.random.default_rng(seed).lognormal(0.0, 1.0, size=len(sentence))
    return run_of(sentence, steps + 1, rate**steps * level, level, seed)


@pytest.mark.parametrize("rate", [0.6, 0.9])
def test_a_linear_chain_halves_where_its_rate_says(rate):
    """If h_t = rate h_(t-1) + x_t, the gradient of h_T at x_(T-d) is rate^d."""
    rows = QUESTION.summarise([planted(rate, seed) for seed in (1, 2)])
    steps = np.log(0.5) / np.log(rate)
    mean = one_row(rows, "half_distance")
    assert [mean[end] for end in ("value", "low", "high")] == pytest.approx([steps] * 3)
    assert (mean["note"], mean["n"]) == ("", SENTENCES * LENGTH)
    alone = one_row(rows, "half_distance", 2)
    assert (alone["value"], alone["note"]) == (pytest.approx(steps), "")
    flat = one_row(rows, "half_distance", control="untrained")
    assert (flat["value"], flat["note"]) == (LENGTH - 1, OPEN)
    nearest = one_row(rows, "ratio", part="1-5")  # 0 to 4 steps; geometric
    assert (nearest["value"], nearest["n"]) == (pytest.approx(rate**2), 2 * SENTENCES * 5)
    assert one_row(rows, "ratio", 1, part="11-20")["value"] == pytest.approx(rate**10.5)


def test_vanished_gradients_count_as_little_and_what_has_no_ratio_is_left_out():
    aligned, last = np.array([1.0, 0.0, 1.0, 1e-30, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    rows = QUESTION.summarise([run_of([0, 0, 1, 1, 2], [1, 6, 1, 6, 6], aligned, last)])
    row = one_row(rows, "ratio", part="6-10")
    assert (row["value"], row["n"]) == (pytest.approx(1e-12, rel=1e-9, abs=0), 2)


BANDS = ("1-5", "6-10", "11-20")
ALWAYS = {"half": (30.0, 30.0, 30.0), "note": OPEN}
FAR = {"half": (20.0, 6.1, 30.0), "far": (0.5, 0.21, 0.7)}


def arm(name, half=(5.0, 4.0, 6.0), far=(0.1, 0.05, 0.2), note="", control="", bands=BANDS):
    """Rows of an arm with this half-distance, and this ratio in the farthest band."""
    ends, keys = ("value", "low", "high"), {"control": control, "n": 500}
    row = row_of(name, "half_distance", 0.0, note=note, **keys)
    rows = [row | dict(zip(ends, half, strict=True))]
    for band in bands:
        ratio = far if band == bands[-1] else (0.9, 0.8, 1.0)
        row = row_of(name, "ratio", 0.0, part=band, **keys)
        rows.append(row | dict(zip(ends, ratio, strict=True)))
    return rows


def judged(*arms):
    (verdict,) = QUESTION.verdict(table_of([row for rows in arms for row in rows]))
    return verdict


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({"half": (20.0, 6.0, 30.0)}, "partly"),
        ({"half": (20.0, 5.9, 30.0), "far": (0.5, 0.1, 0.7)}, "not held"),
        (ALWAYS, "held"),
        ({"bands": BANDS[:2], "far": (0.9, 0.9, 1.2)}, "partly"),
    ],
)
def test_intervals_that_touch_flip_the_verdict(changes, expected):
    verdict = judged(arm("none"), arm("additive", **FAR | changes))
    assert (verdict.claim, verdict.verdict) == ("C8", expected)
    assert verdict.rule == QUESTION.rules["C8"][0]
    assert (verdict.value, verdict.low, verdict.high) == (5.0, 4.0, 6.0)


@pytest.mark.parametrize(
    ("arms", "reason"),
    [
        ([arm("additive")], "the rule needs arms with and without"),
        ([arm("none", bands=BANDS[:1]), arm("dot", bands=BANDS[1:])], "share no band"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(arms, reason):
    verdict = judged(*arms)
    assert (verdict.verdict, verdict.value) == ("not measured", None)
    assert reason in verdict.because


WORDS, SIZE = 9, 3
SOURCE, TARGET = [4, 7, 5, EOS], [6, 8, EOS]
STEP = 1e-5


def losses(graph, weights):
    """-log P of each target token of the one sentence, by the model's own path from words."""
    translator = nnx.merge(graph, weights)
    inputs = jnp.array([[BOS, *TARGET[:-1]]], jnp.int32)
    source, lengths = jnp.array([SOURCE], jnp.int32), jnp.array([len(SOURCE)])
    scores = jax.nn.log_softmax(translator.logits(source, lengths, inputs)[0][0])
    return -np.asarray(scores[np.arange(len(TARGET)), np.array(TARGET)])


def moved(weights, word, axis, step):
    """The weights with one number of a source word's vector changed."""
    table = weights["encoder"]["embedding"][...]
    changed = jax.tree.map(lambda leaf: leaf, weights)
    changed["encoder"]["embedding"][...] = table.at[word, axis].add(step)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        {"attention": "additive"},
        {"attention": "none", "placement": "output", "bidirectional": True},
    ],
)
@pytest.mark.usefixtures("float64")
def test_norms_are_those_of_finite_differences(model):
    settings = ModelSettings(**{"embedding_size": SIZE, "context_size": 4, **model})
    graph, weights = create(settings, WORDS, WORDS, 1)
    random = np.random.default_rng(5)
    weights = jax.tree.map(lambda leaf: jnp.asarray(random.normal(0, 0.7, leaf.shape)), weights)
    ((_, norms),) = gradient_norms(graph, EncodedPairs([SOURCE] * 2, [TARGET] * 2), [weights])
    slopes = np.zeros((len(TARGET), len(SOURCE), SIZE))
    for place, word in enumerate(SOURCE):  # no word occurs twice
        for axis in range(SIZE):
            up, down = (losses(graph, moved(weights, word, axis, end)) for end in (STEP, -STEP))
            slopes[:, place, axis] = (up - down) / (2 * STEP)
    expected = np.linalg.norm(slopes, axis=-1)
    assert expected.min() > 1e-6
    np.testing.assert_allclose(norms[: len(TARGET), : len(SOURCE)], expected, rtol=1e-5)


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_kept(subject, tmp_path):
    columns = probe(subject, 2)
    linked = [pair for pair in subject.corpus.test if pair.links]
    pairs = [pair for pairs in subject.first_of_each(linked, 2) for pair in pairs]
    assert len(pairs) == 2 * len(bucket_labels(subject.edges))
    assert len(columns["steps"]) == sum(len(pair.links) for pair in pairs)
    row = len(columns["steps"]) - 1
    alone = subject.encode([pairs[-1]])  # without its batch
    ((norms,),) = gradient_norms(subject.graph, alone, [subject.weights])
    last, (source, target) = len(tokenize(pairs[-1].source)), pairs[-1].links[-1]
    assert columns["trained_aligned"][row] == pytest.approx(norms[target, source], rel=1e-4)
    assert columns["trained_last"][row] == pytest.approx(norms[target, last], rel=1e-4)
    assert (columns["trained_aligned"] != columns["untrained_aligned"]).all()
    rows = kept_rows(QUESTION, tmp_path, subject.settings, columns)
    for control in ("", "untrained"):
        assert one_row(rows, "half_distance", control=control)["value"] > 0
