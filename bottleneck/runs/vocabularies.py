"""The vocabularies in a run's folder: one token a line, and for subwords sentencepiece's file.

Words need no more than their list. ``source.subwords.model`` and ``target.subwords.model`` are what
sentencepiece itself reads and writes.
"""

from pathlib import Path

from ..corpus.subwords import Subwords
from ..corpus.tokens import WORDS, Tokenizer
from ..corpus.vocabulary import Vocabulary
from ..results.folders import (
    SOURCE_SUBWORDS,
    SOURCE_VOCABULARY,
    TARGET_SUBWORDS,
    TARGET_VOCABULARY,
    damaged,
    read_checked,
)
from ..settings.atomic import write_bytes
from ..settings.concerns import CorpusSettings

Vocabularies = tuple[Vocabulary, Vocabulary]
"""Source and target."""

_FILES = ((SOURCE_VOCABULARY, SOURCE_SUBWORDS), (TARGET_VOCABULARY, TARGET_SUBWORDS))


def save_vocabularies(folder: Path, vocabularies: Vocabularies) -> None:
    """Write both sides, each file whole or not at all."""
    for (name, model), vocabulary in zip(_FILES, vocabularies, strict=True):
        write_bytes(folder / name, vocabulary.to_bytes())
        if isinstance(vocabulary.tokenizer, Subwords):
            write_bytes(folder / model, vocabulary.tokenizer.model)


def load_vocabularies(folder: Path, corpus: CorpusSettings) -> Vocabularies:
    """Read what ``save_vocabularies`` wrote; a missing or damaged file is a UserError."""
    source, target = (
        _vocabulary(folder / name, _tokenizer(folder / model, corpus)) for name, model in _FILES
    )
    return source, target


def _vocabulary(path: Path, tokenizer: Tokenizer) -> Vocabulary:
    try:
        return Vocabulary.from_bytes(read_checked(path), tokenizer)
    except (OSError, ValueError) as error:
        raise damaged(path, error) from None


def _tokenizer(path: Path, corpus: CorpusSettings) -> Tokenizer:
    if corpus.tokens == "words":
        return WORDS
    try:
        subwords = Subwords(read_checked(path))
        subwords.check()
    except (OSError, ValueError) as error:
        raise damaged(path, error) from None
    return subwords
