"""C8: does attention shorten the path for gradients?

The ratio is the norm of a target word's loss gradient at the embedding of its aligned source word,
over that at the last source position (the end token, whose state is h_Tx). The curve is the
geometric mean of this ratio by steps. In every arm, steps are words on the shortest path without
attention: through the encoder to h_Tx, and one step more.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from math import inf, isinf, log
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..corpus.batches import EncodedPairs, evaluation_batches, restore
from ..corpus.vocabulary import BOS, tokenize
from ..scoring.bootstrap import Estimate, draw, estimate, ratio_of_sums
from .arms import Arm, Estimates, Row, by_arm
from .censored import Censored, text, unbounded
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

BANDS = {
    "1-5": slice(1, 6),
    "6-10": slice(6, 11),
    "11-20": slice(11, 21),
    "21-30": slice(21, 31),
    "31-40": slice(31, 41),
    "41+": slice(41, None),
}
"""The curve's bands of steps."""


def probe(subject: Subject, sentences: int = 60) -> Columns:
    """One row per gold link of each bucket's first sentences: steps, and both norms."""
    subject.require_words()
    linked = [pair for pair in subject.corpus.test if pair.links]
    pairs = [pair for pairs in subject.first_of_each(linked, sentences) for pair in pairs]
    subject.tell("gradients")
    networks, rows = (subject.weights, subject.untrained), []
    norms = gradient_norms(subject.graph, subject.encode(pairs), networks)
    for sentence, (pair, *of_networks) in enumerate(zip(pairs, *norms, strict=True)):
        last = len(tokenize(pair.source))
        for source, target in pair.links:
            aligned = last - 1 - source if subject.settings.model.reverse_source else source
            read = [norm[target, place] for norm in of_networks for place in (aligned, last)]
            rows.append((sentence, last - aligned + 1, *map(float, read)))
    names = ("trained_aligned", "trained_last", "untrained_aligned", "untrained_last")
    return pd.DataFrame(rows, columns=["sentence", "steps", *names])


def gradient_norms(
    graph: Any, pairs: EncodedPairs, networks: Iterable[Any]
) -> list[list[Float[ndarray, "target source"]]]:
    """For each network's weights and each sentence, norms of loss gradients at source words.

    There is one backward pass per target position, for a batch of sentences at once.
    """
    import jax
    import jax.numpy as jnp
    from flax import nnx

    @jax.jit
    def norms(weights, source, lengths, target):
        translator = nnx.merge(graph, weights)
        decoder = translator.decoder

        def log_likelihoods(embedded):
            before = jnp.pad(target[:, :-1], ((0, 0), (1, 0)), constant_values=BOS)
            outputs, _ = decoder(before, translator.encode(embedded, lengths))
            scores = jax.nn.log_softmax(decoder.output_layer().logits(outputs))
            return jnp.take_along_axis(scores, target.T[..., None], axis=-1)[..., 0]

        scores, back = jax.vjp(log_likelihoods, translator.encoder.embedding[...][source])
        by_position = jax.lax.map(
            lambda position: jnp.sqrt(
                jnp.sum(back(jnp.zeros_like(scores).at[position].set(1.0))[0] ** 2, axis=-1)
            ),
            jnp.arange(target.shape[1]),
        )
        return jnp.swapaxes(by_position, 0, 1)

    batches = evaluation_batches(pairs, 20)
    return [
        restore([np.asarray(norms(weights, *item.batch[:3])) for item in batches], batches)
        for weights in networks
    ]


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """The half-distance, and the ratio in each band that every seed has."""
    probes, scoring = [run.found for run in arm.runs], arm.settings.scoring
    steps = 1 + max(int(columns["steps"].max()) for columns in probes)
    sentences = 1 + int(probes[0]["sentence"].max())
    stream = len(scoring.lower_edges)
    weights = draw(sentences, scoring.resamples, seed=scoring.seed, bucket=stream)
    for network, control in (("trained", ""), ("untrained", "untrained")):
        # By seed, sentence and steps: the sum of log ratios, and the number of links.
        sums = np.zeros((len(probes), sentences, steps, 2))
        for columns, cells in zip(probes, sums, strict=True):
            aligned, last = (columns[f"{network}_{name}"] for name in ("aligned", "last"))
            used = last > 0
            logs = np.log(np.maximum(aligned[used] / last[used], 1e-12))  # a gradient may vanish
            places = (columns[name][used].astype(np.int64) for name in ("sentence", "steps"))
            np.add.at(cells, tuple(places), np.stack([logs, np.ones_like(logs)], axis=-1))
        if half := half_distance(sums, weights):
            alone = [half_distance(part[None], weights[:0]).row() for part in sums]
            keys = {"control": control, "n": len(probes[0]["steps"])}
            yield from arm.with_seeds("half_distance", half.row(), alone, **keys)
        for name, inside in BANDS.items():
            band = sums[:, :, inside].sum(axis=2)
            totals = band.sum(axis=1)
            if totals[:, 1].all():
                logs = estimate(ratio_of_sums, band, weights)
                ratio = Estimate(float(np.exp(logs.value)), np.exp(logs.draws))
                keys = {"control": control, "part": name, "n": int(totals[:, 1].sum())}
                yield from arm.with_seeds("ratio", ratio, np.exp(ratio_of_sums(totals)), **keys)


def half_distance(
    sums: Float[ndarray, "seeds sentences steps 2"],
    weights: Float[ndarray, "resamples sentences"],
) -> Censored | None:
    """Steps over which the exponential that fits the ratio best halves; None without two distances.

    The fit is least squares of the log ratio (its mean over seeds) on the distances that have links
    in every seed, each weighted by its links. If the exponential does not halve within the tested
    span, the result is "at least" that span.
    """
    distances = np.flatnonzero(sums[..., 1].sum(axis=1).all(axis=0))
    if len(distances) < 2:
        return None
    parts = [estimate(ratio_of_sums, sums[:, :, place], weights) for place in distances]
    logs = np.stack([np.append(part.value, part.draws) for part in parts], axis=-1)
    links = sums[:, :, distances, 1].sum(axis=(0, 1)) * np.isfinite(logs)
    with np.errstate(divide="ignore", invalid="ignore"):  # nan if a resample has one distance
        middle = (links * distances).sum(axis=-1) / links.sum(axis=-1)
        x = links * (distances - middle[:, None])
        slopes = (x * np.nan_to_num(logs)).sum(axis=-1) / (x * distances).sum(axis=-1)
        halves = np.where(slopes >= 0, inf, log(0.5) / slopes)
    span = float(np.ptp(distances))
    value, *draws = np.where(halves > span, inf, halves)
    return Censored(float(value), np.array(draws), 0.0, span)


def judge(estimates: Estimates) -> Judgement | str:
    """C8: with attention a gradient fades later, and more of it arrives from far away."""
    fades, halves = {"": [], "untrained": []}, {}
    for control, arm in product(fades, estimates.arms):
        if half := estimates.get("half_distance", arm, control=control):
            known = unbounded(half)
            halves |= {} if control else {arm: known}
            fades[control].append(
                f"{arm} does not halve within {half.value:.0f} steps"
                if isinf(known.value)
                else f"{arm} halves every {text(half)} steps"
            )
    none = estimates.without_attention
    attending = [arm for arm in estimates.selective if arm in halves]
    if not (none in halves and attending):
        return "the rule needs arms with and without attention that differ in nothing else"
    slower, more, clauses = [], [], [f"the gradient of {', '.join(fades[''])}"]
    for arm in attending:
        for band in reversed(BANDS):
            ratio, plain = (estimates.get("ratio", name, part=band) for name in (arm, none))
            if ratio and plain:
                break
        else:
            return "the arms share no band of steps"
        slower.append(halves[arm].low > halves[none].high)
        more.append(ratio.low > plain.high)
        clauses.append(
            f"over {band} steps it is {ratio.text('{:.2g}')} times that at the last position with "
            f"{arm}, {plain.text('{:.2g}')} times with {none}"
        )
    if fades["untrained"]:
        clauses.append(f"before training that of {', '.join(fades['untrained'])}")
    clear, measure = (all(slower), all(more)), f"half-distance in steps, {none}"
    return Judgement(all(clear), any(clear), clauses, measure, halves[none])


QUESTION = Question(
    name="gradients",
    question="Does attention shorten the path: how far back does a loss's gradient reach? (C8)",
    title="Gradients (C8): at the aligned source word, relative to the last position",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.is_drawn,
    rules={"C8": (
        "The rule reads, for each target word in trained networks, the norm of its loss's gradient "
        "at its aligned source word, divided by that at the last source position, by the steps "
        "between the two words without attention. Two numbers count: the half-distance (the steps "
        "over which the exponential that fits this ratio best halves), and the ratio in the "
        "farthest band of steps that both arms have. A number is clear if its 95 % interval with "
        "attention lies above the one without; a half-distance beyond the tested steps counts as "
        "infinite. Held if both are clear in every arm with attention; partly if the same one is "
        "clear in every such arm; otherwise not held. Arms with equal weights (uniform) do not "
        "count.",
        judge,
    )},
    notes=[
        "Geometric means over links (n). Half-distance: steps over which the exponential that fits "
        "all links best halves; >N: it does not halve within the N steps that were tested.",
    ],
    measures=("ratio", "half_distance"),
    tables=[
        StudyTable("Gradient at the aligned source word over that at the last position (C8)", [
            StudyColumn("start of\ntraining", "ratio", control="untrained", form="{:.2g}"),
            StudyColumn("end of\ntraining", "ratio", form="{:.2g}"),
        ], heads=("steps", "arm"), lines=lambda estimates: [
            ((band, arm), {"arm": arm, "part": band})
            for band, arm in product(BANDS, estimates.arms)
        ]),
        StudyTable("Half-distance of the gradient in steps (C8)", [
            StudyColumn("start of\ntraining", "half_distance", control="untrained"),
            StudyColumn("end of\ntraining", "half_distance"),
        ], heads=("arm",)),
    ],
    axes=[
        Axes("Gradient norm by distance",
             "gradient norm at the source word\nover that at the last position",
             "steps from the source word to the target word, without attention",
             "links", log_y=True, measure="ratio", by="part",
             # The trained network before the untrained, the nearest band first.
             select=lambda rows: rows.assign(
                 place=rows["part"].map([*BANDS].index)
             ).sort_values(["control", "place"], kind="stable"))
    ],
)  # fmt: skip
