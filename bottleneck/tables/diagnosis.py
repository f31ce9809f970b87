"""One sentence as the slide L-LOST shows it: what each arm kept of it, word by word."""

from collections.abc import Iterator, Sequence

import pandas as pd
from rich.table import Table
from rich.text import Text

from ..corpus.grammar import FUNCTION
from ..probes.diagnosis import Diagnosed, Diagnosis
from ..probes.word_report import LOST, PARTLY, SURVIVED, UNLINKED, WordReport
from .page import Page
from .render import new_table

TITLE = "Survived and lost, word by word (C3, L-LOST)"
MARKS = {SURVIVED: "+", PARTLY: "~", LOST: "-", UNLINKED: "?"}
STYLES = {SURVIVED: "green", PARTLY: "yellow", LOST: "red", UNLINKED: "dim"}
AROUND = {SURVIVED: "{}", PARTLY: "({})", LOST: "[{}]", UNLINKED: "{}?"}
SENTENCE_WIDTH = 84
"""Columns of a marked sentence's lines at most."""
LEGEND = (
    "+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged, for lack of "
    "{lack}. Function words are often there by chance."
)
LACKING = {True: "a word in the reference", False: "the word in training"}
"""Why a word is not judged, where there is a reference and where there is none."""
UNKNOWN = "Not in the training vocabulary, so the same unknown word to every arm: {}."


def diagnosis_page(diagnosis: Diagnosis, length: str, notes: Sequence[str] = ()) -> Page:
    """The page of a diagnosis; ``length`` is the sentence's in words, as it is to be told."""
    unknown = ", ".join(diagnosis.unknown)
    told = [
        f"Sentence: {length}.",
        *_beyond(diagnosis),
        *notes,
        *(line for each in diagnosis.arms for line in _fates(each)),
        diagnosis.judged_by,
        *([UNKNOWN.format(unknown)] if unknown else []),
        LEGEND.format(lack=LACKING[diagnosis.reference is not None]),
    ]
    return Page("diagnosis", TITLE, _frame(diagnosis), _picture(diagnosis), [], told)


def _beyond(diagnosis: Diagnosis) -> Iterator[str]:
    """A line where the sentence is longer than training has shown any."""
    end = diagnosis.longest_trained
    if end is not None and diagnosis.words > end:
        yield f"Longer than any sentence of training, which ended at {end} words."


def _fates(held: Diagnosed) -> Iterator[str]:
    """An arm's words in a sentence, then as on the slide which of them survived and were lost."""
    judged = [report for report in held.words if report.share is not None]
    content = [report for report in judged if report.word_class not in FUNCTION]
    yield f"Arm {held.arm}: {_counts(judged, content)}. Output: {held.output}"
    for fate in (SURVIVED, PARTLY, LOST):
        words = [report.word for report in content if report.fate == fate]
        told = [", ".join(words), _small_words(judged, fate)]
        if any(told) or fate != PARTLY:
            yield f"Arm {held.arm}, {fate}: {' and '.join(filter(None, told)) or 'nothing'}."


def _counts(judged: Sequence[WordReport], content: Sequence[WordReport]) -> str:
    """How many words survived; where classes are known, of content words first."""
    if not any(report.word_class for report in judged):
        return _kept(judged, "words")
    if not content:
        return f"no content word judged; {_kept(judged, 'function words')}"
    rest = f"; of all words {_kept(judged)}" if len(content) < len(judged) else ""
    return _kept(content, "content words") + rest


def _kept(reports: Sequence[WordReport], what: str = "") -> str:
    """``3 of 7 content words survived, 1 in part``; without a name ``3 of 7, 1 in part``."""
    fates = [report.fate for report in reports]
    parts = fates.count(PARTLY)
    named = f" {what} survived" if what else ""
    told = f"{fates.count(SURVIVED)} of {len(fates)}{named}"
    return told + (f", {parts} in part" if parts else "")


def _small_words(judged: Sequence[WordReport], fate: str) -> str:
    """How many function words share this fate; empty where there is none, or classes unknown."""
    small = [report.fate for report in judged if report.word_class in FUNCTION]
    count = small.count(fate)
    return f"{count} of {len(small)} function words" if count else ""


def _picture(diagnosis: Diagnosis) -> Table:
    """The sentence with the lost words marked, an arm under the other; then the words in a list."""
    grid = Table.grid()
    grid.add_row(Text(TITLE, "bold"))
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column()
    lines.add_column(max_width=SENTENCE_WIDTH)
    if diagnosis.reference is not None:
        lines.add_row("reference", Text(diagnosis.reference))
    for held in diagnosis.arms:
        lines.add_row(held.arm, _marked(held))
    grid.add_row(lines)
    grid.add_row(_words(diagnosis))
    return grid


def _marked(held: Diagnosed) -> Text:
    """``the [black] cat (sat)``, in the colours of the words' fates."""
    words = [Text(AROUND[each.fate].format(each.word), STYLES[each.fate]) for each in held.words]
    return Text(" ").join(words)


def _words(diagnosis: Diagnosis) -> Table:
    """A row a source word, a column an arm."""
    known = diagnosis.reference is not None
    heads = ["word", "class", *(["reference"] if known else [])]
    heads += [held.arm for held in diagnosis.arms]
    table = new_table("", heads, texts=len(heads))
    table.title = None
    for each in zip(*(held.words for held in diagnosis.arms), strict=True):
        targets = [" ".join(each[0].targets)] if known else []
        table.add_row(each[0].word, each[0].word_class, *targets, *map(_fate, each))
    return table


def _fate(report: WordReport) -> Text:
    """``+ chat``, ``~ assis``, ``- lost``."""
    told = " ".join(report.found) if report.share else report.fate
    return Text(f"{MARKS[report.fate]} {told}", STYLES[report.fate])


def _frame(diagnosis: Diagnosis) -> pd.DataFrame:
    """A row a source word: its class and reference; of each arm fate, share and words found."""
    first = diagnosis.arms[0].words
    columns = {
        "word": [each.word for each in first],
        "class": [each.word_class for each in first],
        "reference": [" ".join(each.targets) for each in first],
    }
    for held in diagnosis.arms:
        columns[held.arm] = [each.fate for each in held.words]
        columns[f"{held.arm}_share"] = [each.share for each in held.words]
        columns[f"{held.arm}_found"] = [" ".join(each.found) for each in held.words]
    return pd.DataFrame(columns)
