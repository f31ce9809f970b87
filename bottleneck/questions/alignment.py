"""C7: is alignment learned for free, and can it be read off the attention weights?

The weights are teacher-forced on the references and compared with gold links. They must beat the
diagonal, which knows no words, and IBM model 1, which was made to align. Links are (source, target)
positions, 0-based. The same is asked of the user's own gold set, whose words are those between the
spaces of the files; its tokens (``l' homme ,``) are put back into running text.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray

from ..claims.verdict import FAMILY, needs_learned
from ..corpus.files import read_lines
from ..corpus.pair import Link, SentencePair
from ..corpus.subwords import by_word, links_from_weights, shares_of
from ..corpus.vocabulary import JOINER, WORDS, detokenize, tokenize
from ..figures.plot import shared
from ..results.schema import GOLD
from ..scoring.bootstrap import ratio_of_sums
from ..settings.concerns import OUTSIDE
from ..settings.errors import UsageError, UserError
from ..tables.page import run_line
from .arms import Estimates, arms_of, rows_by_bucket
from .ibm1 import IBM1, nearest_to_diagonal, train, words_of
from .question import Axes, Columns, Judgement, Probed, Question, Row, StudyColumn, StudyTable, Tell

if TYPE_CHECKING:
    from .subject import Subject

Links = frozenset[Link]
LINK = re.compile(r"(\d{1,9})([-?p])(\d{1,9})", re.ASCII)
BASELINES = {"diagonal": "diagonal", "ibm1": "IBM model 1"}
RULE = (
    "Each target word is linked to the source word with its largest weight, teacher-forced on the "
    "references. The alignment error rate (AER) against the gold links, over all lengths, is "
    "compared with a baseline's, paired by sentence. Held if in every arm whose weights select the "
    "95 % intervals of the baseline's AER minus the weights' lie above 0 for the diagonal and for "
    "IBM model 1; partly if for the diagonal alone, or not in every arm; otherwise not held. Equal "
    f"weights (uniform) are not judged. {FAMILY} {needs_learned('none with attention')}"
)


class LinkedPair(NamedTuple):
    """A pair, the words of either side, and the gold links; the possible include the sure ones."""

    pair: SentencePair
    words: tuple[list[str], list[str]]
    sure: Links
    possible: Links


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Count the links of every test sentence."""
    pairs = [
        LinkedPair(pair, words_of(pair), frozenset(pair.links), frozenset(pair.links))
        for pair in subject.corpus.test
    ]
    tell("training IBM model 1")
    return measure(subject, pairs, train(list(map(words_of, subject.corpus.train))), tell)


def measure(subject: "Subject", pairs: Sequence[LinkedPair], model: IBM1, tell: Tell) -> Columns:
    """Count the links of these sentences, of every method, word by word."""
    tell("reading weights")
    encoded = subject.encode([item.pair for item in pairs])
    trained, untrained = (
        replace(subject.trained, weights=weights).attention(encoded, batch_size=128)
        for weights in (subject.weights, subject.untrained)
    )
    rows = []
    for item, *matrices in zip(pairs, trained, untrained, strict=True):
        tokens, pieces, places = words_of(item.pair), [], []
        for side, text in enumerate((item.pair.source, item.pair.target)):
            words, vocabulary = item.words[side], subject.vocabularies[side]
            pieces.append(shares_of(vocabulary.pieces(text), words, vocabulary.tokenizer))
            # A word is linked where any of its word tokens is.
            places.append(shares_of(tokens[side], words, WORDS).argmax(axis=1).tolist())
        aligned = frozenset((places[0][i], places[1][j]) for i, j in model.align(*tokens))
        rows.append(count_links(item, *(by_word(matrix, *pieces) for matrix in matrices), aligned))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def count_links(
    item: LinkedPair, trained: Float[ndarray, "_ _"], untrained: Float[ndarray, "_ _"], ibm1: Links
) -> dict[str, int]:
    """|A & S| + |A & P| (agreements) and |A| + |S| (links) of links A against gold S, P."""
    sizes = len(item.words[0]), len(item.words[1])
    links_of = {
        "trained": links_from_weights(trained, *sizes),
        "untrained": links_from_weights(untrained, *sizes),
        "diagonal": nearest_to_diagonal(np.ones(sizes[::-1], bool)),
        "ibm1": ibm1,
    }
    row = {"source_words": item.pair.words}
    for method, links in links_of.items():
        row[f"{method}_agreements"] = len(links & item.sure) + len(links & item.possible)
        row[f"{method}_links"] = len(links) + len(item.sure)
    return row


def read_gold(
    gold: Path, source: Path, target: Path, first_word: int | None = None
) -> tuple[list[LinkedPair], int]:
    """The sentences of the three files, and the number of a sentence's first word, 0 or 1.

    A link is ``0-0`` (sure), ``0?0`` or ``0p0`` (possible), source first.
    """
    files = {"--gold": gold, "--source": source, "--target": target}
    texts = {option: read_lines(str(path), option) for option, path in files.items()}
    if len(set(map(len, texts.values()))) > 1:
        counts = ", ".join(f"{option} has {len(text)}" for option, text in texts.items())
        raise UserError(f"give files of as many lines, one for each sentence: {counts}")
    lines, sentences = list(zip(*texts.values(), strict=True)), []
    base = number_of_first_word(lines) if first_word is None else first_word
    for number, (line, *pair) in enumerate(lines, 1):
        words = (pair[0].split(), pair[1].split())
        sure, possible = set(), set()
        for entry in line.split():
            match = LINK.fullmatch(entry)
            i, j = (int(match[1]) - base, int(match[3]) - base) if match else (-1, -1)
            if not (0 <= i < len(words[0]) and 0 <= j < len(words[1])):
                raise UserError(
                    f"--gold {str(gold)!r} line {number}: {entry!r} is no link in a sentence of "
                    f"{len(words[0])} source and {len(words[1])} target words; write i-j (sure) or "
                    f"i?j or ipj (possible), source first, counted from {base} (--first-word)"
                )
            possible.add((i, j))
            sure |= {(i, j)} if match[2] == "-" else set()
        links = frozenset(sure), frozenset(possible)
        sentences.append(LinkedPair(SentencePair(*pair), words, *links))
    return sentences, base


def number_of_first_word(lines: Iterable[Sequence[str]]) -> int:
    """0 if a link has a 0, 1 if one lies beyond its sentence counted from 0, else a UsageError."""
    places = [
        (int(place), len(text.split()))
        for line, *pair in lines
        for match in filter(None, map(LINK.fullmatch, line.split()))
        for place, text in zip(match.group(1, 3), pair, strict=True)
    ]
    if not places or any(place == 0 for place, _ in places):
        return 0
    if any(place >= words for place, words in places):
        return 1
    raise UsageError("--gold may count from 0 or from 1: give --first-word 0 or --first-word 1")


def probe_gold(
    subject: "Subject", sentences: Sequence[LinkedPair], first_word: int, tell: Tell
) -> Columns:
    """Count the links of all sentences of a gold set but those with an empty side."""
    tell("training IBM model 1")
    model = train(list(map(words_of, subject.corpus.train)))
    corpus, pairs = subject.settings.corpus, []
    lower = corpus.lowercase or corpus.name == "grammar"
    for item in filter(lambda item: all(item.words), sentences):
        source, target = (
            [detokenize(tokenize(word.lower() if lower else word)) for word in words]
            for words in item.words
        )
        texts = running_text(source, model.source_ids), running_text(target, model.target_ids)
        pairs.append(item._replace(pair=SentencePair(*texts), words=(source, target)))
    links = np.array([len(item.possible) for item in pairs])
    first = np.full(len(pairs), first_word)
    return {**measure(subject, pairs, model, tell), "gold_links": links, "first_word": first}


def running_text(words: Sequence[str], known: Container[str]) -> str:
    """Tokens as running text; ``known`` are the word tokens of the training text."""
    tokens = []
    for word in words:
        if word in ("(", "[", "{") or (len(word) > 1 and word.endswith(("'", "’"))):
            tokens.append(word + JOINER)
        elif word.startswith(("'", "’")) or not (word in known or any(map(str.isalnum, word))):
            tokens.append(JOINER + word)
        else:
            tokens.append(word)
    return detokenize(tokens)


def error_rate(sums: Real[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003); nan without any links."""
    return np.asarray(1 - ratio_of_sums(sums))


def summarise(probed: Sequence[Probed], least: int = 0) -> list[Row]:
    """The error of every method, and gaps: by bucket, then of sentences of bucket ``least`` on."""
    names = ("trained", "untrained", *BASELINES)
    counts = {name: [f"{name}_agreements", f"{name}_links"] for name in names}

    def gap(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
        return error_rate(sums[..., :2]) - error_rate(sums[..., 2:])

    scores = [
        ("aer", "" if name == "trained" else name, error_rate, counts[name]) for name in names
    ]
    for name in BASELINES:
        scores.append(("aer_gap", name, gap, counts[name] + counts["trained"]))
    return rows_by_bucket(probed, scores, least=least)


def decide(estimates: Estimates) -> Judgement | str:
    """C7: the weights align better than what knows no words, and than what was made to align."""
    errors = {arm: error for arm in estimates.arms() if (error := estimates.get("aer", arm))}
    if not errors:
        return "no arm with weights that select was measured"
    beaten, clauses = [], []
    for arm, error in errors.items():
        clause = f"{arm}: the AER of the weights is {error.text('{:z.3f}')}"
        for name, words in BASELINES.items():
            gap = estimates.get("aer_gap", arm, control=name)
            theirs = estimates.get("aer", arm, control=name).text("{:z.3f}")
            by = gap.change("higher by {}", "lower by {}", "{:z.3f}")
            clause += f", against {theirs} ({words}, {by})"
            beaten += [name] if gap.low > 0 else []
        clauses.append(clause)
    worst = max(errors, key=lambda arm: errors[arm].value)
    held, partly = len(beaten) == len(errors) * len(BASELINES), "diagonal" in beaten
    return Judgement(held, partly, clauses, f"AER of the weights, {worst}", errors[worst])


RANGED = {"scale": 100.0, "ends": "{:.0f}"}
QUESTION = Question(
    name="alignment",
    question="Is alignment learned for free: can it be read off the attention weights? (C7)",
    title="Alignment (C7): attention weights against gold links",
    version=2,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.points and settings.corpus.is_drawn,
    rules={"C7": (RULE, decide)},
    notes=[
        "AER: alignment error rate in %, 0 is best. Untrained: the same network before training. "
        "Diagonal: target word j to the source word at the same share of the sentence. IBM 1: IBM "
        "model 1, 5 iterations on the run's own training pairs."
    ],
    measures=("aer", "aer_gap"),
    tables=[
        StudyTable(
            "Alignment (C7): AER of the weights and of others, %",
            lines=lambda estimates: [
                ((bucket or "all", arm), {"arm": arm, "bucket": bucket})
                for bucket, arm in product((*estimates.buckets(), ""), estimates.arms())
            ],
            columns=[
                StudyColumn("AER\nweights", "aer", **RANGED),
                StudyColumn("un-\ntrained", "aer", control="untrained", scale=100.0, ends=""),
                StudyColumn("diag-\nonal", "aer", control="diagonal", **RANGED),
                StudyColumn("IBM 1", "aer", control="ibm1", **RANGED),
            ],
        )
    ],
    axes=[
        Axes(
            "Alignment error rate (0: as gold)", "aer", "AER, %", 100.0,
            lines=("", "untrained", *BASELINES.values()),
            select=lambda rows: shared(rows[rows["bucket"] != ""], BASELINES),
        )
    ],
)  # fmt: skip


def summarise_gold(probed: Sequence[Probed]) -> list[Row]:
    """`summarise` over all lengths; the note of a row ``linked`` says how the links were read."""
    found = probed[0].found
    n, linked = len(found["gold_links"]), int((found["gold_links"] > 0).sum())
    first = f"gold links counted from {found['first_word'][0]:.0f}"
    note = f"{first}, in {linked} of {n} sentences, all of which count"
    row = arms_of(probed)[0].row("linked", float(linked), n=n, note=note)
    return [*summarise(probed, OUTSIDE), row]


GOLD_QUESTION = replace(
    QUESTION,
    name=GOLD,
    title="Alignment (C7): attention weights against the user's gold links",
    summarise=summarise_gold,
    suits=lambda settings: settings.model.points,
    over="sentences of the gold set",
    short_caption=lambda table: "; ".join(
        [run_line(table), *table.loc[table["measure"] == "linked", "note"]]
    ),
)
