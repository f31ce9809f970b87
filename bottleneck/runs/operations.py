"""Operations of training, counted from the settings.

A target token costs, forward (r is the ratio of source to target tokens; g gates, widths E of
embeddings, H hidden, C context, A the score's own, V the target vocabulary; a product of a vector
and an m x n matrix is 2mn operations):

- encoder: r 2gH(in + H) for each layer and direction, in = E in the lowest layer; 2r d H C where
  the states (d directions) are mapped to the context size;
- decoder: 2gH(in + H) for each layer; the context 2gCH (placement input, wherever it changes from
  step to step) or 2(C + H)H (placement output);
- the score: 2rCA + 2HA (additive) or 2HC (general); output layer: 2HV, or 2(HE + EV)
  where it is tied to the embedding.

Forward and backward together are three times that. With Muon an update costs besides, for each
Newton-Schulz step and each m x n matrix with m <= n, 2m(2mn + m^2): X X^T, its square, and the
product with X. Reading S states a step is no matrix product and is counted apart, as ``READ``
operations' worth of time for each state and unit.

``READ`` was measured on 2026-11-20 (x86, AMD EPYC, one thread, jax 0.10.2; GRU, E 100, H = C = 256,
V 2,033, batch 64, source/target of 32/36 and 60/72 tokens, in target tokens a second, with others
at work): none 24,500 and 27,400; additive 16,000 and 13,800; dot 21,000 and 20,900; uniform
23,400; H 512, none 9,200; LSTM 21,300; tanh RNN 37,700; three words in four forced, none 16,800.
"""

from functools import lru_cache

import jax

from ..model.cells import GATES
from ..model.translator import create
from ..settings.concerns import ModelSettings
from ..settings.run import RunSettings
from ..training.optimizer import NEWTON_SCHULZ, optimizers

READ = {"none": 0, "uniform": 0, "dot": 10, "scaled-dot": 10, "general": 10, "additive": 120}
"""Reading one unit of one state, forward and backward, in operations of a matrix product."""


def run_operations(
    cell: RunSettings, target_vocabulary: int, mean_lengths: tuple[float, float]
) -> float:
    """Operations of a run's training, reads of the memory in their worth of them."""
    shortened = _shortened(cell)
    source, target = (length * shortened for length in mean_lengths)
    tokens = cell.training.batch_tokens or cell.training.batch_size * target
    products = 3 * forward_operations(cell, target_vocabulary, source / target)
    gradient = tokens * (products + _read_operations(cell.model, source))
    return cell.training.updates * (gradient + optimizer_operations(cell))


def optimizer_operations(cell: RunSettings) -> float:
    """Operations of an update's Newton-Schulz steps; Adam has no products."""
    if cell.training.optimizer == "adam":
        return 0.0
    return NEWTON_SCHULZ["ns_steps"] * _newton_schulz_operations(cell.model)


@lru_cache(maxsize=256)
def _newton_schulz_operations(model: ModelSettings) -> float:
    """Operations of one step on every matrix that Muon trains, whatever the vocabularies."""
    weights = jax.eval_shape(lambda: create(model, 1, 1, seed=0)[1])
    pairs = zip(jax.tree.leaves(weights), jax.tree.leaves(optimizers(weights)), strict=True)
    shapes = [sorted(matrix.shape) for matrix, optimizer in pairs if optimizer == "muon"]
    return float(sum(2 * short * (2 * short * long + short**2) for short, long in shapes))


def _shortened(cell: RunSettings) -> float:
    """Mean length where training is shortened, as a share of that of the whole corpus.

    On the grammar's even buckets .27 .40 .57 .76 for 10, 20, 30, 40 of 60 words.
    """
    return 0.1 + 0.9 * cell.corpus.longest_trained / cell.corpus.max_words


def forward_operations(cell: RunSettings, target_vocabulary: int, ratio: float) -> float:
    """Operations of all matrix products for one target token; see the head of this file."""
    model = cell.model
    return (
        ratio * _encoder(model)
        + _stack(model, 1)
        + _context(cell)
        + _score(model, ratio)
        + _output(model, target_vocabulary)
    )


def _encoder(model: ModelSettings) -> int:
    """Layers in one or two directions, and the map to the context size where there is one."""
    directions = 2 if model.bidirectional else 1
    width = directions * model.hidden
    mapped = model.bidirectional or model.hidden_apart
    map_operations = 2 * width * model.context_size if mapped else 0
    return directions * _stack(model, directions) + map_operations


def _stack(model: ModelSettings, directions: int) -> int:
    """Recurrent layers in one direction, each above the first reading all directions."""
    widths = [model.embedding_size] + [directions * model.hidden] * (model.layers - 1)
    gates = 2 * GATES[model.cell] * model.hidden
    return sum(gates * (width + model.hidden) for width in widths)


def _context(cell: RunSettings) -> int:
    """The context's way into the decoder; a constant one enters once, if all words are forced."""
    model = cell.model
    if model.placement == "output":
        return 2 * (model.context_size + model.hidden) * model.hidden
    if model.attention in ("none", "uniform") and cell.training.teacher_forcing == 1.0:
        return 0
    return 2 * GATES[model.cell] * model.context_size * model.hidden


def _score(model: ModelSettings, ratio: float) -> float:
    """The score's own matrices."""
    if model.attention == "general":
        return 2.0 * model.hidden * model.context_size
    if model.attention == "additive":
        return 2 * model.attention_width * (ratio * model.context_size + model.hidden)
    return 0.0


def _output(model: ModelSettings, target_vocabulary: int) -> int:
    """The output layer; tied, the way to the embedding's width and the embedding."""
    if model.tied_output:
        return 2 * model.embedding_size * (model.hidden + target_vocabulary)
    return 2 * model.hidden * target_vocabulary


def _read_operations(model: ModelSettings, source: float) -> float:
    """Scores, softmax and weighted sum over a source of this length, forward and backward."""
    width = model.attention_width if model.attention == "additive" else model.context_size
    return READ.get(model.attention, READ["general"]) * source * width
