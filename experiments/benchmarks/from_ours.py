"""Copy our weights into the PyTorch program, so that both start from the same numbers.

``nn.GRU`` stacks its gates (reset, update, new), and has a second bias for each. Ours has only the
second bias of the new gate, inside the reset product; PyTorch's other two start at zero.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn
from torch_translator import AdditiveScore, AttendingDecoder, OutputPlacedDecoder, Translator

Tensors = Mapping[str, np.ndarray]
"""Our parameters by name, as ``runs.checkpoint.save_weights`` writes them."""


@torch.no_grad()
def copy_into(model: Translator, ours: Tensors) -> None:
    """Overwrite every parameter of the model."""
    _set(model.source_embedding.weight, ours["encoder.embedding"])
    _set(model.target_embedding.weight, ours["decoder.embedding"])
    _set(model.output.weight, ours["decoder.output"].T)
    _set(model.output.bias, ours["decoder.output_bias"])
    layer = "encoder.layers.0.0"
    _copy_gru(model.encoder, ours, [f"{layer}.inputs"], f"{layer}.cell", "_l0")
    _copy_decoder(model.decoder, ours)


def _copy_decoder(decoder: nn.Module, ours: Tensors) -> None:
    """Overwrite the decoder's recurrence, and the parameters of its attention."""
    if isinstance(decoder, OutputPlacedDecoder):
        _copy_gru(decoder.rnn, ours, ["decoder.inputs.0"], "decoder.cells.0", "_l0")
        _set(decoder.join.weight, ours["decoder.join"].T)
        return
    attends = isinstance(decoder, AttendingDecoder)
    inputs = ["decoder.inputs.0", "decoder.context_input"]
    cell, suffix = (decoder.cell, "") if attends else (decoder.rnn, "_l0")
    _copy_gru(cell, ours, inputs, "decoder.cells.0", suffix)
    if attends and isinstance(decoder.score, AdditiveScore):
        _set(decoder.score.query_map.weight, ours["decoder.attention.query_map"].T)
        _set(decoder.score.key_map.weight, ours["decoder.attention.key_map"].T)
        _set(decoder.score.vector, ours["decoder.attention.vector"])


def _copy_gru(gru: nn.Module, ours: Tensors, inputs: list[str], cell: str, suffix: str) -> None:
    """Overwrite a GRU: ``inputs`` are concatenated, ``cell`` reads the state before."""
    kernels = [np.vstack([ours[f"{name}.weights.{gate}"] for name in inputs]) for gate in range(3)]
    recurrent = [ours[f"{cell}.weights.{gate}"] for gate in range(3)]
    biases = [ours[f"{inputs[0]}.biases.{gate}"] for gate in range(3)]
    inner = ours[f"{cell}.bias"]
    _set(getattr(gru, f"weight_ih{suffix}"), np.hstack(kernels).T)
    _set(getattr(gru, f"weight_hh{suffix}"), np.hstack(recurrent).T)
    _set(getattr(gru, f"bias_ih{suffix}"), np.concatenate(biases))
    _set(getattr(gru, f"bias_hh{suffix}"), np.concatenate([np.zeros(2 * len(inner)), inner]))


def _set(parameter: nn.Parameter, values: np.ndarray) -> None:
    """Overwrite a parameter; shapes must be equal, so that nothing is broadcast by mistake."""
    if tuple(parameter.shape) != values.shape:
        raise ValueError(f"shapes differ: {tuple(parameter.shape)} and {values.shape}")
    parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))
