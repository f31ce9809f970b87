"""C7 on the user's own gold set: sentences that people linked word by word.

The words are those between the spaces of the files. A gold set often stands in tokens (``l' homme
,``): its sentences are put back into running text, which a run reads as any other text. Where the
run's tokens are finer than the words, their weights are put together word by word
(`corpus.subwords`).
"""

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..corpus.files import read_lines
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import JOINER, detokenize, tokenize
from ..results.schema import GOLD
from ..settings.errors import UserError, counted
from . import alignment
from .alignment import LinkedPair, Links
from .arms import arms_of
from .question import Columns, Probed, Row, Tell

if TYPE_CHECKING:
    from .subject import Subject

GoldSentence = tuple[list[str], list[str], Links, Links]
"""The words of both sides, and their links: sure ones, and possible ones with those."""


def read_gold(gold: Path, source: Path, target: Path, base: int) -> list[GoldSentence]:
    """Read the three files, line by line; what does not fit together is a UserError.

    ``base`` is the number of the first word, 0 or 1.
    """
    files = {"--gold": gold, "--source": source, "--target": target}
    texts = {option: read_lines(str(path), option) for option, path in files.items()}
    if len(set(map(len, texts.values()))) > 1:
        counts = ", ".join(
            f"{option} {str(path)!r} has {counted(len(texts[option]), 'line')}"
            for option, path in files.items()
        )
        raise UserError(f"{counts}: give files of as many lines, one for each sentence")
    sentences = []
    for number, (line, *both) in enumerate(zip(*texts.values(), strict=True), 1):
        ours, theirs = (text.split() for text in both)
        where = f"--gold {str(gold)!r} line {number}"
        sentences.append((ours, theirs, *parse_links(line, where, len(ours), len(theirs), base)))
    return sentences


def parse_links(
    line: str, where: str, source_words: int, target_words: int, base: int
) -> tuple[Links, Links]:
    """The sure and the possible links of a line: ``0-0 1?2``, source first, ``-`` sure.

    UserError, which starts with ``where``, for what is no link of the sentence.
    """
    sure, possible = set(), set()
    for entry in line.split():
        match = re.fullmatch(r"(\d{1,9})([-?])(\d{1,9})", entry, re.ASCII)
        if match is None:
            raise UserError(f"{where}: {entry!r} is no link; write i-j (sure) or i?j (possible)")
        i, j = int(match[1]) - base, int(match[3]) - base
        if min(i, j) < 0:
            raise UserError(
                f"{where}: {entry!r} counts from 0, but the file is read as 1-based; leave "
                "--first-word out"
            )
        if i >= source_words or j >= target_words:
            raise UserError(
                f"{where}: {entry!r} is outside a sentence of {source_words} source and "
                f"{target_words} target words; check the tokens, which side is first, and whether "
                "the file counts from 0 or 1"
            )
        possible.add((i, j))
        sure |= {(i, j)} if match[2] == "-" else set()
    return frozenset(sure), frozenset(possible)


def probe_gold(subject: "Subject", sentences: Sequence[GoldSentence], tell: Tell) -> Columns:
    """The probe's columns for the gold set, and the share of tokens that the run does not know.

    Sentences without links are left out; UserError where no other is there.
    """
    sentences = [sentence for sentence in sentences if sentence[3]]
    if not sentences:
        raise UserError("no sentence of --gold has links; write i-j (sure) or i?j (possible)")
    model = alignment.train_ibm1(subject, tell)
    corpus = subject.settings.corpus
    lower = corpus.lowercase or corpus.name == "grammar"
    pairs = []
    for *both, sure, possible in sentences:
        source, target = (
            [detokenize(tokenize(word.lower() if lower else word)) for word in words]
            for words in both
        )
        texts = running_text(source, model.source_ids), running_text(target, model.target_ids)
        pairs.append(LinkedPair(SentencePair(*texts), source, target, sure, possible))
    columns = alignment.measure(subject, pairs, model, tell)
    for side, vocabulary in zip(("source", "target"), subject.vocabularies, strict=True):
        pieces = [vocabulary.pieces(getattr(item.pair, side)) for item in pairs]
        columns[f"unknown_{side}"] = np.full(len(pairs), vocabulary.unknown_rate(pieces))
    return columns


def running_text(words: Sequence[str], known: Container[str]) -> str:
    """Words that may be tokens as running text.

    A sign is glued to its left unless it is known to stand alone, "(" and "l'" are glued to their
    right, "'s" to its left. ``known`` are the word tokens of the training text.
    """
    tokens = []
    for word in words:
        if word in ("(", "[", "{") or (len(word) > 1 and word.endswith(("'", "’"))):
            tokens.append(word + JOINER)
        elif word.startswith(("'", "’")) or not (word in known or any(map(str.isalnum, word))):
            tokens.append(JOINER + word)
        else:
            tokens.append(word)
    return detokenize(tokens)


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """The rows of the question, with what the runs did not know as a note."""
    notes = {}
    for arm in arms_of(probed):
        source, target = (
            100 * arm.runs[0].found[f"unknown_{side}"][0] for side in ("source", "target")
        )
        notes[arm.name] = (
            f"{arm.name}: unknown to the run are {source:.1f} % of the source and {target:.1f} % "
            "of the target tokens"
        )
    rows = alignment.summarise(probed, outside=True)
    return [row | {"note": notes[row["arm"]]} for row in rows]


def notes(frame: pd.DataFrame) -> list[str]:
    """The question's notes, and what the runs do not know of the gold set's words."""
    unknown = [f"{note}." for note in dict.fromkeys(frame["note"]) if note]
    return [*alignment.notes(frame), *unknown]


TITLE = "Alignment (C7): attention weights against the user's gold links"

QUESTION = replace(
    alignment.QUESTION,
    name=GOLD,
    title=TITLE,
    summarise=summarise,
    suits=alignment.attends,
    notes=notes,
    grids=[replace(alignment.QUESTION.grids[0], title=f"{TITLE}; AER, %")],
    figure="Do the attention weights align the words of the user's gold set?",
    counted="sentences of the gold set",
)
