"""Which sentences a test set may hold, by their source words; what is left out is counted."""

from collections.abc import Iterable

from ..settings.buckets import span_label
from ..settings.concerns import CorpusSettings
from ..settings.text import counted
from .pair import SentencePair

Pairs = list[SentencePair]


def within_test(pairs: Iterable[SentencePair], corpus: CorpusSettings) -> Pairs:
    """The pairs of lengths to test on: all, where ``corpus`` sets no bound."""
    least, most = corpus.test_min_words, corpus.test_max_words
    return [
        pair
        for pair in pairs
        if (least is None or least <= pair.words) and (most is None or pair.words <= most)
    ]


def left_out(count: int, corpus: CorpusSettings) -> tuple[str, ...]:
    """The note on as many pairs outside the bounds; none for a count of 0."""
    if not count:
        return ()
    least, most = corpus.test_min_words, corpus.test_max_words
    if most is None:
        return (f"{counted(count, 'pair')} under {least} words left out of the test set",)
    span = span_label(1 if least is None else least, most)
    return (f"{counted(count, 'pair')} outside {span} words left out of the test set",)
