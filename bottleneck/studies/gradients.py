"""C8: does attention shorten the path for gradients?

Of each target word with gold links, the gradient of its own loss at the embedding of its aligned
source word, relative to that at the last source position (the end token, whose state is h_Tx, the
context of the arm without attention). Of a word with several sources each is a record.

Two counts of the steps between the two, the same in every arm: by the shortest way without
attention, from the source word's state through the encoder to h_Tx and, as the context enters at
every step of the decoder, one step on (``steps``); and through s_0 and every step of the decoder
(``chain``). The gradient at the last position has the decoder's part of both ways in it, so that
the ratio is of the encoder's part. In a two-way encoder steps are the forward direction's.

Steps are counted in words. Where a run reads subwords, the norm at a word is that of the gradient
at all of its pieces, and of the losses of a target word's pieces it is the root mean square.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Bool, Float, Int
from numpy import ndarray

from ..corpus.batches import evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..corpus.pieces import backwards, by_word
from ..corpus.tokens import tokenize
from ..model.attention import Memory
from ..model.translator import Translator, Weights, real_positions
from ..probes.gradients import GradientRecords, gradient_curve, half_distance
from ..questions.arms import Arm, arms_of, in_buckets, interval_of
from ..questions.question import Columns, Probed, Row, Study, Tell
from ..questions.subject import Subject, source_words
from ..scoring.bootstrap import draw
from ..settings.buckets import bucket_labels
from ..training.loss import decoder_inputs

SENTENCES, BATCH = 60, 20
"""Test sentences of each bucket at most, the first ones; and how many of them at once."""
NETWORKS = ("trained", "untrained")
BANDS = (1, 6, 11, 21, 31, 41)
"""First steps of each band of the curve."""
WAYS = {"half_distance": "steps", "half_distance_chain": "chain"}
"""Measures of the half-distance, by the count of steps."""
EVERYWHERE = ""
"""The bucket of all lengths together."""
Norms = Float[ndarray, "_ _"]
"""Target x source words of one sentence."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """A row a gold link: its steps, and the two norms for the network trained and untrained."""
    return measure(subject, tell, SENTENCES)


def measure(subject: Subject, tell: Tell, sentences: int) -> Columns:
    """With so many sentences a bucket."""
    pairs = chosen(subject, sentences)
    columns = links_of(subject, pairs)
    for network, weights in zip(NETWORKS, (subject.weights, subject.untrained), strict=True):
        tell(f"gradients, {network}")
        found = gradient_norms(subject, weights, pairs)
        aligned, last = _at_links(found, columns)
        columns |= {f"{network}_aligned": aligned, f"{network}_last": last}
    return columns


def chosen(subject: Subject, sentences: int) -> tuple[SentencePair, ...]:
    """The first test sentences of each bucket that have gold links."""
    linked = [pair for pair in subject.corpus.test if pair.links]
    held = subject.buckets.assign(source_words(tuple(linked)))
    places = [np.flatnonzero(held == place) for place in range(len(subject.buckets.names))]
    return tuple(linked[row] for rows in places for row in rows[:sentences].tolist())


def links_of(subject: Subject, pairs: Sequence[SentencePair]) -> dict[str, ndarray]:
    """Sentence, length, places of both words (the source's as read) and steps of each link."""
    reverse = subject.settings.model.reverse_source
    ends = [len(tokenize(pair.source)) for pair in pairs]
    rows: dict[str, list[int]] = defaultdict(list)
    for sentence, (pair, end) in enumerate(zip(pairs, ends, strict=True)):
        for source, target in pair.links:
            place = end - 1 - source if reverse else source
            rows["sentence"].append(sentence)
            rows["source_words"].append(pair.words)
            rows["source"].append(place)
            rows["target"].append(target)
            rows["last"].append(end)
            rows["steps"].append(end - place + 1)
            rows["chain"].append(end - place + target + 1)
    return {name: np.array(column, np.int64) for name, column in rows.items()}


def gradient_norms(
    subject: Subject, weights: Weights, pairs: Sequence[SentencePair]
) -> list[Norms]:
    """Of each pair's every target word, the norms of its loss's gradient at the source words.

    Sources are in the order in which they were read, end tokens included.
    """
    encoded = subject.encode(list(pairs))
    batches = evaluation_batches(encoded, BATCH)
    found = [np.asarray(_norms(subject.graph, weights, *held.batch[:3])) for held in batches]
    lengths = zip(encoded.target_lengths, encoded.source_lengths, strict=True)
    return [
        _of_words(subject, pair, norms[:rows, :columns].astype(np.float64))
        for pair, norms, (rows, columns) in zip(
            pairs, restore(found, batches), lengths, strict=True
        )
    ]


def _of_words(
    subject: Subject, pair: SentencePair, norms: Float[ndarray, "target_pieces source_pieces"]
) -> Norms:
    """The norms at the model's tokens as norms at words; the same where tokens are words."""
    source, target = subject.shares(pair)
    if subject.settings.model.reverse_source:
        source = backwards(source)
    return np.sqrt(by_word(norms**2, source, target))


@partial(jax.jit, static_argnums=0)
def _norms(
    graph: nnx.GraphDef,
    weights: Weights,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
    target: Int[Array, "batch target"],
) -> Float[Array, "batch target source"]:
    """One pass back a target position, all sentences at once: their losses are independent."""
    translator = nnx.merge(graph, weights)

    def read_outs(embedded: Array) -> Array:
        memory = _memory(translator, embedded, lengths)
        return translator.decoder(decoder_inputs(target), memory)[0]

    outputs, back = jax.vjp(read_outs, translator.encoder.embed(source))
    # A position's loss hangs on its own read-out alone: one gradient of the sum holds all of them.
    slopes = jax.grad(lambda read: _summed_losses(translator, read, target))(outputs)

    def at(position: Array) -> Array:
        alone = jnp.zeros_like(slopes).at[position].set(slopes[position])
        return jnp.sqrt(jnp.sum(back(alone)[0] ** 2, axis=-1))

    return jnp.swapaxes(jax.lax.map(at, jnp.arange(target.shape[1])), 0, 1)


def _memory(
    translator: Translator, embedded: Float[Array, "batch source size"], lengths: Array
) -> Memory:
    """What the encoder leaves of these word vectors."""
    mask = real_positions(lengths, embedded.shape[1])
    values, last = translator.encoder(embedded, mask)
    return Memory(values, translator.decoder.attention.keys(values), mask, last)


def _summed_losses(
    translator: Translator,
    outputs: Float[Array, "target batch width"],
    target: Int[Array, "batch target"],
) -> Float[Array, ""]:
    """-log P of all positions; what padding adds is at positions that are never asked for."""
    scores = jax.nn.log_softmax(translator.decoder.logits(outputs))
    return -jnp.sum(jnp.take_along_axis(scores, target.T[..., None], axis=-1))


def _at_links(norms: Sequence[Norms], columns: dict[str, ndarray]) -> tuple[ndarray, ndarray]:
    """The norm at each link's source, and at the last position, of its target word's loss."""
    places = zip(*(columns[name].tolist() for name in ("sentence", "target", "source", "last")),
                 strict=True)  # fmt: skip
    found = [(norms[row][j, i], norms[row][j, end]) for row, j, i, end in places]
    aligned, last = np.array(found, np.float64).reshape(-1, 2).T
    return aligned, last


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """The curve by steps over all lengths, and half-distances by bucket."""
    return [row for arm in arms_of(probed) for row in _rows(arm)]


def _rows(arm: Arm) -> Iterator[Row]:
    found = arm.runs[0].found
    words = np.zeros(int(found["sentence"].max()) + 1)
    words[found["sentence"].astype(np.int64)] = found["source_words"]
    buckets = [*in_buckets(arm.runs[0], words)]
    everywhere = (len(buckets), EVERYWHERE, np.ones(len(words), dtype=bool))
    for place, bucket, inside in [*buckets, everywhere]:
        if not inside.any():
            continue
        scoring = arm.settings.scoring
        weights = draw(int(inside.sum()), scoring.resamples, seed=scoring.seed, bucket=place)
        for network in NETWORKS:
            control = "" if network == "trained" else network
            keys = {"bucket": bucket, "control": control}
            for measure, way in WAYS.items():
                held = [records(run, network, inside, way) for run in arm.runs]
                yield from _half_rows(arm, measure, held, weights, keys)
            if bucket == EVERYWHERE:
                yield from _curve_rows(arm, held_by_band(arm, network, inside), weights, keys)


def records(
    run: Probed, network: str, inside: Bool[ndarray, "sentences"], way: str
) -> GradientRecords:
    """A run's links in these sentences, which are counted anew; ``way`` names the steps."""
    sentence = run.found["sentence"].astype(np.int64)
    mine = inside[sentence]
    return GradientRecords(
        sentence=(np.cumsum(inside) - 1)[sentence[mine]],
        distance=run.found[way][mine].astype(np.int64),
        at_aligned=run.found[f"{network}_aligned"][mine],
        at_last=run.found[f"{network}_last"][mine],
    )


def held_by_band(
    arm: Arm, network: str, inside: Bool[ndarray, "sentences"]
) -> list[GradientRecords]:
    """`records` of each run of the arm, for the distance its band's place in `BANDS` (0 the first).

    By the shortest way, where the least is 1 step.
    """
    held = [records(run, network, inside, "steps") for run in arm.runs]
    return [
        GradientRecords(
            one.sentence,
            np.searchsorted(BANDS, one.distance, side="right") - 1,
            one.at_aligned,
            one.at_last,
        )
        for one in held
    ]


def _half_rows(
    arm: Arm, measure: str, held: list[GradientRecords], weights: ndarray, keys: dict
) -> Iterator[Row]:
    """The mean curve's half-distance, then each seed's; ``note`` says on which sides it is open."""
    own = keys | {"n": len(held[0].sentence)}
    known = _half(held, weights)
    if known is not None:
        yield arm.row(measure, **known, **own)
        once = np.ones((1, weights.shape[1]))
        for run, one in zip(arm.runs, held, strict=True):
            alone = _half([one], once)
            if alone is not None:
                note = alone["note"].partition(";")[0]
                yield arm.seed_row(run, measure, alone["value"], **own | {"note": note})


def _half(held: list[GradientRecords], weights: ndarray) -> dict | None:
    """Value, ends and the note of `open_sides`; None with fewer than two distances."""
    curve = gradient_curve(held, weights)
    if len(curve.distances) < 2:
        return None
    half = half_distance(curve)
    ends = (half.value, half.interval.low, half.interval.high)
    shown = np.clip(ends, half.lowest, half.highest).tolist()
    return dict(zip(("value", "low", "high"), shown, strict=True)) | {"note": open_sides(*ends)}


def open_sides(*ends: float) -> str:
    """Of value, low and high: "at least" where it is beyond what was tested, as ``;at least;``."""
    return ";".join("at least" if np.isposinf(end) else "" for end in ends)


def _curve_rows(
    arm: Arm, held: list[GradientRecords], weights: ndarray, keys: dict
) -> Iterator[Row]:
    """The ratio in each band, a row a seed below it, and how many words had no gradient at all."""
    curve = gradient_curve(held, weights)
    names = bucket_labels(BANDS)
    once = np.ones((1, weights.shape[1]))
    alone = [gradient_curve([one], once) for one in held]
    for at, band in enumerate(curve.distances.tolist()):
        own = keys | {"part": names[band], "n": int(curve.words[at])}
        ratio = curve.ratios[at]
        yield arm.row("ratio", ratio.value, **own, **interval_of(ratio))
        for run, one in zip(arm.runs, alone, strict=True):
            mine = one.ratios[one.distances.tolist().index(band)]
            yield arm.seed_row(run, "ratio", mine.value, **own)
    total = int(curve.words.sum())
    lost = int(curve.vanished.sum()) / total if total else float("nan")
    yield arm.row("vanished", lost, **keys, n=total)
    yield arm.row("left_out", float(curve.left_out), **keys, n=total + curve.left_out)


STUDY = Study(
    name="gradients",
    ids=("C8",),
    question="Does attention shorten the path: how far back does a loss's gradient reach?",
    version=1,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen" and settings.corpus.is_drawn,
)
