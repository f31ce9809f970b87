"""Operations of the model's matrix products, to compare a program with the machine's rate.

A training step needs three times the forward pass's products (the gradient of a product is two
more of its size), and two operations per multiply-add. Only real positions count, and all products
of the model as written count, even if a program avoids one.
"""

from collections.abc import Iterable

import numpy as np

from seq2seq_bottleneck.corpus.batches import Batch
from seq2seq_bottleneck.settings.concerns import ModelSettings


def training_operations(model: ModelSettings, target_words: int, batches: Iterable[Batch]) -> float:
    """Operations of one training pass over the batches: 2 x 3 x multiply-adds.

    With E, H, C, A, V the widths of embedding, state, context, additive score and target
    vocabulary, for a sentence of s source and t target tokens:

    encoder       s (3 E H + 3 H H)
    decoder       t (3 E H + 3 H H)
    output layer  t H V
    none          3 C H           (c enters once per sentence)
    dot           2 s t C         (scores, weighted sum)
    additive      s C A + t H A + s t A + s t C
    input placed  t 3 C H         (c_t enters at every step)
    output placed t (C + H) H     (the joining layer)
    """
    return sum(
        6.0 * _multiply_adds(model, target_words, int(source), int(target))
        for batch in batches
        for source, target in zip(batch.source_lengths, batch.target_lengths, strict=True)
    )


def _multiply_adds(model: ModelSettings, words: int, source: int, target: int) -> int:
    """The multiply-adds of one sentence's forward pass."""
    width, hidden = model.embedding_size, model.hidden
    recurrence = (source + target) * 3 * hidden * (width + hidden)
    return recurrence + target * hidden * words + _context(model, source, target)


def _context(model: ModelSettings, source: int, target: int) -> int:
    """The multiply-adds of computing the context and of using it."""
    hidden, context, inner = model.hidden, model.context_size, model.attention_width
    if model.placement == "output":
        use = target * (context + hidden) * hidden
    else:
        use = (1 if model.attention == "none" else target) * 3 * context * hidden
    match model.attention:
        case "none":
            return use
        case "dot":
            return use + 2 * source * target * context
        case "additive":
            once = source * context * inner + target * hidden * inner
            return use + once + source * target * (inner + context)
    raise ValueError(f"attention {model.attention!r} is not counted")


def square(size: int) -> np.ndarray:
    """A float32 matrix, to measure the machine's rate."""
    return np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)


def product_operations(size: int) -> float:
    """Operations of one product of two square matrices."""
    return 2.0 * size**3
