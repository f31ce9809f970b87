"""Attention as word alignment (claim C7): links from weights, gold links, error rates.

Links are (source, target) places, 0-based. Weights are teacher-forced on the reference, so that
rows are the reference's own tokens; end tokens are neither linked nor counted. Measures are ratios
of per-sentence counts, so that a bootstrap over sentences can draw them.
"""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray

from ..scoring.bootstrap import ratio_of_sums
from ..settings.errors import UserError, counted

Link = tuple[int, int]
Links = frozenset[Link]

_LINK = re.compile(r"(\d{1,9})([-?])(\d{1,9})", re.ASCII)


@dataclass(frozen=True)
class GoldLinks:
    """Links that a person drew: sure ones, and possible ones with the sure among them."""

    sure: Links
    possible: Links

    @classmethod
    def all_sure(cls, links: Iterable[Link]) -> "GoldLinks":
        """Exact links, as the grammar's: what is possible is sure."""
        exact = frozenset(links)
        return cls(exact, exact)


def parse_gold(lines: Iterable[str], name: str, *, base: int) -> list[GoldLinks]:
    """Read gold links, a sentence a line: ``0-0 1?2``, source first, ``-`` sure, ``?`` possible.

    ``name`` is the file's, for errors; ``base`` is the number of the first word, 0 or 1. An empty
    line is a sentence without links. UserError names the line.
    """
    return [_parse_line(line, f"{name} line {at}", base) for at, line in enumerate(lines, 1)]


def _parse_line(line: str, where: str, base: int) -> GoldLinks:
    """The links of one line; a link that is both sure and possible is sure."""
    sure: set[Link] = set()
    possible: set[Link] = set()
    for entry in line.split():
        match = _LINK.fullmatch(entry)
        if match is None:
            raise UserError(f"{where}: {entry!r} is no link; write i-j (sure) or i?j (possible)")
        link = (int(match[1]) - base, int(match[3]) - base)
        if min(link) < 0:
            raise UserError(
                f"{where}: {entry!r} counts from 0, but the file is read as 1-based; leave "
                "--first-word out"
            )
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def check_gold(
    gold: Sequence[GoldLinks], lengths: Sequence[tuple[int, int]], name: str, *, base: int
) -> None:
    """UserError where the gold has other sentences, or a link points past a sentence's end.

    ``lengths`` are the (source, target) tokens of each sentence.
    """
    if len(gold) != len(lengths):
        lines, sentences = counted(len(gold), "line"), counted(len(lengths), "sentence")
        raise UserError(f"{name} has {lines} for {sentences}; give one each")
    for line, (links, (source, target)) in enumerate(zip(gold, lengths, strict=True), 1):
        for i, j in sorted(links.possible):
            if i >= source or j >= target:
                raise UserError(
                    f"{name} line {line}: link {i + base} to {j + base} is outside a sentence of "
                    f"{source} source and {target} target words; check the tokens, which side is "
                    "first, and whether the file counts from 0 or 1"
                )


def links_from_weights(
    weights: Float[ndarray, "rows columns"], source_words: int, target_words: int
) -> Links:
    """Link each target word to the source word with the largest weight, the first of equals.

    Rows are target tokens, columns source tokens; those past the words (end tokens, padding)
    are left out before looking.
    """
    best = weights[:target_words, :source_words].argmax(axis=1) if source_words else ()
    return frozenset((int(i), j) for j, i in enumerate(best))


def diagonal_links(source_words: int, target_words: int) -> Links:
    """The baseline that ignores the words: target j is linked to source floor((j + 1/2) I / J).

    I and J are the numbers of source and target words: the middle of word j, on the source's scale.
    """
    if not source_words:
        return frozenset()
    middle = [(2 * j + 1) * source_words // (2 * target_words) for j in range(target_words)]
    return frozenset((i, j) for j, i in enumerate(middle))


def alignment_statistics(
    links: Sequence[Set[Link]], gold: Sequence[GoldLinks]
) -> Int[ndarray, "sentences 4"]:
    """Counts of links A against gold S, P: columns are |A & S|, |A & P|, |A|, |S|."""
    rows = [
        (len(ours & own.sure), len(ours & own.possible), len(ours), len(own.sure))
        for ours, own in zip(links, gold, strict=True)
    ]
    return np.array(rows, np.int64).reshape(len(rows), 4)


def alignment_error_rate(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003); nan without any links."""
    parts = np.stack([sums[..., :2].sum(-1), sums[..., 2:].sum(-1)], axis=-1)
    return np.asarray(1 - ratio_of_sums(parts))


def alignment_precision(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """|A & P| / |A|: links that are at least possible; nan without links."""
    return ratio_of_sums(sums[..., [1, 2]])


def alignment_recall(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """|A & S| / |S|: sure links that were found; nan without sure links."""
    return ratio_of_sums(sums[..., [0, 3]])


def gold_weight_statistics(
    weights: Sequence[Float[ndarray, "_ _"]], gold: Sequence[Set[Link]]
) -> Float[ndarray, "sentences 3"]:
    """Weight on gold links: columns are weight, equal weights' share, target words with gold.

    ``weights`` are target x source. Of each target word that has gold links the weights on its
    gold sources are summed. The matrices keep all columns that were read, the source's end token
    too: weight on it is weight not on gold, and equal weights over all columns are what the
    ``uniform`` arm has, which therefore scores its own share exactly. Without padding, that is.
    """
    rows = [_weight_row(own, links) for own, links in zip(weights, gold, strict=True)]
    return np.array(rows, np.float64).reshape(len(rows), 3)


def _weight_row(
    weights: Float[ndarray, "target source"], links: Set[Link]
) -> tuple[float, float, float]:
    """The three sums of one sentence."""
    places = np.array(sorted(links), np.int64).reshape(-1, 2)
    share = len(places) / max(weights.shape[1], 1)
    return float(weights[places[:, 1], places[:, 0]].sum()), share, float(len(set(places[:, 1])))


def weight_on_gold(sums: Real[ndarray, "*rows 3"]) -> Float[ndarray, "*rows"]:
    """Mean over target words with gold of the weight on their gold sources."""
    return ratio_of_sums(sums[..., [0, 2]])


def equal_weight_on_gold(sums: Real[ndarray, "*rows 3"]) -> Float[ndarray, "*rows"]:
    """The same mean, were every weight equal: (gold sources) / (columns)."""
    return ratio_of_sums(sums[..., [1, 2]])
