"""What each arm keeps of a sentence, word by word, as the slide L-LOST shows it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..corpus.grammar import FUNCTION, WORD_CLASS, english_french
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import is_word, prepare_source, tokenize, without_joiner
from ..runs.translate import load_run
from ..settings.errors import UserError, counted
from ..tables.page import Page
from ..tables.render import new_table
from .survival import WordReport, word_reports

FATES = {
    "survived": ("+", "green", "{}"),
    "in part": ("~", "yellow", "({})"),
    "lost": ("-", "red", "[{}]"),
    "not linked": ("?", "dim", "{}?"),
}
"""Each fate's mark in the table of words, its style, and the format of its words in a sentence."""


def diagnose(
    sentence: str, runs: Mapping[str, Path]
) -> tuple[SentencePair, dict[str, tuple[str, list[WordReport]]], list[str]]:
    """A sentence with its reference, each arm's output and reports, and the unknown words."""
    loaded = {arm: load_run(folder) for arm, folder in runs.items()}
    first = next(iter(loaded.values()))
    corpus = first.settings.corpus
    source = prepare_source(sentence, corpus)
    pair = english_french(corpus.lexicon).parse(source) if corpus.name == "grammar" else None
    if pair is None:
        raise UserError(
            "no reference is known for this sentence, because the grammar cannot form it: "
            "`bottleneck translate` translates it"
        )
    reports = {}
    for arm, trained in loaded.items():
        (output,) = trained.translations([sentence])
        texts = map(tokenize, (source, pair.target))
        reports[arm] = output.text, word_reports(*texts, pair.links, tokenize(output.text))
    return pair, reports, list(filter(is_word, first.unknown([sentence])[0]))


def diagnosis_page(
    pair: SentencePair,
    arms: Mapping[str, tuple[str, Sequence[WordReport]]],
    unknown: Sequence[str],
    notes: Sequence[str],
) -> Page:
    """Each arm's sentence with its lost words marked, and one row per source word."""
    title, columns = "Survived and lost, word by word (C3, L-LOST)", {}
    lines = [f"Sentence: {counted(pair.words, 'word')}.", *notes]
    sentences = Table.grid(padding=(0, 2, 0, 0))
    sentences.add_row("reference", Text(pair.target))
    for arm, (output, reports) in arms.items():
        columns |= {
            "word": [without_joiner(item.word) for item in reports],
            "class": [WORD_CLASS[item.word] for item in reports],
            "reference": [without_joiner(" ".join(item.targets)) for item in reports],
            arm: [item.fate for item in reports],
            f"{arm}_found": [without_joiner(" ".join(item.translated)) for item in reports],
        }
        words, content = [], []
        for item, word, kind in zip(reports, columns["word"], columns["class"], strict=True):
            _, style, form = FATES[item.fate]
            words.append(Text(form.format(word), style))
            if item.fate != "not linked" and kind not in ("", *FUNCTION):
                content.append(item.fate == "survived")
        sentences.add_row(arm, Text(" ").join(words))
        survived = f"{sum(content)} of {len(content)} content words survived"
        lines.append(f"Arm {arm}: {survived}. Output: {output}")
    frame, heads = pd.DataFrame(columns), ["word", "class", "reference", *arms]
    table = new_table("", heads, texts=len(heads))
    for row in frame.to_dict("records"):
        cells = [Text(row[head]) for head in heads[:3]]
        for arm in arms:
            mark, style, _ = FATES[row[arm]]
            cells.append(Text(f"{mark} {row[f'{arm}_found'] or row[arm]}", style))
        table.add_row(*cells)
    if unknown:
        lines.append(f"Not in the training vocabulary: {', '.join(unknown)}.")
    lines.append("+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged.")
    return Page("diagnosis", title, frame, Group(Text(title, "bold"), sentences, table), [], lines)
