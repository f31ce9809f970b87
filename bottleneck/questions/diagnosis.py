"""A user's sentence through trained runs, as the slide L-LOST shows one: what each arm kept of it.

If the sentence is of the run's own language, its reference and their links are known. Otherwise the
output itself is aligned to the sentence by IBM model 1 of the run's training text. Making that text
and learning from it takes a minute of the preset lecture, so the model is kept beside the compiled
programs, named by the text's fingerprint. A file that cannot be read is learned again.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count as counting
from pathlib import Path

import numpy as np
import pandas as pd
from rich.table import Table
from rich.text import Text
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ..corpus.grammar import FUNCTION, english_french, word_class
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import is_word, plain, tokenize
from ..results.folders import ENVIRONMENT, damaged, read_object
from ..settings.concerns import CorpusSettings
from ..settings.errors import UserError
from ..settings.files import write_bytes
from ..settings.machine import cache_root
from ..tables.page import Page
from ..tables.render import new_table
from .question import Tell
from .subject import Subject, open_subject
from .word_survival import (
    IBM1,
    LEXICON_PAIRS,
    LOST,
    PARTLY,
    SURVIVED,
    UNLINKED,
    LinkedReference,
    Tokens,
    WordReport,
    lexicon,
    word_reports,
)

LEAST = 0.1
"""The translation probability from which a word of the output vouches for one of the source."""
FATES = {
    SURVIVED: ("+", "green", "{}"),
    PARTLY: ("~", "yellow", "({})"),
    LOST: ("-", "red", "[{}]"),
    UNLINKED: ("?", "dim", "{}?"),
}
"""Of each fate its mark in the table of words, its style, and a word of it in a sentence."""


@dataclass(frozen=True)
class Diagnosis:
    """A sentence through some arms: of each the output, and the report of every source word.

    ``words`` is its length, ``reference`` its translation if that is known, ``judged_by`` a
    sentence on what decided a word's fate. ``unknown`` are words that training never had,
    ``longest_trained`` is the length in words at which training ended, None if nobody knows.
    """

    sentence: str
    words: int
    reference: str | None
    judged_by: str
    unknown: tuple[str, ...]
    arms: Mapping[str, tuple[str, Sequence[WordReport]]]
    longest_trained: int | None = None


def diagnose(sentence: str, runs: Mapping[str, Path], tell: Tell) -> Diagnosis:
    """Put a sentence through runs of one corpus, by arm, in the order of ``runs``.

    ``tell`` is called before what takes long: without a reference a model of the text is learned.
    """
    subjects = {arm: open_subject(folder) for arm, folder in runs.items()}
    first = next(iter(subjects.values()))
    corpus, source = first.settings.corpus, first.trained.prepare(sentence)
    tokens, pair = tokenize(source), reference_of(source, corpus)
    classes = [""] * len(tokens)
    for place, token in enumerate(tokens if corpus.has_classes else ()):
        with suppress(KeyError):
            classes[place] = word_class(token)
    if pair:
        judge = partial(word_reports, tokens, classes, LinkedReference.of(pair, pair.links))
        judged_by = (
            "A word survives if the output has the reference's words for it; the reference and its "
            "links are those of the run's own language."
        )
    else:
        judge = partial(aligned_reports, lexicon_of(first, tell), tokens, classes)
        parsed = corpus.name == "copy" or corpus.has_classes
        why = ", which is not of the run's own language" if parsed else ""
        judged_by = (
            f"No reference is known for this sentence{why}: a word counts as kept if IBM model 1, "
            "trained on the run's training pairs, aligns a word of the output to it with a "
            f"probability of {LEAST:g} or more. That finds some translation of the word, not the "
            "right one."
        )
    arms = {}
    for arm, subject in subjects.items():
        (output,) = subject.trained.translate([sentence])
        arms[arm] = output, [item for item in judge(tokenize(output)) if is_word(item.word)]
    return Diagnosis(
        sentence=source,
        words=len(source.split()),
        reference=pair.target if pair else None,
        judged_by=judged_by,
        unknown=tuple(filter(is_word, first.trained.unknown(sentence))),
        arms=arms,
        longest_trained=corpus.longest_trained,
    )


def reference_of(source: str, corpus: CorpusSettings) -> SentencePair | None:
    """The pair of a sentence that is of the corpus' own language; None for any other sentence."""
    if corpus.name == "copy":
        matches = [re.fullmatch(r"w(0|[1-9]\d*)", word) for word in source.split()]
        copied = all(match and int(match[1]) < corpus.copy_words for match in matches)
        links = tuple((place, place) for place in range(len(matches)))
        return SentencePair(source, source, links) if copied else None
    return english_french(corpus.lexicon).parse(source) if corpus.has_classes else None


def aligned_reports(
    model: IBM1, source: Tokens, classes: Sequence[str], output: Tokens
) -> list[WordReport]:
    """Word reports without a reference: the output itself is aligned to the source.

    A word survives (1, else 0) if IBM model 1 takes it for the likeliest source of a word of the
    output, and t(output word | word) is `LEAST` or more; a word that the model never saw has None.
    """
    (links,) = model.align([(source, output)])
    table, reports = model.table(source, output), []
    for i, (word, kind) in enumerate(zip(source, classes, strict=True)):
        likely = (j for place, j in sorted(links) if place == i and table[j, i + 1] >= LEAST)
        found = tuple(output[j] for j in likely)
        share = float(bool(found)) if word in model.source_ids else None
        reports.append(WordReport(word, kind, share, (), found))
    return reports


def lexicon_of(subject: Subject, tell: Tell) -> IBM1:
    """The model of the run's training pairs; ``tell`` is called if it has to be learned.

    Raises UserError for a run that does not say which text it was trained on.
    """
    environment = subject.folder / ENVIRONMENT
    fingerprint = read_object(environment).get("fingerprint")
    if not isinstance(fingerprint, str) or not fingerprint:
        raise damaged(environment, "it has no fingerprint of the text")
    # "2" changes with whatever changes the model that a text gives: tokens, training, the file.
    name = hashlib.sha256(f"2 {fingerprint}".encode()).hexdigest()[:16]
    root = cache_root()
    path = root and root / "lexicons" / f"{name}.safetensors"
    if path is not None:
        with suppress(OSError, SafetensorError, KeyError, ValueError):
            stored = load(path.read_bytes())
            source, target = (
                stored[side].tobytes().decode().split("\n") for side in ("source", "target")
            )
            numbers = dict(zip(source, counting(1))), dict(zip(target, counting()))
            return IBM1(*numbers, stored["keys"], stored["probabilities"])
    pairs = min(subject.settings.corpus.train_pairs, LEXICON_PAIRS)
    tell(
        f"no reference: learning which word is which from up to {pairs:,} training pairs "
        "(a minute or two, once for this text)"
    )
    model = lexicon(subject.corpus.train)
    if path is not None:
        ids = {"source": model.source_ids, "target": model.target_ids}
        tensors = {name: np.frombuffer("\n".join(ids[name]).encode(), np.uint8) for name in ids}
        tensors |= {"keys": model.keys.astype(np.int64), "probabilities": model.probabilities}
        with suppress(UserError):  # no room or no right to write there: it is learned again
            write_bytes(path, save(tensors))
    return model


def diagnosis_page(diagnosis: Diagnosis, length: str, notes: Sequence[str] = ()) -> Page:
    """The page of a diagnosis; ``length`` is the sentence's in words, as a reader sees it."""
    # One row per source word: its class and reference; of each arm fate, share and words found.
    columns = {}
    for arm, (_, reports) in diagnosis.arms.items():
        keys = {"word": "word", "class": "word_class", "reference": "targets",
                arm: "fate", f"{arm}_share": "share", f"{arm}_found": "found"}  # fmt: skip
        columns |= {name: [getattr(item, key) for item in reports] for name, key in keys.items()}
    frame = pd.DataFrame(columns | {"word": list(map(plain, columns["word"]))})
    frame = frame.map(lambda cell: plain(" ".join(cell)) if isinstance(cell, tuple) else cell)
    end, unknown = diagnosis.longest_trained, ", ".join(diagnosis.unknown)
    lines = [f"Sentence: {length}."]
    if end is not None and diagnosis.words > end:
        lines.append(f"Longer than any sentence of training, which ended at {end} words.")
    lines += notes
    for arm, (output, _) in diagnosis.arms.items():
        lines.append(f"Arm {arm}: {_survived(frame[arm], frame['class'])}. Output: {output}")
    lines.append(diagnosis.judged_by)
    if unknown:
        lines.append(
            f"Not in the training vocabulary, so the same unknown word to every arm: {unknown}."
        )
    known = diagnosis.reference is not None
    lack = "the reference has no word for it" if known else "training did not have the word"
    lines.append(
        "+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged, because "
        f"{lack}. Function words are often there by chance."
    )
    title = "Survived and lost, word by word (C3, L-LOST)"
    picture = _picture(title, frame, list(diagnosis.arms), diagnosis.reference)
    return Page("diagnosis", title, frame, picture, [], lines)


def _survived(fates: pd.Series, classes: pd.Series) -> str:
    """``2 of 3 content words survived; 4 of 7 words in all survived and 1 in part``."""
    judged = fates != UNLINKED
    content = judged & ~classes.isin(FUNCTION)
    kinds = {"content words": content, "words in all": judged}
    if not content.any():
        kinds = {"function words": judged}
    elif content.equals(judged) or (classes[judged] == "").all():
        kinds = {"words": judged}
    clauses = []
    for name, inside in kinds.items():
        whole, part = ((fates[inside] == fate).sum() for fate in (SURVIVED, PARTLY))
        parts = f" and {part} in part" if part else ""
        clauses.append(f"{whole} of {inside.sum()} {name} survived{parts}")
    return "; ".join(clauses)


def _picture(title: str, frame: pd.DataFrame, arms: Sequence[str], reference: str | None) -> Table:
    """Each arm's sentence, its lost words marked; below it one row per source word."""
    sentences = Table.grid(padding=(0, 2, 0, 0))
    sentences.add_column()
    sentences.add_column(max_width=84)
    heads = ["word", "class"]
    if reference is not None:
        sentences.add_row("reference", Text(reference))
        heads.append("reference")
    for arm in arms:
        words = zip(map(FATES.get, frame[arm]), frame["word"], strict=True)
        marked = [Text(form.format(word), style) for (_, style, form), word in words]
        sentences.add_row(arm, Text(" ").join(marked))
    table = new_table("", [*heads, *arms], texts=len(heads) + len(arms))
    table.title = None
    for row in frame.to_dict("records"):
        cells = [Text(row[head]) for head in heads]
        for arm in arms:
            mark, style, _ = FATES[row[arm]]
            text = row[f"{arm}_found"] if row[arm] in (SURVIVED, PARTLY) else row[arm]
            cells.append(Text(f"{mark} {text}", style))
        table.add_row(*cells)
    grid = Table.grid()
    for part in (Text(title, "bold"), sentences, table):
        grid.add_row(part)
    return grid
