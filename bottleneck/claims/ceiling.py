"""Where an arm stands at its ceiling a relative gain says nothing about that arm."""

from collections.abc import Sequence

CEILING_BLEU = 95.0
"""BLEU is bounded at 100. From 95 up an arm can differ from the bound by 5.3 per cent at most
(100 / 95), so attention / none - 1 is 100 / none - 1 to within that: arithmetic of none's level,
whatever attention does."""


def at_ceiling(bleu: float) -> bool:
    """Whether an arm's corpus BLEU in a bucket leaves no room; nan (empty) does not."""
    return bleu >= CEILING_BLEU


def ceiling_sentence(names: Sequence[str], attention: Sequence[float]) -> str:
    """Name the buckets where attention is at its ceiling; empty where it is at none."""
    at = [name for name, bleu in zip(names, attention, strict=True) if at_ceiling(bleu)]
    if not at:
        return ""
    where = f"bucket{'s' if len(at) > 1 else ''} {', '.join(at)}"
    return (
        f"in {where} attention is at its ceiling (BLEU >= {CEILING_BLEU:g}): "
        "the relative gain there is 100/none - 1, arithmetic"
    )
