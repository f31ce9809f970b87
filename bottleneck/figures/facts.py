"""What the figures of runs say of the runs: an arm as a title, and the line below."""

from collections.abc import Sequence

from ..claims.verdict import READ_FROM
from ..tables.comparison import NONE, Comparison
from .plot import listed_seeds

SLIDE_NOTE = "The slide's numbers are an illustration: compare shapes, never levels."


def arm_title(arm: str) -> str:
    """An arm as the title of a panel."""
    return "Without attention" if arm == NONE else f"With {arm} attention"


def bars(sizes: Sequence[Comparison], over: str = "test sentences") -> str:
    """What bars and points are."""
    several = any(len(one.none.seeds) > 1 for one in sizes)
    return f"Bars: 95 %, over {over}.{' Small points: single seeds.' if several else ''}"


def drawn_buckets(buckets: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Those of so many sentences that verdicts read them; every filled one, if under two are."""
    held = dict(zip(buckets, counts, strict=True))
    read = [bucket for bucket, n in held.items() if n >= READ_FROM]
    return read if len(read) > 1 else [bucket for bucket, n in held.items() if n]


def left_out(buckets: Sequence[str], counts: Sequence[int]) -> str:
    """A sentence on the filled buckets that are not drawn; nothing where all are."""
    drawn = drawn_buckets(buckets, counts)
    few = [
        f"{bucket} (n = {n})"
        for bucket, n in zip(buckets, counts, strict=True)
        if n and bucket not in drawn
    ]
    return f"Left out: {', '.join(few)}." if few else ""


def run_facts(sizes: Sequence[Comparison]) -> str:
    """Of which runs; of one context size or of several."""
    settings = sizes[0].settings
    seeds = sorted({seed for one in sizes for seed in one.none.seeds})
    contexts = [str(one.settings.model.context_size) for one in sizes]
    some = any(list(one.none.seeds) != seeds for one in sizes)
    hidden = [str(one.settings.model.hidden) for one in sizes]
    wide = "" if hidden == contexts else f" hidden {', '.join(dict.fromkeys(hidden))};"
    return (
        f"Corpus {settings.corpus.title}; context {', '.join(contexts)};{wide} "
        f"{settings.training.updates:,} updates; "
        f"{listed_seeds(seeds)}"
        f"{', not all at every context size' if some else ''}."
    )
