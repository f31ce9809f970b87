"""Sentences of a run's own language that it was neither trained, chosen nor tested on."""

from random import Random

from ..corpus.drawing import (
    Copying,
    Reversed,
    SentenceSource,
    draw_pairs,
    length_groups,
    length_probabilities,
)
from ..corpus.pair import SentencePair, sources
from ..settings.buckets import OUTSIDE, bucket_of
from ..settings.concerns import CorpusSettings
from ..settings.errors import UserError
from .subject import Subject

Pairs = tuple[SentencePair, ...]


def fresh_sentences(subject: Subject, wanted: int) -> list[Pairs]:
    """For each length bucket so many new sentences, none twice; the same for every run of a corpus.

    Real text holds no new ones: there it is at most so many of their test and validation sentences.
    Raises UserError where the language has too few.
    """
    corpus, edges = subject.settings.corpus, subject.settings.scoring.lower_edges
    if not corpus.is_drawn:
        return _held_out(subject.corpus.test + subject.corpus.valid, edges, wanted)
    known = frozenset().union(*map(sources, subject.corpus.splits.values()))
    try:
        return _drawn(_language(corpus), corpus, edges, wanted, known)
    except UserError as error:
        raise UserError(
            f"corpus {corpus.name!r} has no {wanted:,} sentences per bucket that the run has not "
            f"seen ({str(error).split(';')[0]}); choose runs of longer sentences with --where"
        ) from None


def _held_out(pairs: Pairs, edges: tuple[int, ...], wanted: int) -> list[Pairs]:
    buckets: list[list[SentencePair]] = [[] for _ in edges]
    for pair in pairs:
        place = bucket_of(pair.words, edges)
        if place != OUTSIDE:
            buckets[place].append(pair)
    return [tuple(bucket[:wanted]) for bucket in buckets]


def _language(corpus: CorpusSettings) -> SentenceSource:
    if corpus.name == "copy":
        return Copying(corpus.copy_words)
    # Imported here, so that other corpora do not pay for building the grammar.
    from ..corpus.grammar import english_french

    grammar = english_french(corpus.lexicon)
    return Reversed(grammar) if corpus.reverse_direction else grammar


def _drawn(
    language: SentenceSource,
    corpus: CorpusSettings,
    edges: tuple[int, ...],
    wanted: int,
    known: frozenset[str],
) -> list[Pairs]:
    """Lengths within a bucket are as probable as in the run's own test set."""
    shortest, longest = corpus.min_words, corpus.max_words
    chances = length_probabilities(corpus.lengths, shortest, longest, edges, language.weight)
    buckets: list[Pairs] = [()] * len(edges)
    for group in length_groups(shortest, longest, edges):
        place, lengths = bucket_of(group[0], edges), [words for words in group if words in chances]
        if place != OUTSIDE and lengths:
            random = Random(f"{corpus.seed}:fresh:{group[0]}")
            buckets[place] = draw_pairs(
                language, wanted, chances, random, lengths, known, distinct=True
            )
    return buckets
