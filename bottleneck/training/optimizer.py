"""How a gradient becomes a change of the weights: clipping, the schedule, and Adam or Muon.

Muon moves a matrix by its momentum made orthogonal. Of the momentum's singular value decomposition
U S V^T about U V^T is left, so directions with a small gradient are learned as quickly as those
with a large one. Newton-Schulz steps, which are matrix products, take the decomposition's place and
leave singular values near 1 (Jordan et al. 2024,
https://kellerjordan.github.io/posts/muon/). An orthogonal m x n matrix has entries of root mean
square 1 / sqrt(max(m, n)); multiplied by 0.2 sqrt(max(m, n)) its entries are as large as
Adam's changes usually are, so that one learning rate serves both (Liu et al. 2025, "Muon is
scalable for LLM training", section 2.2).

Each gate of a cell has a matrix of its own (``model.cells``), which is made orthogonal by itself.
"""

import jax
import optax
from optax.contrib import muon

from ..model.translator import Weights
from ..settings.concerns import TrainingSettings

MUON = {"beta": 0.95, "consistent_rms": 0.2, "ns_steps": 3, "preconditioning": "aol"}
"""Arguments of `optax.contrib.muon`: decay of Nesterov's momentum; root mean square of a matrix's
change at a learning rate of 1, as Liu et al. measured of Adam; three Newton-Schulz steps with
Jordan's coefficients. The preconditioning (Boissin et al. 2025) takes the place of the first steps:
as good a loss as five steps without it, in two thirds of their time (results/LOG.md, 2026-11-27).
"""


def learning_rates(settings: TrainingSettings) -> optax.Schedule:
    """Linear warm-up to ``learning_rate``, then linear decay to ``final_learning_rate`` times it.

    Warming up takes half of the updates at most.
    """
    peak = settings.learning_rate
    warmup = min(settings.warmup_updates, settings.updates // 2)
    decay = optax.linear_schedule(
        peak, peak * settings.final_learning_rate, settings.updates - warmup
    )
    if warmup == 0:
        return decay
    # From the first step up, so that no update is wasted at a rate of 0.
    rise = optax.linear_schedule(peak / warmup, peak, max(1, warmup - 1))
    return optax.join_schedules([rise, decay], [warmup])


def make_optimizer(settings: TrainingSettings) -> optax.GradientTransformation:
    """Gradient norm clipped (Pascanu et al. 2013), then Adam (Kingma and Ba 2015) or Muon.

    With Muon, Adam trains what `optimizers` leaves to it, at the same learning rate.
    """
    rates = learning_rates(settings)
    clip, rule = optax.clip_by_global_norm(settings.clip_norm), optax.adam(rates)
    if settings.optimizer == "muon":
        # optax would train the rest by Adam with Nesterov's momentum.
        rule = optax.partition({"muon": muon(rates, **MUON), "adam": rule}, optimizers)
    return optax.chain(clip, rule)


def optimizers(weights: Weights) -> Weights:
    """With Muon, which optimizer trains each parameter: a tree of "muon" and "adam".

    Muon trains the matrices of cells and gates, of scores, and of the maps between widths. Adam
    trains embeddings and the output layer, as Jordan et al. (2024) advise, and vectors: biases and
    the v of an additive score. An output layer that is tied to the target embedding is an
    embedding; the map to its width is a matrix like others.
    """

    def optimizer(path: tuple, parameter: jax.Array | jax.ShapeDtypeStruct) -> str:
        names = {key.key for key in path if isinstance(key, jax.tree_util.DictKey)}
        of_words = names & {"embedding", "output"}  # they have a vector for each word
        return "muon" if parameter.ndim == 2 and not of_words else "adam"

    return jax.tree_util.tree_map_with_path(optimizer, weights)
