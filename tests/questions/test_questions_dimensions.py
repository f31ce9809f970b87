"""C4: dimensions of planted contexts, intervals that cover, the rule on both sides of a number."""

from pathlib import Path

import numpy as np
import pytest
from planted_pages import frame as table_of
from planted_pages import kept_rows, one_row, row_of

from seq2seq_bottleneck.questions.dimensions import GROUPS, QUESTION, dimensions, probe
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.settings.concerns import bucket_labels
from seq2seq_bottleneck.settings.run import resolve


def gaussian(sentences, spectrum, seed):
    """Contexts whose covariance has this spectrum, rotated and moved from the origin."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(len(spectrum), len(spectrum))))
    return rng.normal(size=(sentences, len(spectrum))) * np.sqrt(spectrum) @ turn + 3.0


def by_values(contexts):
    """Components by singular values: where the piecewise linear curve reaches 95 %."""
    variances = np.linalg.svd(contexts - contexts.mean(axis=0), compute_uv=False) ** 2
    reached = [0.0, *np.cumsum(variances) / variances.sum()]
    return np.interp(0.95, reached, range(len(reached)))


def test_components_are_those_of_the_singular_values_of_the_centred_matrix():
    rng = np.random.default_rng(1)
    line = np.outer(rng.normal(size=100), rng.normal(size=16)) + 5.0
    assert dimensions(line) == pytest.approx([0.95] * 21)
    assert np.isnan(dimensions(np.full((60, 5), 0.1))).all()
    contexts = gaussian(300, 0.8 ** np.arange(24), 2)
    assert dimensions(contexts)[0] == pytest.approx(by_values(contexts))


def probed(seed, trained, untrained):
    """A run with these components: of all sentences, then without each group."""
    keys = {"control": ["trained", "untrained"], "bucket": ["5-10"] * 2, "n": [100.0] * 2}
    names = ("value", *(f"without_{group}" for group in range(GROUPS)))
    keys |= dict(zip(names, zip(trained, untrained, strict=True), strict=True))
    found = {name: np.array(column) for name, column in keys.items()}
    return Probed(Path(str(seed)), resolve("smoke", [f"training.seed={seed}"]), found)


def half_of(replicates):
    """Half of the interval's width: a t-interval of 20 groups."""
    return 2.0930 * 19 * np.std(replicates[1:], ddof=1) / np.sqrt(20)


def test_jackknife_of_a_mean_has_the_groups_standard_error():
    groups = np.random.default_rng(8).normal(size=20)
    mean, left_out = groups.mean(), (groups.sum() - groups) / 19
    rows = QUESTION.summarise([probed(1, [mean, *left_out], [mean, *left_out])])
    row, half = one_row(rows, "components", bucket="5-10"), half_of([0, *groups / 19])
    assert (row["low"], row["high"]) == pytest.approx((mean - half, mean + half), rel=1e-3)


def test_the_mean_over_seeds_has_the_jackknifes_interval_and_what_training_adds_is_paired():
    less = np.array([0, *(1 + np.arange(GROUPS) / 10)])
    rows = QUESTION.summarise([probed(1, 20 - less, 5 - less), probed(2, 30 - less, 6 - less)])
    assert len(rows) == 9
    keys = {"bucket": "5-10"}
    mean, added = (one_row(rows, name, **keys) for name in ("components", "components_added"))
    assert (mean["value"], mean["n"]) == (25.0, 100)
    assert [mean["low"] - 25, 25 - mean["high"]] == pytest.approx([-half_of(less)] * 2, rel=1e-3)
    assert one_row(rows, "components", control="untrained", **keys)["value"] == 5.5
    seeds = [one_row(rows, "components", seed, **keys)["value"] for seed in (1, 2)]
    assert seeds == [20.0, 30.0]
    assert (added["value"], added["low"], added["high"]) == pytest.approx((19.5, 19.5, 19.5))


def frame(used=200.0, *, size=256, added=40.0, shortest=80.0, longest=120.0, arms=("none",),
          n=2_500):  # fmt: skip
    """A table of the question in which every interval is the value plus and minus 5."""
    rows = []
    for arm in arms:
        for bucket in ("5-10", "21-30", "41+"):
            number = {"5-10": shortest, "41+": longest}.get(bucket, used)
            for measure, value in (("components", number), ("components_added", added)):
                keys = {"bucket": bucket, "context_size": size, "n": n}
                rows += [
                    row_of(arm, measure, value, 5.0, **keys),
                    row_of(arm, measure, 1.0, 5.0, control="untrained", **keys),
                ]
    return table_of(rows)


@pytest.mark.parametrize(
    ("table", "verdict", "part"),
    [
        (frame(), "held", "training adds 40 [35, 45] to an untrained encoder's"),
        (frame(154.5), "partly", "154 [150, 160] of 256 components (60%)"),  # 149.5 is under 150
        (frame(100.0, size=128), "held", ""),
        (frame(added=4.9), "not held", ""),  # no more than without training
        (frame(100.0, shortest=120.0, longest=80.0), "not held", "shrinks by 40 [33, 47]"),
        (frame(arms=("additive",)), "not measured", "no run without attention has contexts of 30"),
    ],
)
def test_the_number_decides(table, verdict, part):
    (result,) = QUESTION.verdict(table)
    assert (result.claim, result.verdict, result.rule) == ("C4", verdict, QUESTION.rules["C4"][0])
    assert part in result.because
    if result.value is not None:
        assert (result.low, result.high) == (result.value - 5, result.value + 5)


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_on_new_sentences(subject, tmp_path):
    found, buckets = probe(subject, 90), bucket_labels(subject.edges)
    assert len(found["value"]) == len(buckets) * 2
    rows = kept_rows(QUESTION, tmp_path, subject.settings, found)
    pairs = subject.fresh_sentences(90)[1]
    for control, weights in (("", subject.weights), ("untrained", subject.untrained)):
        vectors = np.stack([context for _, context in subject.read(weights, pairs)])
        expected = dimensions(vectors)
        row = one_row(rows, "components", bucket=buckets[1], control=control)
        assert row["value"] == pytest.approx(expected[0])
        assert row["value"] - row["low"] == pytest.approx(half_of(expected), rel=1e-3)
