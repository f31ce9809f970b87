"""A sentence through trained runs, as the slide L-LOST shows one: what each arm kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..corpus.grammar import FUNCTION, english_french, word_class
from ..corpus.vocabulary import count_words, is_word, plain, tokenize
from ..runs.translate import load_run
from ..settings.errors import UserError
from ..tables.page import Page
from ..tables.render import new_table
from .word_survival import (
    LOST,
    PARTLY,
    SURVIVED,
    UNLINKED,
    LinkedReference,
    WordReport,
    word_reports,
)

FATES = {
    SURVIVED: ("+", "green", "{}"),
    PARTLY: ("~", "yellow", "({})"),
    LOST: ("-", "red", "[{}]"),
    UNLINKED: ("?", "dim", "{}?"),
}
"""Of each fate its mark in the table of words, its style, and a word of it in a sentence."""


@dataclass(frozen=True)
class Diagnosis:
    """A sentence and its reference; of each arm the output, and the report of every source word."""

    words: int
    reference: str
    unknown: tuple[str, ...]
    arms: Mapping[str, tuple[str, Sequence[WordReport]]]


def diagnose(sentence: str, runs: Mapping[str, Path]) -> Diagnosis:
    """Put a sentence of the runs' own language through them, by arm."""
    loaded = {arm: load_run(folder) for arm, folder in runs.items()}
    first = next(iter(loaded.values()))
    corpus, source = first.settings.corpus, first.prepare(sentence)
    pair = english_french(corpus.lexicon).parse(source) if corpus.name == "grammar" else None
    if pair is None:
        raise UserError(
            "no reference is known for this sentence, which is not of the grammar's language: "
            "`bottleneck translate` translates it"
        )
    tokens, linked = tokenize(source), LinkedReference.of(pair, pair.links)
    classes = [word_class(token) if is_word(token) else "" for token in tokens]
    arms = {}
    for arm, trained in loaded.items():
        (output,) = trained.translations([sentence])
        reports = word_reports(tokens, classes, linked, tokenize(output.text))
        arms[arm] = output.text, [item for item in reports if is_word(item.word)]
    unknown = tuple(filter(is_word, first.unknown(sentence)))
    return Diagnosis(count_words(source), pair.target, unknown, arms)


def diagnosis_page(diagnosis: Diagnosis, notes: Sequence[str]) -> Page:
    """Each arm's sentence, its lost words marked, and a row for each source word."""
    title, lines, columns = "Survived and lost, word by word (C3, L-LOST)", [*notes], {}
    sentences = Table.grid(padding=(0, 2, 0, 0))
    sentences.add_row("reference", Text(diagnosis.reference))
    for arm, (output, reports) in diagnosis.arms.items():
        columns |= {
            "word": [plain(item.word) for item in reports],
            "class": [item.word_class for item in reports],
            "reference": [plain(" ".join(item.targets)) for item in reports],
            arm: [item.fate for item in reports],
            f"{arm}_found": [plain(" ".join(item.found)) for item in reports],
        }
        marked = []
        for item in reports:
            _, style, form = FATES[item.fate]
            marked.append(Text(form.format(plain(item.word)), style))
        sentences.add_row(arm, Text(" ").join(marked))
        content = [
            item.fate == SURVIVED
            for item in reports
            if item.fate != UNLINKED and item.word_class not in ("", *FUNCTION)
        ]
        counts = f"{sum(content)} of {len(content)} content words survived"
        lines.append(f"Arm {arm}: {counts}. Output: {output}")
    frame, heads = pd.DataFrame(columns), ["word", "class", "reference", *diagnosis.arms]
    table = new_table("", heads, texts=len(heads))
    for row in frame.to_dict("records"):
        cells = [Text(row[head]) for head in heads[:3]]
        for arm in diagnosis.arms:
            mark, style, _ = FATES[row[arm]]
            cells.append(Text(f"{mark} {row[f'{arm}_found'] or row[arm]}", style))
        table.add_row(*cells)
    if diagnosis.unknown:
        lines.append(f"Not in the training vocabulary: {', '.join(diagnosis.unknown)}.")
    lines.append("+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged.")
    return Page("diagnosis", title, frame, Group(Text(title, "bold"), sentences, table), [], lines)
