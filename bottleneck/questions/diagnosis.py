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
from dataclasses import dataclass, replace
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
from .ibm1 import IBM1, Tokens
from .question import Tell
from .subject import Subject, open_subject
from .word_survival import (
    LEXICON_PAIRS,
    LOST,
    PARTLY,
    SURVIVED,
    UNLINKED,
    LinkedReference,
    WordReport,
    lexicon,
    word_reports,
)

LEAST = 0.1
"""The translation probability from which a word of the output vouches for one of the source."""
GOLD = (
    "A word survives if the output has the reference's words for it; the reference and its links "
    "are those of the run's own language."
)
ALIGNED = (
    "No reference is known for this sentence{why}: a word counts as kept if IBM model 1, trained "
    "on the run's training pairs, aligns a word of the output to it with a probability of "
    f"{LEAST:g} or more. That finds some translation of the word, not the right one."
)
FORM = "2"
"""Changes with whatever changes the model that a text gives: its tokens, its training, the file."""
FATES = {
    SURVIVED: ("+", "green", "{}"),
    PARTLY: ("~", "yellow", "({})"),
    LOST: ("-", "red", "[{}]"),
    UNLINKED: ("?", "dim", "{}?"),
}
"""Of each fate its mark in the table of words, its style, and a word of it in a sentence."""
LEGEND = (
    "+ survived, with the output's words for it; ~ (in part); - [lost]; ? not judged, because "
    "{lack}. Function words are often there by chance."
)
LACKING = {True: "the reference has no word for it", False: "training did not have the word"}
"""Why a word is not judged, with a reference and without one."""


@dataclass(frozen=True)
class Diagnosed:
    """One arm's output, and the fate of every source word."""

    arm: str
    output: str
    words: tuple[WordReport, ...]


@dataclass(frozen=True)
class Diagnosis:
    """A sentence through some arms.

    ``words`` is its length, ``reference`` its translation if that is known, ``judged_by`` a
    sentence on what decided a word's fate. ``unknown`` are words that training never had,
    ``longest_trained`` is the length in words at which training ended, None if nobody knows.
    """

    sentence: str
    words: int
    reference: str | None
    judged_by: str
    unknown: tuple[str, ...]
    arms: tuple[Diagnosed, ...]
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
    else:
        judge = partial(aligned_reports, lexicon_of(first, tell), tokens, classes)
    parsed = corpus.name == "copy" or corpus.has_classes
    why = ", which is not of the run's own language" if parsed else ""
    diagnosed = []
    for arm, subject in subjects.items():
        (output,) = subject.trained.translate([sentence])
        reports = []
        for report in filter(lambda report: is_word(report.word), judge(tokenize(output))):
            targets, found = (tuple(map(plain, words)) for words in (report.targets, report.found))
            reports.append(replace(report, word=plain(report.word), targets=targets, found=found))
        diagnosed.append(Diagnosed(arm, output, tuple(reports)))
    return Diagnosis(
        sentence=source,
        words=len(source.split()),
        reference=pair.target if pair else None,
        judged_by=GOLD if pair else ALIGNED.format(why=why),
        unknown=tuple(filter(is_word, first.trained.unknown(sentence))),
        arms=tuple(diagnosed),
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
    table = model.table(source, output)
    kept: list[list[str]] = [[] for _ in source]
    for i, j in sorted(links):
        if table[j, i + 1] >= LEAST:
            kept[i].append(output[j])
    reports = []
    for word, kind, found in zip(source, classes, kept, strict=True):
        share = float(bool(found)) if word in model.source_ids else None
        reports.append(WordReport(word, kind, share, (), tuple(found)))
    return reports


def lexicon_of(subject: Subject, tell: Tell) -> IBM1:
    """The model of the run's training pairs; ``tell`` is called if it has to be learned.

    Raises UserError for a run that does not say which text it was trained on.
    """
    environment = subject.folder / ENVIRONMENT
    fingerprint = read_object(environment).get("fingerprint")
    if not isinstance(fingerprint, str) or not fingerprint:
        raise damaged(environment, "it has no fingerprint of the text")
    name = hashlib.sha256(f"{FORM} {fingerprint}".encode()).hexdigest()[:16]
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
        tensors = {"keys": model.keys.astype(np.int64), "probabilities": model.probabilities}
        for side, ids in {"source": model.source_ids, "target": model.target_ids}.items():
            tensors[side] = np.frombuffer("\n".join(ids).encode(), np.uint8)
        with suppress(UserError):  # no room or no right to write there: it is learned again
            write_bytes(path, save(tensors))
    return model


def diagnosis_page(diagnosis: Diagnosis, length: str, notes: Sequence[str] = ()) -> Page:
    """The page of a diagnosis; ``length`` is the sentence's in words, as a reader sees it."""
    end, unknown = diagnosis.longest_trained, ", ".join(diagnosis.unknown)
    lines = [f"Sentence: {length}."]
    if end is not None and diagnosis.words > end:
        lines.append(f"Longer than any sentence of training, which ended at {end} words.")
    lines += [*notes, *map(_summary, diagnosis.arms), diagnosis.judged_by]
    if unknown:
        lines.append(
            f"Not in the training vocabulary, so the same unknown word to every arm: {unknown}."
        )
    lines.append(LEGEND.format(lack=LACKING[diagnosis.reference is not None]))
    # One row per source word: its class and reference; of each arm fate, share and words found.
    columns = {"word": "word", "class": "word_class", "reference": "targets"}
    frame = pd.DataFrame(
        {name: [getattr(word, key) for word in diagnosis.arms[0].words]
         for name, key in columns.items()}
        | {f"{arm.arm}{suffix}": [getattr(word, key) for word in arm.words]
           for arm in diagnosis.arms
           for suffix, key in (("", "fate"), ("_share", "share"), ("_found", "found"))}
    )  # fmt: skip
    frame = frame.map(lambda cell: " ".join(cell) if isinstance(cell, tuple) else cell)
    title = "Survived and lost, word by word (C3, L-LOST)"
    return Page("diagnosis", title, frame, _picture(title, diagnosis), [], lines)


def _summary(diagnosed: Diagnosed) -> str:
    """How many of an arm's words survived, content words first, and its output."""
    judged = [report for report in diagnosed.words if report.share is not None]
    content = [report for report in judged if report.word_class not in FUNCTION]
    kinds = {"content words": content, "words in all": judged}
    if not content:
        kinds = {"function words": judged}
    elif len(content) == len(judged) or not any(report.word_class for report in judged):
        kinds = {"words": judged}
    clauses = []
    for name, reports in kinds.items():
        fates = [report.fate for report in reports]
        parts = f" and {count} in part" if (count := fates.count(PARTLY)) else ""
        clauses.append(f"{fates.count(SURVIVED)} of {len(fates)} {name} survived{parts}")
    return f"Arm {diagnosed.arm}: {'; '.join(clauses)}. Output: {diagnosed.output}"


def _picture(title: str, diagnosis: Diagnosis) -> Table:
    """Each arm's sentence, its lost words marked; below it one row per source word."""
    sentences = Table.grid(padding=(0, 2, 0, 0))
    sentences.add_column()
    sentences.add_column(max_width=84)
    known = diagnosis.reference is not None
    if known:
        sentences.add_row("reference", Text(diagnosis.reference))
    heads = ["word", "class", *["reference"] * known, *(arm.arm for arm in diagnosis.arms)]
    words = new_table("", heads, texts=len(heads))
    words.title = None
    for arm in diagnosis.arms:
        fates = ((FATES[report.fate], report.word) for report in arm.words)
        marked = [Text(form.format(word), style) for (_, style, form), word in fates]
        sentences.add_row(arm.arm, Text(" ").join(marked))
    for reports in zip(*(arm.words for arm in diagnosis.arms), strict=True):
        cells = [Text(reports[0].word), Text(reports[0].word_class)]
        cells += [Text(" ".join(reports[0].targets))] * known
        for report in reports:
            mark, style, _ = FATES[report.fate]
            text = " ".join(report.found) if report.share else report.fate
            cells.append(Text(f"{mark} {text}", style))
        words.add_row(*cells)
    grid = Table.grid()
    for part in (Text(title, "bold"), sentences, words):
        grid.add_row(part)
    return grid
