"""A user's sentence through trained runs, as the slide L-LOST shows one: what each arm kept of it.

If the sentence is of the run's own language, its reference and their links are known. Otherwise the
output itself is aligned to the sentence by IBM model 1 of the first 20,000 training pairs.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from rich.table import Table
from rich.text import Text

from ..corpus.grammar import FUNCTION, english_french, word_class
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import is_word, plain, tokenize
from ..settings.concerns import CorpusSettings
from ..tables.page import Page
from ..tables.render import new_table
from .question import Tell
from .subject import open_subject
from .word_survival import (
    IBM1,
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

TAUGHT = 20_000
"""Training pairs at most that teach IBM model 1, so that it takes seconds."""
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
    sentence on what decided a word's fate. ``unknown`` are words that training never had.
    """

    sentence: str
    words: int
    reference: str | None
    judged_by: str
    unknown: tuple[str, ...]
    arms: Mapping[str, tuple[str, Sequence[WordReport]]]


def diagnose(sentence: str, runs: Mapping[str, Path], tell: Tell) -> Diagnosis:
    """Put a sentence through runs of one corpus, by arm, in the order of ``runs``.

    ``tell`` is called before what takes long: without a reference a model of the text is trained.
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
        tell("no reference: learning from the run's training text which word is which")
        model = lexicon(first.corpus.train[:TAUGHT])
        judge = partial(aligned_reports, model, tokens, classes)
        judged_by = (
            "No reference is known for this sentence: a word counts as kept if IBM model 1, "
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
    )


def reference_of(source: str, corpus: CorpusSettings) -> SentencePair | None:
    """The pair of a sentence that is of the corpus' own language; None for any other sentence."""
    if corpus.name == "copy":
        words, known = source.split(), {f"w{number}" for number in range(corpus.copy_words)}
        links = tuple((place, place) for place in range(len(words)))
        return SentencePair(source, source, links) if known.issuperset(words) else None
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
    unknown, lines = ", ".join(diagnosis.unknown), [f"Sentence: {length}.", *notes]
    for arm, (output, _) in diagnosis.arms.items():
        lines.append(f"Arm {arm}: {_survived(frame[arm], frame['class'])}. Output: {output}")
    lines.append(diagnosis.judged_by)
    if unknown:
        lines.append(
            f"Not in the training vocabulary, so the same unknown word to every arm: {unknown}."
        )
    lines.append(
        "+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged, because "
        "the reference, or the training text, has no word for it. Function words are often there "
        "by chance."
    )
    title = "Survived and lost, word by word (C3, L-LOST)"
    picture = _picture(title, frame, list(diagnosis.arms), diagnosis.reference)
    return Page("diagnosis", title, frame, picture, [], lines)


def _survived(fates: pd.Series, classes: pd.Series) -> str:
    """``2 of 3 content words survived; 4 of 7 words survived``; the first if classes are known."""
    judged = fates != UNLINKED
    content = judged & (classes != "") & ~classes.isin(FUNCTION)
    return "; ".join(
        f"{(fates[inside] == SURVIVED).sum()} of {inside.sum()} {name} survived"
        for name, inside in {"content words": content, "words": judged}.items()
        if inside.any()
    )


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
