"""A user's sentence through trained runs, as the slide L-LOST shows one: what each arm kept of it.

If the sentence is not of the run's own language, the output itself is aligned to it by IBM model 1.
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
from ..corpus.vocabulary import count_words, is_word, plain, tokenize
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
    """A sentence through some arms: of each the output, and the report of every source word."""

    sentence: str
    words: int
    reference: str | None
    judged_by: str
    unknown: tuple[str, ...]
    arms: Mapping[str, tuple[str, Sequence[WordReport]]]


def diagnose(sentence: str, runs: Mapping[str, Path], tell: Tell) -> Diagnosis:
    """Put a sentence through runs of one corpus, by arm."""
    subjects = {arm: open_subject(folder) for arm, folder in runs.items()}
    first = next(iter(subjects.values()))
    corpus, source = first.settings.corpus, first.trained.prepare(sentence)
    tokens, pair = tokenize(source), None
    classes = [""] * len(tokens)
    if corpus.has_classes:
        pair = english_french(corpus.lexicon).parse(source)
        for place, token in enumerate(tokens):
            with suppress(KeyError):
                classes[place] = word_class(token)
    if pair:
        judge = partial(word_reports, tokens, classes, LinkedReference.of(pair, pair.links))
        judged_by = "A word survives if the output has the words of the language's own reference."
    else:
        tell("no reference: learning from the run's training text which word is which")
        model = lexicon(first.corpus.train)
        judge = partial(aligned_reports, model, tokens, classes)
        judged_by = (
            "No reference is known for this sentence: a word counts as kept if IBM model 1, "
            "trained on the run's training pairs, aligns a word of the output to it with a "
            f"probability of {LEAST:g} or more."
        )
    arms = {}
    for arm, subject in subjects.items():
        (output,) = subject.trained.translate([sentence])
        arms[arm] = output, [item for item in judge(tokenize(output)) if is_word(item.word)]
    unknown = tuple(filter(is_word, first.trained.unknown(sentence)))
    reference = pair.target if pair else None
    return Diagnosis(source, count_words(source), reference, judged_by, unknown, arms)


def aligned_reports(
    model: IBM1, source: Tokens, classes: Sequence[str], output: Tokens
) -> list[WordReport]:
    """Word reports without a reference: a word survives if a word of the output comes from it."""
    (links,) = model.align([(source, output)])
    table, reports = model.table(source, output), []
    for i, (word, kind) in enumerate(zip(source, classes, strict=True)):
        likely = [j for place, j in sorted(links) if place == i and table[j, i + 1] >= LEAST]
        share = float(bool(likely)) if word in model.source_ids else None
        reports.append(WordReport(word, kind, share, (), tuple(output[j] for j in likely)))
    return reports


def diagnosis_page(diagnosis: Diagnosis, length: str, notes: Sequence[str] = ()) -> Page:
    """Each arm's sentence, its lost words marked, and a row for each source word."""
    title = "Survived and lost, word by word (C3, L-LOST)"
    sentences, heads = Table.grid(padding=(0, 2, 0, 0)), ["word", "class"]
    sentences.add_column()
    sentences.add_column(max_width=84)
    if diagnosis.reference is not None:
        sentences.add_row("reference", Text(diagnosis.reference))
        heads.append("reference")
    lines, columns = [f"Sentence: {length}.", *notes], {}
    for arm, (output, reports) in diagnosis.arms.items():
        columns |= {
            "word": [plain(item.word) for item in reports],
            "class": [item.word_class for item in reports],
            "reference": [plain(" ".join(item.targets)) for item in reports],
            arm: [item.fate for item in reports],
            f"{arm}_share": [item.share for item in reports],
            f"{arm}_found": [plain(" ".join(item.found)) for item in reports],
        }
        words = zip(map(FATES.get, columns[arm]), columns["word"], strict=True)
        marked = [Text(form.format(word), style) for (_, style, form), word in words]
        sentences.add_row(arm, Text(" ").join(marked))
        judged = [item for item in reports if item.fate != UNLINKED]
        content = [item for item in judged if item.word_class not in ("", *FUNCTION)]
        counts = [
            f"{sum(item.fate == SURVIVED for item in items)} of {len(items)} {name} survived"
            for name, items in {"content words": content, "words": judged}.items()
            if items
        ]
        lines.append(f"Arm {arm}: {'; '.join(counts)}. Output: {output}")
    table = new_table("", [*heads, *diagnosis.arms], texts=len(heads) + len(diagnosis.arms))
    table.title = None
    frame = pd.DataFrame(columns)
    for row in frame.to_dict("records"):
        cells = [Text(row[head]) for head in heads]
        for arm in diagnosis.arms:
            mark, style, _ = FATES[row[arm]]
            text = row[f"{arm}_found"] if row[arm] in (SURVIVED, PARTLY) else row[arm]
            cells.append(Text(f"{mark} {text}", style))
        table.add_row(*cells)
    picture = Table.grid()
    for part in (Text(title, "bold"), sentences, table):
        picture.add_row(part)
    lines.append(diagnosis.judged_by)
    if diagnosis.unknown:
        lines.append(f"Not in the training vocabulary: {', '.join(diagnosis.unknown)}.")
    lines.append("+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged.")
    return Page("diagnosis", title, frame, picture, [], lines)
