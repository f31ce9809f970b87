"""The lecture's translator (LECTURE D) in NumPy: one sentence at a time, no padding.

It is written from the formulas, not from the package, whose logits, attention weights and
gradients are compared with it. Weights are nested dictionaries (``arrays``).
"""

import numpy as np
from flax import nnx

PAD, BOS, EOS = 0, 1, 2


def arrays(weights):
    """Nested dictionaries of float64 arrays; lists become dictionaries by place."""

    def convert(node):
        if isinstance(node, dict):
            return {name: convert(child) for name, child in node.items()}
        return np.array(node, dtype=np.float64)

    return convert(nnx.to_pure_dict(weights))


def in_order(node):
    """A list from a dictionary by place."""
    return [node[place] for place in sorted(node)]


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def gate_inputs(p, x):
    """W_g x + b_g for every gate."""
    products = [x @ weight for weight in in_order(p["weights"])]
    biases = in_order(p.get("biases", {})) or [0.0] * len(products)
    return [product + bias for product, bias in zip(products, biases, strict=True)]


def cell_step(kind, p, state, gates):
    """h' (and c') of one time step."""
    products = [state[0] @ weight for weight in in_order(p["weights"])]
    if kind == "rnn":
        return (np.tanh(gates[0] + products[0]),)
    if kind == "gru":
        r, z = sigmoid(gates[0] + products[0]), sigmoid(gates[1] + products[1])
        n = np.tanh(gates[2] + r * (products[2] + p["bias"]))
        return ((1 - z) * n + z * state[0],)
    i, o = sigmoid(gates[0] + products[0]), sigmoid(gates[3] + products[3])
    f = sigmoid(gates[1] + products[1] + p["bias"])
    c = f * state[1] + i * np.tanh(gates[2] + products[2])
    return (o * np.tanh(c), c)


def first_state(kind, h):
    return (h, np.zeros_like(h)) if kind == "lstm" else (h,)


def run_layer(kind, p, inputs, backward):
    """The states, in reading order of the source."""
    state = first_state(kind, np.zeros(p["cell"]["weights"][0].shape[0]))
    states = [None] * len(inputs)
    places = range(len(inputs))
    for place in reversed(places) if backward else places:
        state = cell_step(kind, p["cell"], state, gate_inputs(p["inputs"], inputs[place]))
        states[place] = state[0]
    return states


def encode(p, settings, words):
    """h_1 .. h_Tx and c, at context width."""
    p = p["encoder"]
    values = [p["embedding"][word] for word in words]
    for layer in in_order(p["layers"]):
        runs = [
            run_layer(settings.cell, way, values, way is layer.get(1)) for way in layer.values()
        ]
        states = [np.concatenate(parts) for parts in zip(*runs, strict=True)]
        values = states
    half = len(values[0]) // 2 if settings.bidirectional else len(values[0])
    last = np.concatenate([values[-1][:half], values[0][half:]])
    to_context = p.get("to_context", np.eye(len(last)))
    return np.array(values) @ to_context, last @ to_context


def score(kind, p, s, h):
    """e = score(s, h)."""
    match kind:
        case "dot":
            return sum(a * b for a, b in zip(s, h, strict=True))
        case "scaled-dot":
            return sum(a * b for a, b in zip(s, h, strict=True)) / np.sqrt(len(h))
        case "general":
            return s @ p["matrix"] @ h
        case "additive":
            return p["vector"] @ np.tanh(p["query_map"].T @ s + p["key_map"].T @ h)
        case "uniform":
            return 0.0
    raise AssertionError(kind)


def read(kind, p, s, values, last):
    """c_t and alpha_t."""
    if kind == "none":
        return last, np.eye(len(values))[-1]
    weights = softmax(np.array([score(kind, p, s, h) for h in values]))
    return sum(weight * h for weight, h in zip(weights, values, strict=True)), weights


def start_states(p, settings, last):
    """s_0 of every layer."""
    start = np.tanh(last @ p["to_hidden"]) if "to_hidden" in p else last
    if settings.initial_state == "zero":
        start = np.zeros_like(start)
    return [first_state(settings.cell, start)] * settings.layers


def run_layers(p, settings, states, gates):
    """New states of all layers and the output of the highest."""
    inputs, cells = in_order(p["inputs"]), in_order(p["cells"])
    new = [cell_step(settings.cell, cells[0], states[0], gates)]
    below = new[0][0]
    for place in range(1, settings.layers):
        gates = gate_inputs(inputs[place], below)
        new.append(cell_step(settings.cell, cells[place], states[place], gates))
        below = new[-1][0]
    return new, below


def decoder_step(p, settings, states, word, values, last):
    """States, logits and weights after one more word."""
    p = p["decoder"]
    attention = p.get("attention", {})
    gates = gate_inputs(p["inputs"][0], p["embedding"][word])
    if settings.placement == "input":
        context, weights = read(settings.attention, attention, states[-1][0], values, last)
        extra = gate_inputs(p["context_input"], context)
        gates = [gate + more for gate, more in zip(gates, extra, strict=True)]
        states, top = run_layers(p, settings, states, gates)
    else:
        states, output = run_layers(p, settings, states, gates)
        context, weights = read(settings.attention, attention, output, values, last)
        top = np.tanh(np.concatenate([context, output]) @ p["join"])
    if "output" in p:
        return states, top @ p["output"] + p["output_bias"], weights
    mapped = top @ p["to_embedding"]  # tied: a word's number is its own vector times this
    logits = np.array([mapped @ word for word in p["embedding"]]) + p["output_bias"]
    return states, logits, weights


def translate(p, settings, source, inputs):
    """Logits (target, vocabulary) and weights (target, source), given the words before each."""
    values, last = encode(p, settings, source)
    states = start_states(p["decoder"], settings, last)
    logits, weights = [], []
    for word in inputs:
        states, given, read_with = decoder_step(p, settings, states, word, values, last)
        logits.append(given)
        weights.append(read_with)
    return np.array(logits), np.array(weights)


def batch_loss(p, settings, pairs):
    """Mean -log P(y*_t) per target word."""
    total = 0.0
    for source, target in pairs:
        logits, _ = translate(p, settings, source, [BOS, *target[:-1]])
        total -= sum(np.log(softmax(row))[word] for row, word in zip(logits, target, strict=True))
    return total / sum(len(target) for _, target in pairs)


def finite_differences(function, p, step=1e-5):
    """Central differences of ``function(p)`` in every single parameter, as nested arrays."""

    def differences(node):
        if isinstance(node, dict):
            return {name: differences(child) for name, child in node.items()}
        slopes = np.zeros_like(node)
        for place in np.ndindex(node.shape):
            before = node[place]
            node[place] = before + step
            above = function(p)
            node[place] = before - step
            slopes[place] = (above - function(p)) / (2 * step)
            node[place] = before
        return slopes

    return differences(p)


def flat(node, path=()):
    """(path, array) of every leaf."""
    if not isinstance(node, dict):
        return {path: node}
    leaves = {}
    for name, child in node.items():
        leaves.update(flat(child, (*path, name)))
    return leaves
