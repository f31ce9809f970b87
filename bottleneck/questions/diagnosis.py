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

from ..corpus.corpus import load_corpus
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

LEXICON_PAIRS = 20_000
"""Training pairs from which IBM model 1 learns where there is no reference."""
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

    ``words`` is its length, ``reference`` its translation if that is known, ``judged_by`` says what
    decided a word's fate, ``unknown`` are words that training never had.
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
        if corpus.is_drawn:  # the first pairs are the same however many are drawn
            few = corpus.model_copy(update={"train_pairs": min(LEXICON_PAIRS, corpus.train_pairs)})
            train = load_corpus(few, first.settings.scoring.lower_edges).train
        else:
            train = first.corpus.train[:LEXICON_PAIRS]
        model = lexicon(train)
        judge = partial(aligned_reports, model, tokens, classes)
        judged_by = (
            "No reference is known for this sentence: a word counts as kept if IBM model 1, "
            "trained on the run's training pairs, aligns a word of the output to it with a "
            f"probability of {LEAST:g} or more, which need not be the right one."
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
    """Word reports without a reference: the output itself is aligned to the source.

    A word survives (1, else 0) if IBM model 1 takes it for the likeliest source of a word of the
    output, and t(output word | word) is `LEAST` or more; a word that the model never saw has None.
    """
    (links,) = model.align([(source, output)])
    table, reports = model.table(source, output), []
    for i, (word, kind) in enumerate(zip(source, classes, strict=True)):
        likely = [j for place, j in sorted(links) if place == i and table[j, i + 1] >= LEAST]
        share = float(bool(likely)) if word in model.source_ids else None
        reports.append(WordReport(word, kind, share, (), tuple(output[j] for j in likely)))
    return reports


def diagnosis_page(diagnosis: Diagnosis, length: str, notes: Sequence[str] = ()) -> Page:
    """The page of a diagnosis; ``length`` is the sentence's in words, as a reader sees it.

    It has each arm's sentence, its lost words marked, and a row for each source word.
    """
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
    lines.append(
        "+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged, because "
        "the reference, or the training text, has no word for it. Function words are often there "
        "by chance."
    )
    return Page("diagnosis", title, frame, picture, [], lines)
