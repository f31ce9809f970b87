"""C7 on a gold set of the user: three files with links, source sentences and target sentences.

Spaces separate the words of the files. Tokens such as ``l' homme ,`` become running text, which the
run's own tokenizer reads. Sentences with an empty side do not count.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

from ..corpus.files import read_lines
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import JOINER, WORDS, tokenize
from ..results.schema import GOLD
from ..settings.concerns import UNSELECTIVE
from ..settings.errors import UsageError, UserError
from . import alignment
from .alignment import LinkedPair
from .ibm1 import train, words_of
from .question import Probed, Tell


def probe_gold(run: Path, sentences: Sequence[LinkedPair], tell: Tell) -> Probed:
    """Compare a run's weights with the gold links, in lower case if its text is."""
    from .subject import Subject

    tell(f"{run.name}: reading the gold set")
    subject = Subject(run, tell=tell)
    model = train(map(words_of, subject.corpus.train))
    corpus, pairs = subject.settings.corpus, []
    lower = corpus.lowercase or corpus.name == "grammar"
    for item in filter(lambda item: all(item.words), sentences):
        source, target = (
            [WORDS.text(tokenize(word.lower() if lower else word)) for word in words]
            for words in item.words
        )
        texts = running_text(source, model.source_ids), running_text(target, model.target_ids)
        pairs.append(item._replace(pair=SentencePair(*texts), words=(source, target)))
    sources, trained = [item.pair.source for item in pairs], subject.trained
    unknown, tokens = trained.unknown(sources)
    if unknown:
        tell(f"{len(unknown):,} of {tokens:,} source tokens are not in the training vocabulary")
    return Probed(run, subject.settings, alignment.measure(subject, pairs, model))


def running_text(words: Sequence[str], vocabulary: Container[str]) -> str:
    """Tokens as running text; ``vocabulary`` are the word tokens of the training text."""
    tokens = []
    for word in words:
        if word in ("(", "[", "{") or (len(word) > 1 and word.endswith(("'", "’"))):
            word += JOINER
        elif word.startswith(("'", "’")) or not (word in vocabulary or any(map(str.isalnum, word))):
            word = JOINER + word
        tokens.append(word)
    return WORDS.text(tokens)


def read_gold(
    gold: Path, source: Path, target: Path, first_word: int | None = None
) -> tuple[list[LinkedPair], int]:
    """The sentences of the files, and the number of a sentence's first word, 0 or 1.

    A link is ``0-0`` (sure), ``0?0`` or ``0p0`` (possible), source first. Without ``first_word``
    the links decide: one with a 0 counts from 0, one beyond its sentence's last word from 1.
    """
    files = {"--gold": gold, "--source": source, "--target": target}
    texts = {
        option: [normalize("NFC", line) for line in read_lines(str(path), option)]
        for option, path in files.items()
    }
    if len(set(map(len, texts.values()))) > 1:
        counts = ", ".join(f"{option} has {len(text)}" for option, text in texts.items())
        raise UserError(f"the files need the same number of lines, one per sentence: {counts}")
    lines = [
        (line.split(), (a.split(), b.split())) for line, a, b in zip(*texts.values(), strict=True)
    ]
    link = re.compile(r"(\d{1,9})([-?p])(\d{1,9})", re.ASCII)
    if first_word is None:
        places = [
            (int(place), len(side))
            for entries, words in lines
            for match in filter(None, map(link.fullmatch, entries))
            for place, side in zip(match.group(1, 3), words, strict=True)
        ]
        zero = not places or any(place == 0 for place, _ in places)
        if not (zero or any(place >= length for place, length in places)):
            raise UsageError("--gold may count from 0 or 1: give --first-word 0 or --first-word 1")
        first_word = 0 if zero else 1
    sentences = []
    for number, (entries, words) in enumerate(lines, 1):
        sure, possible = set(), set()
        for entry in entries:
            match = link.fullmatch(entry)
            i, j = (int(place) - first_word for place in match.group(1, 3)) if match else (-1, -1)
            if not (0 <= i < len(words[0]) and 0 <= j < len(words[1])):
                raise UserError(
                    f"--gold {str(gold)!r} line {number}: {entry!r} is not a link in a sentence of "
                    f"{len(words[0])} source and {len(words[1])} target words; write i-j (sure) or "
                    f"i?j or ipj (possible), source first, counted from {first_word} (--first-word)"
                )
            possible.add((i, j))
            sure |= {(i, j)} if match[2] == "-" else set()
        pair = SentencePair(*map(" ".join, words))
        sentences.append(LinkedPair(pair, words, frozenset(sure), frozenset(possible)))
    return sentences, first_word


QUESTION = replace(
    alignment.QUESTION,
    name=GOLD,
    title="Alignment (C7): attention weights against the user's gold links",
    suits=lambda settings: settings.model.attention not in UNSELECTIVE,
    over="sentences of the gold set",
)
