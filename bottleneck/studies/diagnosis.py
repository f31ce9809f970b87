"""A user's sentence through trained runs, and which of its words their outputs kept."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..corpus.pair import SentencePair
from ..corpus.tokens import is_word, plain, tokenize
from ..probes.diagnosis import LEAST, Diagnosed, Diagnosis, aligned_reports
from ..probes.survival import LinkedReference
from ..probes.word_report import WordReport, word_reports
from ..questions.question import Tell
from ..questions.subject import Subject, open_subject
from ..settings.concerns import CorpusSettings
from .lexicon import lexicon_of

GOLD = (
    "A word survives where the words that the reference has for it stand in the output: the "
    "reference and its links are the run's own language's."
)
ALIGNED = (
    "No reference is known for this sentence{why}: a word counts as kept where IBM model 1, "
    "trained on the run's training pairs, aligns a word of the output to it with a probability of "
    f"{LEAST:g} or more. That finds some translation of the word, not the right one."
)
Judge = Callable[[Sequence[str]], list[WordReport]]
"""From the tokens of an output to the fate of every source token."""


def diagnose(sentence: str, runs: Mapping[str, Path], tell: Tell) -> Diagnosis:
    """Put a sentence through runs of one corpus, by arm; arms are told in the order of ``runs``.

    ``tell`` hears of what takes long: without a reference the training text is learned from.
    """
    subjects = {arm: open_subject(folder) for arm, folder in runs.items()}
    first = next(iter(subjects.values()))
    source = first.trained.prepare(sentence)
    pair = reference_of(source, first.settings.corpus)
    judge = _judge(first, source, pair, tell)
    return Diagnosis(
        sentence=source,
        words=len(source.split()),
        reference=pair.target if pair else None,
        judged_by=GOLD if pair else ALIGNED.format(why=_why(first.settings.corpus)),
        unknown=tuple(filter(is_word, first.trained.unknown(sentence))),
        arms=tuple(_diagnosed(arm, each, sentence, judge) for arm, each in subjects.items()),
        longest_trained=first.settings.corpus.longest_trained,
    )


def reference_of(source: str, corpus: CorpusSettings) -> SentencePair | None:
    """The pair of a sentence that is of the corpus' own language; None where nothing says so."""
    if corpus.name == "copy":
        words = source.split()
        copied = all(_is_copy_word(word, corpus.copy_words) for word in words)
        links = tuple((place, place) for place in range(len(words)))
        return SentencePair(source, source, links) if copied else None
    if corpus.has_classes:
        # Imported here, so that other corpora do not pay for building the grammar.
        from ..corpus.grammar import english_french

        return english_french(corpus.lexicon).parse(source)
    return None


def _is_copy_word(word: str, words: int) -> bool:
    return re.fullmatch(r"w(0|[1-9]\d*)", word) is not None and int(word[1:]) < words


def _why(corpus: CorpusSettings) -> str:
    parsed = corpus.name == "copy" or corpus.has_classes
    return ", which is not of the run's own language" if parsed else ""


def _judge(subject: Subject, source: str, pair: SentencePair | None, tell: Tell) -> Judge:
    """By gold links where there are any."""
    tokens = tokenize(source)
    classes = [_class(token, subject.settings.corpus) for token in tokens]
    if pair is None:
        return partial(aligned_reports, lexicon_of(subject, tell), tokens, classes)
    linked = LinkedReference(len(tokens), tuple(tokenize(pair.target)), pair.links)
    return partial(word_reports, tokens, classes, linked)


def _class(token: str, corpus: CorpusSettings) -> str:
    """The grammar's class of a word; empty where it has none."""
    if not corpus.has_classes:
        return ""
    from ..corpus.grammar import word_class

    try:
        return word_class(token)
    except KeyError:
        return ""


def _diagnosed(arm: str, subject: Subject, sentence: str, judge: Judge) -> Diagnosed:
    """One arm's output and what it kept; punctuation is left out, joiners are taken off."""
    (output,) = subject.trained.translate([sentence])
    held = [_readable(each) for each in judge(tokenize(output)) if is_word(each.word)]
    return Diagnosed(arm, output, tuple(held))


def _readable(report: WordReport) -> WordReport:
    texts = {name: tuple(map(plain, getattr(report, name))) for name in ("targets", "found")}
    return replace(report, word=plain(report.word), **texts)
