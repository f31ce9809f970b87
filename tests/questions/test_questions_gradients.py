"""C8: chains whose half-distance is known, finite differences, the rule, tables, a real run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from lanes import few
from planted_pages import frame as table_of
from planted_pages import printed

from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import EOS, PAD
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions.gradient_norms import gradient_norms, token_norms
from seq2seq_bottleneck.questions.gradients import (
    LEAST_RATIO,
    QUESTION,
    RULE,
    chosen,
    fading_curve,
    half_distance,
    links_of,
    log_sums,
    probe,
)
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.questions.subject import Subject
from seq2seq_bottleneck.scoring.bootstrap import draw
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.tables.page import with_intervals
from seq2seq_bottleneck.training.loss import decoder_inputs

SENTENCES, LENGTH = 60, 12


def links(sentence, distance, aligned, last):
    """What a probe found of these links, of one network."""
    return {"sentence": sentence, "distance": distance, "trained_aligned": aligned,
            "trained_last": last}  # fmt: skip


def planted(ratio_at, *, noise=0.0, seed=0):
    """A link for each source word, sentences of equal length; the ratio has noise."""
    rng = np.random.default_rng(seed)
    sentence = np.repeat(np.arange(SENTENCES), LENGTH)
    distance = np.tile(np.arange(LENGTH), SENTENCES)
    level = rng.lognormal(0.0, 1.0, size=len(sentence))
    ratio = ratio_at(distance) * rng.lognormal(0.0, noise, size=len(sentence))
    return links(sentence, distance, ratio * level, level)


def curve_of(*seeds, weights=None):
    weights = draw(SENTENCES, 200, seed=1, bucket=0) if weights is None else weights
    sums = [
        log_sums(
            {name: column.astype(float) for name, column in found.items()},
            "trained", found["distance"].astype(float), weights.shape[1], LENGTH,
        )
        for found in seeds
    ]  # fmt: skip
    return fading_curve(np.stack(sums), weights)


def values(curve):
    return np.exp([log.value for log in curve.logs]).tolist()


@pytest.mark.parametrize("rate", [0.6, 0.9])
def test_a_linear_chain_halves_where_its_rate_says(rate):
    """Of h_t = rate h_(t-1) + x_t the gradient of h_T at x_(T-d) is rate^d."""
    curve = curve_of(planted(lambda d: rate**d))
    assert values(curve) == pytest.approx(rate ** np.arange(LENGTH))
    half = half_distance(curve)
    assert (half.side, half.value) == ("", pytest.approx(np.log(0.5) / np.log(rate)))
    assert [half.interval.low, half.interval.high] == pytest.approx([half.value, half.value])


def test_noise_widens_the_interval_about_the_truth():
    interval = half_distance(curve_of(planted(lambda d: 0.85**d, noise=0.8, seed=3))).interval
    assert interval.low < np.log(0.5) / np.log(0.85) < interval.high
    assert interval.high - interval.low > 0.1


def test_fit_is_least_squares_weighted_by_links():
    rng = np.random.default_rng(4)
    distance = rng.choice([2, 3, 7, 9], p=[0.6, 0.2, 0.1, 0.1], size=400)
    norms = 0.8**distance * rng.lognormal(0.0, 0.5, size=400)
    curve = curve_of(links(rng.integers(SENTENCES, size=400), distance, norms, np.ones(400)))
    assert curve.distances.tolist() == [2, 3, 7, 9]
    line = np.polyfit(distance, np.log(norms), 1)  # of single links: the same line
    assert half_distance(curve).value == pytest.approx(np.log(0.5) / line[0])


@pytest.mark.parametrize("rate", [1.0, 1.1, 0.99])
def test_what_does_not_halve_within_the_tested_distances_is_censored(rate):
    half = half_distance(curve_of(planted(lambda d: rate**d)))
    assert (half.side, half.shown) == ("at least", LENGTH - 1)
    assert half.interval.high == np.inf


def test_mean_over_links_and_seeds_is_geometric():
    curve = curve_of(planted(lambda d: 0.5 + 0 * d), planted(lambda d: 0.08 + 0 * d))
    assert values(curve) == pytest.approx([0.2] * LENGTH)
    assert curve.links.tolist() == [2 * SENTENCES] * LENGTH


ONCE = np.ones((1, 3))


def test_a_distance_is_of_the_curve_where_every_seed_has_links():
    first, second = (
        links(np.array([0, 0]), np.array([0, end]), np.ones(2), np.ones(2)) for end in (4, 3)
    )
    curve = curve_of(first, second, weights=ONCE)
    assert (curve.distances.tolist(), curve.links.tolist()) == ([0], [2])
    assert half_distance(curve) is None


def test_vanished_gradients_count_as_little_and_what_has_no_ratio_is_left_out():
    aligned, last = np.array([1.0, 0.0, 1.0, 1e-30, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    found = links(np.array([0, 0, 1, 1, 2]), np.array([0, 5, 0, 5, 5]), aligned, last)
    curve = curve_of(found, weights=ONCE)
    assert curve.distances.tolist() == [0, 5]
    assert curve.links.tolist() == [2, 2]
    assert values(curve)[1] == pytest.approx(LEAST_RATIO, rel=1e-9, abs=0)


def test_a_distance_that_a_resample_lacks_has_no_interval_and_does_not_spoil_the_fit():
    found = planted(lambda d: 0.7**d)
    kept = (found["distance"] < 4) | (found["sentence"] == 0)
    curve = curve_of({name: column[kept] for name, column in found.items()})
    assert np.isnan(curve.logs[-1].interval.low)
    assert half_distance(curve).interval.low == pytest.approx(np.log(0.5) / np.log(0.7))


def probed(tmp_path, seed):
    """Each word of sentences of 8 and 16 words linked to its own place; trained, it fades."""
    rows = [(index, words, place) for index, words in enumerate([8, 16] * 6)
            for place in range(words)]  # fmt: skip
    sentence, words, place = np.array(rows, float).T
    steps = words - place + 1
    columns = {"sentence": sentence, "source_words": words, "steps": steps, "chain": steps + place}
    for network, rate in (("trained", 0.8), ("untrained", 1.0)):
        columns |= {f"{network}_aligned": 3.0 * rate**steps, f"{network}_last": 3.0 + 0 * steps}
    return Probed(tmp_path, resolve("smoke", [f"training.seed={seed}"]), columns)


def by_key(rows):
    keys = {(r["measure"], r["control"], r["bucket"], r.get("part", ""), r.get("seed")): r
            for r in rows}  # fmt: skip
    assert len(keys) == len(rows)
    return keys


def test_planted_fading_has_its_half_distance_and_its_ratios_by_band(tmp_path):
    rows = by_key(QUESTION.summarise([probed(tmp_path, 1), probed(tmp_path, 2)]))
    expected = np.log(0.5) / np.log(0.8)
    for bucket, count in (("5-10", 6 * 8), ("11-20", 6 * 16), ("", 6 * 24)):
        row = rows["half_distance", "", bucket, "", None]
        assert [row[end] for end in ("value", "low", "high")] == pytest.approx([expected] * 3)
        assert (row["n"], row["note"]) == (count, ";;")
        alone = rows["half_distance", "", bucket, "", 2]
        assert (alone["value"], alone["note"]) == (pytest.approx(expected), "")
    flat = rows["half_distance", "untrained", "5-10", "", None]
    assert flat["note"] == "at least;at least;at least"
    assert flat["value"] == 7  # from 2 to 9 steps
    assert not any(bucket == "21-30" for _, _, bucket, _, _ in rows)
    nearest = rows["ratio", "", "", "1-5", None]
    assert nearest["value"] == pytest.approx(0.8**3.5)  # geometric, of 2 to 5 steps
    assert nearest["n"] == 2 * 12 * 4  # both seeds
    assert rows["ratio", "", "", "11-20", 1]["value"] == pytest.approx(0.8**14)
    assert rows["ratio", "untrained", "", "6-10", None]["value"] == pytest.approx(1)


BANDS = ("1-5", "6-10", "11-20")
ALWAYS = {"half": (30.0, 30.0, 30.0), "note": "at least;at least;at least"}
FAR = {"half": (20.0, 6.1, 30.0), "far": (0.5, 0.21, 0.7)}


def arm(name, half=(5.0, 4.0, 6.0), far=(0.1, 0.05, 0.2), note=";;", control="", bands=BANDS):
    """Rows of an arm with this half-distance, and this ratio in its farthest band."""
    facts = {"arm": name, "attention": name, "bucket": "", "control": control, "n": 500}
    facts |= {"corpus": "grammar", "context_size": 256, "updates": 2000, "part": ""}
    ends = ("value", "low", "high")
    rows = [
        facts | {"measure": "half_distance", "note": note} | dict(zip(ends, half, strict=True)),
        facts | {"measure": "half_distance", "seed": 1, "value": 99.0},
        facts | {"measure": "half_distance", "bucket": "5-10", "value": 99.0},
    ]
    for band in bands:
        ratio = far if band == bands[-1] else (0.9, 0.8, 1.0)
        rows.append(
            facts | {"measure": "ratio", "part": band} | dict(zip(ends, ratio, strict=True))
        )
    return rows


def frame(*arms):
    return table_of([row for rows in arms for row in rows])


def judged(*arms):
    (verdict,) = QUESTION.verdict(frame(*arms))
    return verdict


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({"half": (20.0, 6.0, 30.0)}, "partly"),
        ({"far": (0.5, 0.2, 0.7)}, "partly"),
        ({"half": (20.0, 5.9, 30.0), "far": (0.5, 0.1, 0.7)}, "not held"),
        (ALWAYS, "held"),
        (ALWAYS | {"half": (3.0, 3.0, 3.0)}, "held"),
        ({"bands": BANDS[:2], "far": (0.9, 1.1, 1.2)}, "held"),
        ({"bands": BANDS[:2], "far": (0.9, 0.9, 1.2)}, "partly"),
    ],
)
def test_intervals_that_touch_flip_the_verdict(changes, expected):
    verdict = judged(arm("none"), arm("additive", **FAR | changes))
    assert (verdict.claim, verdict.verdict, verdict.rule) == ("C8", expected, RULE)
    assert (verdict.value, verdict.low, verdict.high) == (5.0, 4.0, 6.0)


def test_where_the_end_without_attention_is_open_attention_is_not_slower():
    none = arm("none", half=(5.0, 4.0, 30.0), note=";;at least")
    verdict = judged(none, arm("additive", **FAR | ALWAYS))
    assert (verdict.verdict, verdict.low, verdict.high) == ("partly", 4.0, None)
    assert "none halves every 5.0 [4.0, over 30] steps, additive does not" in verdict.because


@pytest.mark.parametrize(("third", "expected"), [("dot", "not held"), ("uniform", "held")])
def test_each_arm_with_attention_must_be_clear(third, expected):
    assert judged(arm("none"), arm("additive", **FAR), arm(third)).verdict == expected


def test_the_start_of_training_is_reported_and_decides_nothing():
    start = arm("none", half=(40.0, 39.0, 41.0), control="untrained")
    verdict = judged(arm("none"), arm("additive", **FAR), start)
    assert verdict.verdict == "held"
    assert "before training that of none halves every 40.0 [39.0, 41.0] steps" in verdict.because
    assert "over 11-20 steps it is 0.50 [0.21, 0.70] times that" in verdict.because


def test_what_does_not_halve_within_the_tested_steps_has_no_number():
    beyond = {"half": (66.0, 66.0, 66.0), "note": "at least;at least;at least"}
    assert judged(arm("none", **beyond), arm("additive", **FAR)).because.startswith(
        "the gradient of none does not halve within 66 steps, additive halves every "
        "20.0 [6.1, 30.0] steps; "
    )
    half = {"half": (66.0, 12.0, 66.0), "note": "at least;;at least"}
    because = judged(arm("none", **half), arm("additive", **FAR)).because
    assert "within 66 steps (at the interval's lower end every 12.0)" in because


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (None, "`bottleneck study gradients`"),
        (frame(arm("additive")), "both arms are needed"),
        (frame(arm("none"), arm("uniform")), "both arms are needed"),
        (frame(arm("none", bands=BANDS[:1]), arm("dot", bands=BANDS[1:])), "share no band"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(table, reason):
    (verdict,) = QUESTION.verdict(table)
    assert (verdict.verdict, verdict.value) == ("not measured", None)
    assert reason in verdict.because


@pytest.mark.parametrize("n", [99, 100])
def test_few_links_are_marked(n):
    (verdict,) = QUESTION.verdict(frame(arm("none"), arm("additive", **FAR)).assign(n=n))
    assert ("under 100 links (n = 99)" in verdict.because) == (n == 99)


def measured(name, control, note=";;"):
    """Rows of an arm: a ratio in each of three bands, and half-distances."""
    facts = {"arm": name, "attention": name, "corpus": "grammar", "updates": 2000}
    facts |= {"context_size": 256, "control": control, "part": "", "bucket": "", "n": 2345}
    for band, value in (("41+", 0.00012), ("1-5", 0.9), ("6-10", 0.05)):
        ratio = {"measure": "ratio", "part": band, "n": 99 if band == "41+" else 2345}
        yield facts | ratio | {"value": value, "low": value / 2, "high": value * 2}
    for measure in ("half_distance", "half_distance_chain"):
        for bucket in ("5-10", ""):
            half = {"measure": measure, "bucket": bucket, "note": note}
            yield facts | half | {"value": 8.0, "low": 7.0, "high": 40.0}


def test_ratios_by_band_and_half_distances():
    notes = {"none": ";;", "additive": ";;at least"}
    arms = [measured(name, control, note) for name, note in notes.items()
            for control in ("", "untrained")]  # fmt: skip
    page = QUESTION.page(frame(*arms))
    assert "* behind a count: under 100" in " ".join(page.caption)
    lines = [line.split() for line in printed(page)]
    nearest = lines.index(["1-5", "none", "2,345", "0.90", "0.90"])
    assert lines[nearest + 1] == ["0.45..1.8"] * 2
    farthest = lines.index(["41+", "none", "99*", "0.00012", "0.00012"])
    assert nearest < farthest
    assert lines[farthest + 1] == ["6.0e-05..0.00024"] * 2
    at = lines.index(["5-10", "additive", "2,345", *["8.0"] * 4])
    assert lines[at + 1] == [*["7.0..over", "40"] * 4]
    assert ["all", "none", "2,345", *["8.0"] * 4] in lines


def test_a_half_distance_beyond_the_tested_steps_is_marked_everywhere():
    facts = {"arm": "none", "attention": "none", "corpus": "grammar", "updates": 2000, "n": 80}
    facts |= {"context_size": 256, "control": "", "measure": "half_distance", "part": ""}
    open_note = {"note": "at least;at least;at least"}
    rows = [
        facts | {"bucket": "5-10", "value": 11.0, "low": 11.0, "high": 11.0} | open_note,
        facts | {"bucket": "11-20", "value": 14.5, "low": 9.25, "high": 22.0, "note": ";;at least"},
        facts | {"bucket": "", "measure": "ratio", "part": "41+", "value": 2.5e-7, "low": 2.1e-7,
                 "high": 3e-7},
    ]  # fmt: skip
    untrained = [row | {"control": "untrained"} for row in rows]
    page = QUESTION.page(frame(rows, untrained))
    merged = with_intervals(page.frame[page.frame["control"] == ""])
    assert merged["half_distance"].tolist() == [
        ">11.00 [>11.00, >11.00]", "14.50 [9.25, >22.00]", "",
    ]  # fmt: skip
    assert merged["ratio"].tolist() == ["", "", "2.5e-07 [2.1e-07, 3.0e-07]"]
    bounds = page.frame["half_distance_bounds"].tolist()
    assert bounds[:2] == ["value at least, low at least, high at least", "high at least"]
    assert "2.5e-07" in page.render("csv")
    text = page.render("rich")
    assert all(cell in text for cell in ("over 11", "9.2..over 22", "2.5e-07"))


WORDS, SIZE = 9, 3
SOURCE, TARGET = [4, 7, 5, EOS], [6, 8, EOS]
STEP = 1e-5


def double(**model):
    """A random translator in double precision; of the source no word stands twice."""
    settings = ModelSettings(**{"embedding_size": SIZE, "context_size": 4, **model})
    graph, weights = create(settings, WORDS, WORDS, 1)
    random = np.random.default_rng(5)
    return graph, jax.tree.map(lambda leaf: jnp.asarray(random.normal(0, 0.7, leaf.shape)), weights)


def losses(graph, weights, padding=0):
    """-log P of each target token of the one sentence, by the model's own way from words."""
    source = jnp.array([SOURCE + [PAD] * padding], jnp.int32)
    target = jnp.array([TARGET], jnp.int32)
    translator = nnx.merge(graph, weights)
    logits, _ = translator.logits(source, jnp.array([len(SOURCE)]), decoder_inputs(target))
    scores = jax.nn.log_softmax(logits[0])
    return -np.asarray(scores[np.arange(len(TARGET)), np.array(TARGET)])


def moved(weights, word, axis, step):
    """The weights with one number of a source word's vector moved."""
    table = weights["encoder"]["embedding"][...]
    changed = jax.tree.map(lambda leaf: leaf, weights)
    changed["encoder"]["embedding"][...] = table.at[word, axis].add(step)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    few(
        [
            {"attention": "additive"},
            {"attention": "none"},
            {"attention": "general", "placement": "output", "cell": "lstm"},
            {"attention": "none", "placement": "output", "bidirectional": True},
        ],
        4,
    ),
)
@pytest.mark.usefixtures("float64")
def test_norms_are_those_of_finite_differences(model):
    graph, weights = double(**model)
    source = jnp.array([SOURCE + [PAD] * 2] * 2, jnp.int32)
    target = jnp.array([TARGET + [PAD] * 2] * 2, jnp.int32)
    lengths = jnp.array([len(SOURCE)] * 2, jnp.int32)
    norms = np.asarray(token_norms(graph, weights, source, lengths, target))[1]
    slopes = np.zeros((len(TARGET), len(SOURCE), SIZE))
    for place, word in enumerate(SOURCE):
        for axis in range(SIZE):
            up, down = (losses(graph, moved(weights, word, axis, end)) for end in (STEP, -STEP))
            slopes[:, place, axis] = (up - down) / (2 * STEP)
    expected = np.linalg.norm(slopes, axis=-1)
    assert expected.min() > 1e-6
    np.testing.assert_allclose(norms[: len(TARGET), : len(SOURCE)], expected, rtol=1e-5)


@pytest.mark.exhaustive(sample="session")
def test_other_sentences_of_a_batch_do_not_matter(subject):
    pairs = sorted(subject.corpus.test, key=lambda pair: pair.words)
    together = gradient_norms(subject, subject.weights, [pairs[0], pairs[9]])
    alone = gradient_norms(subject, subject.weights, [pairs[0]])
    np.testing.assert_allclose(together[0], alone[0], rtol=1e-4, atol=1e-8)


PAIR = SentencePair("the black cat", "le chat noir", ((0, 0), (1, 2), (2, 1)))


class Reversed(Subject):
    """The same run, taken for one that reads its source backwards."""

    @property
    def settings(self):
        return super().settings.changed(model={"reverse_source": True})


def test_steps_are_counted_on_the_way_without_attention(subject):
    # Read are the, black, cat and the end; h_Tx is the end's state.
    links = links_of(subject, [PAIR])
    assert links["steps"].tolist() == [4, 3, 2]
    assert links["chain"].tolist() == [3 + 1, 2 + 3, 1 + 2]
    links = links_of(Reversed(subject.folder, subject.trained), [PAIR])
    assert links["source"].tolist() == [2, 1, 0]
    assert links["steps"].tolist() == [2, 3, 4]


@pytest.mark.exhaustive(sample="session")
def test_a_real_run_is_measured_and_kept(subject, tmp_path):
    found = probe(subject, lambda _: None, 2)
    pairs = chosen(subject, 2)
    assert len(pairs) == 2 * len(subject.buckets.names)
    assert len(found["steps"]) == sum(len(pair.links) for pair in pairs)
    row = len(found["steps"]) - 1
    (norms,) = gradient_norms(subject, subject.weights, [pairs[-1]])
    source, target = pairs[-1].links[-1]
    assert found["trained_aligned"][row] == pytest.approx(norms[target, source], rel=1e-4)
    assert found["trained_last"][row] == pytest.approx(norms[target, -1], rel=1e-4)
    assert (found["trained_aligned"] != found["untrained_aligned"]).all()
    keep(tmp_path, QUESTION, found)
    rows = QUESTION.summarise([read_kept(tmp_path, subject.settings, QUESTION)])
    halves = [r for r in rows if r["measure"] == "half_distance" and r["bucket"] == ""]
    assert {r.get("control") for r in halves} == {"", "untrained"}
    assert all(r["value"] > 0 for r in halves)
