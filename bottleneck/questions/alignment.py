"""C7: is alignment learned for free, and can it be read off the attention weights?

The weights are teacher-forced on the references and compared with gold links. Free is what nobody
taught: the weights' links must beat those of the diagonal, which knows no words, and of IBM model
1, which was made to align and is trained on the run's own training pairs. The table also has the
network before training, and the least error that one link for each target word allows. Every
method links each target word to one source word (IBM model 1: or to none); gold links may be more,
or none.

Links are (source, target) positions, 0-based. End tokens are neither linked nor counted. All
measures are ratios of per-sentence counts, so that a bootstrap can draw sentences.

The same is asked of the user's own gold set, sentences that people linked word by word. Its words
are those between the spaces of the files. A gold set often stands in tokens (``l' homme ,``): its
sentences are put back into running text, which a run reads as any other text. Where the run's
tokens are finer than the words, their weights are put together word by word (`corpus.subwords`).
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Real
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, marked, needs_learned
from ..corpus.files import read_lines
from ..corpus.pair import Link, SentencePair
from ..corpus.subwords import by_word, links_from_weights, shares_of
from ..corpus.vocabulary import JOINER, WORDS, detokenize, tokenize
from ..figures.plot import chosen, shared
from ..results.schema import GOLD
from ..scoring.bootstrap import Score, ratio_of_sums
from ..settings.concerns import OUTSIDE
from ..settings.errors import UserError, counted
from ..settings.run import RunSettings
from .arms import Estimates, arms_of, in_buckets
from .question import Axes, Column, Columns, Grid, Judgement, Probed, Question, Row, Tell
from .word_survival import IBM1, nearest_to_diagonal, train, words_of

if TYPE_CHECKING:
    from ..model.translator import Weights
    from .subject import Subject

Links = frozenset[Link]
GoldSentence = tuple[list[str], list[str], Links, Links]
"""The words of both sides, and their links: sure ones, and possible ones with those."""
Matrix = Float[ndarray, "_ _"]
"""Weights of one sentence, target x source words, the end tokens last."""
METHODS = ("trained", "untrained", "diagonal", "ibm1", "best")
"""How links are made; the first two are networks. They begin the names of the probe's columns."""
COUNTS = ("sure_found", "possible_found", "links", "sure")
"""Of links A against gold S, P: |A & S|, |A & P|, |A|, |S|."""
BASELINES = {"diagonal": "the diagonal", "ibm1": "IBM model 1"}
RULE = (
    "Each target word is linked to the source word with its largest weight, teacher-forced on the "
    "references. Compared is the alignment error rate (AER) against the gold links, over all "
    "lengths, with that of a baseline, paired by sentence. Held if in every arm whose weights "
    "select the 95 % intervals of the baseline's AER minus the weights' lie above 0 for the "
    "diagonal and for IBM model 1, which is trained on the run's own training pairs; partly if for "
    "the diagonal alone, or not in every arm; otherwise not held. Equal weights (uniform) have no "
    f"largest and are not judged. {FAMILY} {needs_learned('none with attention')}"
)


class LinkedPair(NamedTuple):
    """A sentence pair, the words that its gold links are between, and the links.

    Possible links have the sure ones among them.
    """

    pair: SentencePair
    source: list[str]
    target: list[str]
    sure: Links
    possible: Links


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Count the links and weights of every test sentence that has gold links."""
    pairs = [
        LinkedPair(pair, *words_of(pair), frozenset(pair.links), frozenset(pair.links))
        for pair in subject.corpus.test
        if pair.links
    ]
    return measure(subject, pairs, train_ibm1(subject, tell), tell)


def train_ibm1(subject: "Subject", tell: Tell) -> IBM1:
    """IBM model 1 of the word tokens of the run's training pairs, whatever the run reads."""
    tell("training IBM model 1")
    return train([words_of(pair) for pair in subject.corpus.train])


def measure(subject: "Subject", pairs: Sequence[LinkedPair], model: IBM1, tell: Tell) -> Columns:
    """The columns of the probe for these sentences."""
    tell("reading weights")
    networks = {"trained": subject.weights, "untrained": subject.untrained}
    matrices = {name: matrices_of(subject, weights, pairs) for name, weights in networks.items()}
    aligned = []
    for item in pairs:
        tokens = words_of(item.pair)  # a word is linked where any of its word tokens is
        source, target = (
            shares_of(side, words, WORDS).argmax(axis=1)
            for side, words in zip(tokens, (item.source, item.target), strict=True)
        )
        (links,) = model.align([tokens])
        aligned.append(frozenset((int(source[i]), int(target[j])) for i, j in links))
    return columns_of(pairs, matrices, aligned)


def matrices_of(
    subject: "Subject", weights: "Weights", pairs: Sequence[LinkedPair]
) -> list[Matrix]:
    """Weights on the references, in reading order and word by word."""
    from ..runs.translate import attention_matrices

    encoded = subject.encode([item.pair for item in pairs])
    reverse = subject.settings.model.reverse_source
    matrices = attention_matrices(subject.graph, weights, encoded, reverse, batch_size=128)
    ours, theirs = subject.vocabularies
    return [
        by_word(
            matrix,
            shares_of(ours.pieces(item.pair.source), item.source, ours.tokenizer),
            shares_of(theirs.pieces(item.pair.target), item.target, theirs.tokenizer),
        )
        for matrix, item in zip(matrices, pairs, strict=True)
    ]


def columns_of(
    pairs: Sequence[LinkedPair], matrices: Mapping[str, Sequence[Matrix]], aligned: Sequence[Links]
) -> Columns:
    """Counts of each sentence: of links for each method, of weight for each network.

    The best links are the fewest errors that one link a target word allows: a sure one, else a
    possible one; words without gold are linked all the same, as by the weights.

    Weight is summed over the gold sources of each target word that has some (``words``). Equal
    weights over all columns, the end token's too, are what the ``uniform`` arm has, which therefore
    scores its own share exactly. Right after gold are the next places that are not gold, the end
    token among them: a one-way encoder has read a word for good only there.
    """
    rows = []
    for place, (item, ibm1) in enumerate(zip(pairs, aligned, strict=True)):
        source, target = len(item.source), len(item.target)
        weights = {name: of_pairs[place] for name, of_pairs in matrices.items()}
        best = dict.fromkeys(range(target), 0)
        best |= {j: i for links in (item.possible, item.sure) for i, j in sorted(links)}
        methods = {name: links_from_weights(w, source, target) for name, w in weights.items()} | {
            "diagonal": nearest_to_diagonal(np.ones((target, source), bool)),
            "ibm1": ibm1,
            "best": frozenset((i, j) for j, i in best.items()),
        }
        row: dict[str, float] = {"source_words": item.pair.words}
        for method, links in methods.items():
            found = len(links & item.sure), len(links & item.possible)
            counts = zip(COUNTS, (*found, len(links), len(item.sure)), strict=True)
            row |= {f"{method}_{name}": count for name, count in counts}
        for network, matrix in weights.items():
            columns, gold = matrix.shape[1], item.possible
            after = {(i + 1, j) for i, j in gold if i + 1 < columns} - gold
            row[f"{network}_on_gold"] = sum((float(matrix[j, i]) for i, j in sorted(gold)), 0.0)
            row[f"{network}_equal"] = len(gold) / columns
            row[f"{network}_words"] = float(len({j for _, j in gold}))
            row[f"{network}_after_gold"] = sum((float(matrix[j, i]) for i, j in sorted(after)), 0.0)
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def read_gold(gold: Path, source: Path, target: Path, base: int) -> list[GoldSentence]:
    """Read the three files, line by line; what does not fit together is a UserError.

    ``base`` is the number of the first word, 0 or 1.
    """
    files = {"--gold": gold, "--source": source, "--target": target}
    texts = {option: read_lines(str(path), option) for option, path in files.items()}
    if len(set(map(len, texts.values()))) > 1:
        counts = ", ".join(
            f"{option} {str(path)!r} has {counted(len(texts[option]), 'line')}"
            for option, path in files.items()
        )
        raise UserError(f"{counts}: give files of as many lines, one for each sentence")
    sentences = []
    for number, (line, *both) in enumerate(zip(*texts.values(), strict=True), 1):
        ours, theirs = (text.split() for text in both)
        where = f"--gold {str(gold)!r} line {number}"
        sentences.append((ours, theirs, *parse_links(line, where, len(ours), len(theirs), base)))
    return sentences


def parse_links(
    line: str, where: str, source_words: int, target_words: int, base: int
) -> tuple[Links, Links]:
    """The sure and the possible links of a line: ``0-0 1?2``, source first, ``-`` sure.

    UserError, which starts with ``where``, for what is no link of the sentence.
    """
    sure, possible = set(), set()
    for entry in line.split():
        match = re.fullmatch(r"(\d{1,9})([-?])(\d{1,9})", entry, re.ASCII)
        if match is None:
            raise UserError(f"{where}: {entry!r} is no link; write i-j (sure) or i?j (possible)")
        i, j = int(match[1]) - base, int(match[3]) - base
        if not (0 <= i < source_words and 0 <= j < target_words):
            raise UserError(
                f"{where}: {entry!r} is outside a sentence of {source_words} source and "
                f"{target_words} target words, counted from {base}; check the tokens, which side "
                "is first, and --first-word"
            )
        possible.add((i, j))
        sure |= {(i, j)} if match[2] == "-" else set()
    return frozenset(sure), frozenset(possible)


def probe_gold(subject: "Subject", sentences: Sequence[GoldSentence], tell: Tell) -> Columns:
    """The probe's columns for the gold set, and the share of tokens that the run does not know.

    Sentences without links are left out; UserError where no other is there.
    """
    sentences = [sentence for sentence in sentences if sentence[3]]
    if not sentences:
        raise UserError("no sentence of --gold has links; write i-j (sure) or i?j (possible)")
    model = train_ibm1(subject, tell)
    corpus = subject.settings.corpus
    lower = corpus.lowercase or corpus.name == "grammar"
    pairs = []
    for *both, sure, possible in sentences:
        source, target = (
            [detokenize(tokenize(word.lower() if lower else word)) for word in words]
            for words in both
        )
        texts = running_text(source, model.source_ids), running_text(target, model.target_ids)
        pairs.append(LinkedPair(SentencePair(*texts), source, target, sure, possible))
    columns = measure(subject, pairs, model, tell)
    for side, vocabulary in zip(("source", "target"), subject.vocabularies, strict=True):
        pieces = [vocabulary.pieces(getattr(item.pair, side)) for item in pairs]
        columns[f"unknown_{side}"] = np.full(len(pairs), vocabulary.unknown_rate(pieces))
    return columns


def running_text(words: Sequence[str], known: Container[str]) -> str:
    """Words that may be tokens as running text.

    A sign is glued to its left unless it is known to stand alone, "(" and "l'" are glued to their
    right, "'s" to its left. ``known`` are the word tokens of the training text.
    """
    tokens = []
    for word in words:
        if word in ("(", "[", "{") or (len(word) > 1 and word.endswith(("'", "’"))):
            tokens.append(word + JOINER)
        elif word.startswith(("'", "’")) or not (word in known or any(map(str.isalnum, word))):
            tokens.append(JOINER + word)
        else:
            tokens.append(word)
    return detokenize(tokens)


def error_rate(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003); nan without any links."""
    parts = np.stack([sums[..., :2].sum(-1), sums[..., 2:].sum(-1)], axis=-1)
    return np.asarray(1 - ratio_of_sums(parts))


RATES: dict[str, Score] = {
    "aer": error_rate,
    "precision": lambda sums: ratio_of_sums(sums[..., [1, 2]]),
    "recall": lambda sums: ratio_of_sums(sums[..., [0, 3]]),
}
"""Of link counts, nan without links: |A & P| / |A| that are at least possible, |A & S| / |S|."""


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Rates of every method, if weights select, and weight on gold: by bucket, then of all.

    Of a gold set, sentences too short for a bucket count among all, and the rows have as a note
    what the runs do not know.
    """
    counts = {method: [f"{method}_{name}" for name in COUNTS] for method in METHODS}
    rates = [
        (rate, "" if method == "trained" else method, score, counts[method])
        for method, (rate, score) in product(METHODS, RATES.items())
    ]
    rates += [
        ("aer_gap", method, lambda both: error_rate(both[..., :4]) - error_rate(both[..., 4:]),
         [*counts[method], *counts["trained"]])
        for method in ("untrained", *BASELINES)
    ]  # fmt: skip
    weights = [
        (measure, control, ratio_of_sums, [column, "trained_words"])
        for measure, control, column in (
            ("weight", "", "trained_on_gold"),
            ("weight", "untrained", "untrained_on_gold"),
            ("weight", "equal", "untrained_equal"),
            ("weight_after", "", "trained_after_gold"),
        )
    ]
    rows: list[Row] = []
    for arm in arms_of(probed):
        numbers = [*(rates if arm.settings.model.points else ()), *weights]
        found, least, note = arm.runs[0].found, 0, {}
        if "unknown_source" in found:
            least = OUTSIDE
            source, target = (found[f"unknown_{side}"][0] for side in ("source", "target"))
            note["note"] = (
                f"{arm.name}: unknown to the run are {100 * source:.1f} % of the source and "
                f"{100 * target:.1f} % of the target tokens"
            )
        for place, bucket, inside in in_buckets(arm.runs[0], found["source_words"], least):
            for measure, control, score, columns in numbers:
                sums = arm.statistics(columns)[:, inside]
                keys = {"place": place, "bucket": bucket, "control": control}
                rows += arm.rows(measure, score, sums, **keys, **note)
    return rows


def decide(estimates: Estimates) -> Judgement | str:
    """C7: the weights align better than what knows no words, and than what was made to align."""
    errors = {arm: error for arm in estimates.arms() if (error := estimates.get("aer", arm))}
    if not errors:
        return "no arm with weights that select was measured"
    beaten, clauses = [], []
    for arm, error in errors.items():
        gaps = {name: estimates.get("aer_gap", arm, control=name) for name in BASELINES}
        beaten.append({name for name, gap in gaps.items() if gap.low > 0})
        others = ", ".join(
            f"that of {BASELINES[name]} {estimates.get('aer', arm, control=name).text('{:z.3f}')} "
            f"({gap.change('higher by {}', 'lower by {}', '{:z.3f}')})"
            for name, gap in gaps.items()
        )
        clauses.append(f"{arm}: the AER of the weights is {error.text('{:z.3f}')}, {others}")
    fewest = min(error.n for error in errors.values())
    if marked(fewest):
        clauses.append(f"under {MARKED_BELOW} sentences (n = {fewest})")
    both = all(names == set(BASELINES) for names in beaten)
    partly = any("diagonal" in names for names in beaten)
    worst = max(errors, key=lambda arm: errors[arm].value)
    return Judgement(both, partly, clauses, f"AER of the weights, {worst}", errors[worst])


def notes(frame: pd.DataFrame) -> list[str]:
    """What the columns are, the least error that was possible, what is in no bucket or unknown."""
    means = frame[frame["seed"].isna()]
    lines = [
        "Weight on gold: % of a target word's weight that lies on its gold source words; equal: "
        "what equal weights have there. AER: alignment error rate in %, 0 is best. Untrained: the "
        "same network before training. Diagonal: target word j to the source word at the same "
        "share of the sentence. IBM 1: IBM model 1, 5 iterations on the run's own training pairs. "
        "P, R: precision and recall of the weights' links, end tokens left out."
    ]
    if "uniform" in set(frame["attention"]):
        lines.append(
            "uniform: equal weights have no largest; their weight on gold is their equal share."
        )
    for text, form, measure, control in (
        ("AER of the best choice of one source word for each target word (gold has more, or none)",
         "{:.1f} %", "aer", "best"),
        ("Weight on the place right after the gold source words", "{:.0f} %", "weight_after", ""),
    ):  # fmt: skip
        rows = chosen(means, measure, bucket="", control=control)
        numbers = [form.format(100 * value) for value in rows["value"]]
        if len(set(numbers)) > 1:
            numbers = [f"{arm} {number}" for arm, number in zip(rows["arm"], numbers, strict=True)]
        if numbers:
            lines.append(f"{text}: {', '.join(dict.fromkeys(numbers))}.")
    counts = means.drop_duplicates("bucket").set_index("bucket")["n"]
    outside = int(counts.get("", 0) - counts.drop("", errors="ignore").sum())
    if outside > 0:
        lines.append(f"Sentences in no length bucket: {outside:,}, in the row all alone.")
    return [*lines, *(f"{note}." for note in frame["note"].dropna().unique() if note)]


def attends(settings: RunSettings) -> bool:
    """Whether there are weights on a source to be read."""
    return settings.model.attention != "none" and settings.model.source == "seen"


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows by length, or of all where every sentence is too short for a bucket."""
    names = {"diagonal": "diagonal", "ibm1": "IBM model 1", "equal": "equal weights"}
    rows = rows[rows["control"] != "best"]
    by_length = rows[rows["bucket"] != ""]
    return shared(rows if by_length.empty else by_length, names)


WHOLE = {"scale": 100.0, "form": "{:.0f}", "ends": ""}
RANGED = {"scale": 100.0, "ends": "{:.0f}"}
DRAWN = {"scale": 100.0, "names": {"": "all"}, "lines": None, "select": _drawn}

QUESTION = Question(
    name="alignment",
    ids=("C7",),
    question="Is alignment learned for free: can it be read off the attention weights?",
    title="Alignment (C7): attention weights against gold links",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: attends(settings) and settings.corpus.is_drawn,
    rule=RULE,
    decide=decide,
    notes=notes,
    measures=("aer", "precision", "recall", "aer_gap", "weight", "weight_after"),
    grids=[
        Grid(
            "Alignment (C7): weight on gold links; AER of the weights and of others, %",
            lines=lambda estimates: [
                ((bucket or "all", arm), {"arm": arm, "bucket": bucket})
                for bucket, arm in product((*estimates.buckets(), ""), estimates.arms())
            ],
            columns=[
                Column("on\ngold", "weight", **WHOLE),
                Column("equal", "weight", control="equal", **WHOLE),
                Column("AER\nweights", "aer", **RANGED),
                Column("un-\ntrained", "aer", control="untrained", scale=100.0, ends=""),
                Column("diag-\nonal", "aer", control="diagonal", **RANGED),
                Column("IBM 1", "aer", control="ibm1", **RANGED),
                Column("P", "precision", **WHOLE),
                Column("R", "recall", **WHOLE),
            ],
        )
    ],
    figure="Do the attention weights align words?",
    axes=[
        Axes("Alignment error rate (0: as gold)", "aer", "AER, %", **DRAWN),
        Axes("Weight on the gold source words", "weight", "% of a target word's weight",
             limit=102.0, **DRAWN),
    ],
)  # fmt: skip

TITLE = "Alignment (C7): attention weights against the user's gold links"
GOLD_QUESTION = replace(
    QUESTION,
    name=GOLD,
    title=TITLE,
    suits=attends,
    grids=[replace(QUESTION.grids[0], title=f"{TITLE}; AER, %")],
    figure="Do the attention weights align the words of the user's gold set?",
    counted="sentences of the gold set",
)
