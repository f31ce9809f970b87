"""One sentence as the slide L-LOST shows it: what survived and what was lost, word by word."""

from collections.abc import Sequence
from dataclasses import dataclass

from .survival import LinkedReference, found_shares, survival

SURVIVED, PARTLY, LOST, UNLINKED = "survived", "in part", "lost", "not linked"


@dataclass(frozen=True)
class WordReport:
    """A source word, the reference's words for it, and which of them the output has.

    ``share`` is its survival, 0 to 1, None where it has no link. A target word is ``found`` even
    where the output has only some of its copies; the share then says how many.
    """

    word: str
    word_class: str
    share: float | None
    targets: tuple[str, ...]
    found: tuple[str, ...]

    @property
    def fate(self) -> str:
        """`SURVIVED`, `PARTLY`, `LOST` or, without a link, `UNLINKED`."""
        if self.share is None:
            return UNLINKED
        return SURVIVED if self.share == 1 else PARTLY if self.share > 0 else LOST


def word_reports(
    source: Sequence[str],
    classes: Sequence[str],
    pair: LinkedReference,
    hypothesis: Sequence[str],
) -> list[WordReport]:
    """The report of every source word, in order; a class is "" where none is known."""
    shares = found_shares(pair.reference, hypothesis)
    survived = survival(pair, hypothesis)
    targets: list[list[int]] = [[] for _ in source]
    for i, j in sorted(set(pair.links)):
        targets[i].append(j)
    return [
        WordReport(
            word,
            word_class,
            float(share) if own else None,
            tuple(pair.reference[j] for j in own),
            tuple(pair.reference[j] for j in own if shares[j] > 0),
        )
        for word, word_class, share, own in zip(source, classes, survived, targets, strict=True)
    ]
