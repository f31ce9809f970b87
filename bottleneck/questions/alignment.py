"""C7: is alignment learned for free, and can it be read off the attention weights?

The weights are teacher-forced on the references and compared with gold links. Free is what nobody
taught: the weights' links must beat those of the diagonal, which knows no words, and of IBM model
1, which was made to align and is trained on the run's own training pairs. The table also has the
network before training, and the least error that one link for each target word allows. Every
method links each target word to one source word (IBM model 1: or to none); gold links may be more,
or none.

Links are (source, target) positions, 0-based. End tokens are neither linked nor counted. All
measures are ratios of per-sentence counts, so that a bootstrap can draw sentences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Real
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, Verdict, marked, needs_learned, numbers
from ..corpus.pair import Link, SentencePair
from ..corpus.pieces import by_word, links_from_weights, shares_of
from ..corpus.tokens import WORDS, tokenize
from ..figures.plot import shared
from ..scoring.bootstrap import ratio_of_sums
from ..settings.run import RunSettings
from .estimates import Estimates
from .ibm1 import IBM1, train
from .question import Axes, Column, Columns, Grid, Line, Probed, Question, Row, Tell, grade

if TYPE_CHECKING:
    from ..model.translator import Weights
    from .arms import Arm
    from .subject import Subject

Links = frozenset[Link]
Matrix = Float[ndarray, "_ _"]
"""Weights of one sentence, target x source words, the end tokens last."""
ITERATIONS, BATCH = 5, 128
"""Of EM for IBM model 1; and sentences whose weights are read at once."""
NETWORKS = ("trained", "untrained")
METHODS = (*NETWORKS, "diagonal", "ibm1", "best")
COUNTS = ("sure_found", "possible_found", "links", "sure")
WEIGHTS = ("on_gold", "equal", "words", "after_gold")
ALL = "all"
"""The name of the row of all lengths."""
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


class GoldLinks(NamedTuple):
    """Links that a person drew: sure ones, and possible ones with the sure among them."""

    sure: Links
    possible: Links

    @classmethod
    def all_sure(cls, links: Iterable[Link]) -> "GoldLinks":
        """Exact links, as the grammar's: what is possible is sure."""
        exact = frozenset(links)
        return cls(exact, exact)


class LinkedPair(NamedTuple):
    """A sentence pair, the words that its links are between, and the gold links."""

    pair: SentencePair
    source: list[str]
    target: list[str]
    gold: GoldLinks


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Count the links and weights of every test sentence that has gold links."""
    pairs = [
        LinkedPair(pair, *tokens_of(pair), GoldLinks.all_sure(pair.links))
        for pair in subject.corpus.test
        if pair.links
    ]
    return measure(subject, pairs, train_ibm1(subject, tell), tell)


def tokens_of(pair: SentencePair) -> tuple[list[str], list[str]]:
    """Word tokens of both sides."""
    return tokenize(pair.source), tokenize(pair.target)


def train_ibm1(subject: "Subject", tell: Tell) -> IBM1:
    """IBM model 1 of the word tokens of the run's training pairs, whatever the run reads."""
    tell("training IBM model 1")
    return train([tokens_of(pair) for pair in subject.corpus.train], iterations=ITERATIONS)[0]


def measure(subject: "Subject", pairs: Sequence[LinkedPair], model: IBM1, tell: Tell) -> Columns:
    """The columns of the probe for these sentences."""
    tell("reading weights")
    networks = zip(NETWORKS, (subject.weights, subject.untrained), strict=True)
    matrices = {name: matrices_of(subject, weights, pairs) for name, weights in networks}
    return columns_of(pairs, matrices, [_links_of(model, item) for item in pairs])


def matrices_of(
    subject: "Subject", weights: "Weights", pairs: Sequence[LinkedPair]
) -> list[Matrix]:
    """Weights on the references, in reading order and word by word."""
    from ..runs.attention import attention_matrices

    encoded = subject.encode([item.pair for item in pairs])
    reverse = subject.settings.model.reverse_source
    matrices = attention_matrices(subject.graph, weights, encoded, reverse, BATCH)
    ours, theirs = subject.vocabularies
    return [
        by_word(
            matrix,
            shares_of(ours.pieces(item.pair.source), item.source, ours.tokenizer),
            shares_of(theirs.pieces(item.pair.target), item.target, theirs.tokenizer),
        )
        for matrix, item in zip(matrices, pairs, strict=True)
    ]


def _links_of(model: IBM1, item: LinkedPair) -> Links:
    """IBM model 1's links; a word is linked where any of its word tokens is."""
    tokens = tokens_of(item.pair)
    source, target = (
        shares_of(side, words, WORDS).argmax(axis=1)
        for side, words in zip(tokens, (item.source, item.target), strict=True)
    )
    (links,) = model.align([tokens])
    return frozenset((int(source[i]), int(target[j])) for i, j in links)


def columns_of(
    pairs: Sequence[LinkedPair], matrices: Mapping[str, Sequence[Matrix]], aligned: Sequence[Links]
) -> Columns:
    """Counts of each sentence: of links for each method, of weight for each network."""
    rows = []
    for place, item in enumerate(pairs):
        lengths = len(item.source), len(item.target)
        weights = {name: matrices[name][place] for name in NETWORKS}
        links = {name: links_from_weights(matrix, *lengths) for name, matrix in weights.items()} | {
            "diagonal": diagonal_links(*lengths),
            "ibm1": aligned[place],
            "best": best_links(item.gold, *lengths),
        }
        row: dict[str, int | float] = {"source_words": item.pair.words}
        for method in METHODS:
            counts = zip(COUNTS, link_counts(links[method], item.gold), strict=True)
            row |= {f"{method}_{name}": count for name, count in counts}
        for network, matrix in weights.items():
            sums = zip(WEIGHTS, weight_sums(matrix, item.gold.possible), strict=True)
            row |= {f"{network}_{name}": value for name, value in sums}
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def diagonal_links(source_words: int, target_words: int) -> Links:
    """The baseline that ignores the words: target j is linked to source floor((j + 1/2) I / J).

    I and J are the numbers of source and target words: the middle of word j, on the source's scale.
    """
    if not source_words:
        return frozenset()
    middle = [(2 * j + 1) * source_words // (2 * target_words) for j in range(target_words)]
    return frozenset((i, j) for j, i in enumerate(middle))


def best_links(gold: GoldLinks, source_words: int, target_words: int) -> Links:
    """The fewest errors that one link a target word allows: a sure one, else a possible, else any.

    Words without gold are linked all the same, as by the weights: to the first word.
    """
    by_target = dict.fromkeys(range(target_words), 0) if source_words else {}
    by_target |= {j: i for i, j in sorted(gold.possible)}
    by_target |= {j: i for i, j in sorted(gold.sure)}
    return frozenset((i, j) for j, i in by_target.items())


def link_counts(links: Links, gold: GoldLinks) -> list[int]:
    """Counts of links A against gold S, P: |A & S|, |A & P|, |A|, |S|."""
    return [len(links & gold.sure), len(links & gold.possible), len(links), len(gold.sure)]


def error_rate(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003); nan without any links."""
    parts = np.stack([sums[..., :2].sum(-1), sums[..., 2:].sum(-1)], axis=-1)
    return np.asarray(1 - ratio_of_sums(parts))


def precision(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """|A & P| / |A|: links that are at least possible; nan without links."""
    return ratio_of_sums(sums[..., [1, 2]])


def recall(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """|A & S| / |S|: sure links that were found; nan without sure links."""
    return ratio_of_sums(sums[..., [0, 3]])


def weight_sums(weights: Float[ndarray, "target source"], links: Links) -> list[float]:
    """Weight on gold links, equal weights' share, target words with gold, weight right after gold.

    Of each target word that has gold links the weights on its gold sources are summed. The matrix
    has all columns that were read, the source's end token too: equal weights over all columns are
    what the ``uniform`` arm has, which therefore scores its own share exactly. Right after gold are
    the next places that are not gold, the end token among them: a one-way encoder has read a word
    for good only there.
    """
    columns = weights.shape[1]
    after = {(i + 1, j) for i, j in links if i + 1 < columns} - links
    on_gold, later = (
        sum((float(weights[j, i]) for i, j in sorted(places)), 0.0) for places in (links, after)
    )
    return [on_gold, len(links) / max(columns, 1), float(len({j for _, j in links})), later]


def summarise(probed: Sequence[Probed], outside: bool = False) -> list[Row]:
    """Rates of every method and weight on gold, by bucket, then of all buckets.

    With ``outside`` sentences that are in no bucket, being too short, count among all.
    """
    from .arms import arms_of, in_buckets

    rows: list[Row] = []
    for arm in arms_of(probed):
        words = arm.runs[0].found["source_words"].astype(np.float64)
        buckets = list(in_buckets(arm.runs[0], words))
        everywhere = np.logical_or.reduce([inside for _, _, inside in buckets]) | outside
        for place, bucket, inside in [*buckets, (len(buckets), "", everywhere)]:
            if inside.any():
                rows += _rows(arm, inside, place, bucket)
    return rows


def _rows(arm: "Arm", inside: ndarray, place: int, bucket: str) -> Iterator[Row]:
    """All numbers of these sentences."""

    def sums(method: str, *names: str) -> Float[ndarray, "seeds sentences columns"]:
        columns = [[run.found[f"{method}_{name}"][inside] for name in names] for run in arm.runs]
        return np.moveaxis(np.array(columns, np.float64), 1, 2)

    keys = {"place": place, "bucket": bucket}
    controls = {method: "" if method == "trained" else method for method in METHODS}
    if arm.settings.model.points:
        counts = {method: sums(method, *COUNTS) for method in METHODS}
        rates = {"aer": error_rate, "precision": precision, "recall": recall}
        for method, control in controls.items():
            for name, rate in rates.items():
                yield from arm.rows(name, rate, counts[method], control=control, **keys)
        for method in ("untrained", *BASELINES):
            both = np.concatenate([counts[method], counts["trained"]], axis=-1)
            yield from arm.rows("aer_gap", _gap, both, control=method, **keys)
    for measure, method, name, control in (
        ("weight", "trained", "on_gold", ""),
        ("weight", "untrained", "on_gold", "untrained"),
        ("weight", "untrained", "equal", "equal"),
        ("weight_after", "trained", "after_gold", ""),
    ):
        weights = sums(method, name, "words")
        yield from arm.rows(measure, ratio_of_sums, weights, control=control, **keys)


def _gap(sums: Float[ndarray, "*rows 8"]) -> Float[ndarray, "*rows"]:
    """Error rate of the control, minus that of the weights."""
    return error_rate(sums[..., :4]) - error_rate(sums[..., 4:])


def decide(estimates: Estimates | None) -> Sequence[Verdict]:
    """C7: the weights align better than what knows no words, and than what was made to align."""
    reason = "no alignment was measured: run `bottleneck study alignment`"
    if estimates is not None:
        reason = "no arm with weights that select was measured"
        keys = estimates.keys("aer")
        if arms := [arm for arm, bucket, control, _ in keys if not bucket and not control]:
            return [_judge(estimates, arms)]
    return [Verdict("C7", "not measured", RULE, reason)]


def _judge(estimates: Estimates, arms: Sequence[str]) -> Verdict:
    errors = {arm: estimates.get("aer", arm) for arm in arms}
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
    verdict = grade(
        held=all(names == set(BASELINES) for names in beaten),
        partly=any("diagonal" in names for names in beaten),
    )
    worst = max(errors, key=lambda arm: errors[arm].value)
    error = errors[worst]
    number = numbers(f"AER of the weights, {worst}", error.value, error.low, error.high)
    return Verdict("C7", verdict, RULE, "; ".join(clauses), **number)


NOTES = (
    "Weight on gold: % of a target word's weight that lies on its gold source words; equal: what "
    "equal weights have there. AER: alignment error rate in %, 0 is best. Weights: each target "
    "word is linked to the source word with its largest weight, on the references, end tokens left "
    "out. Untrained: the same network before training. Diagonal: target word j to the source word "
    "at the same share of the sentence. IBM 1: IBM model 1, 5 iterations on the run's own training "
    "pairs; a target word that these do not have is linked by its place. P, R: precision and "
    "recall of the weights' links."
)
UNIFORM = (
    "uniform: equal weights have no largest, so that an alignment read off them would mean "
    "nothing; their weight on gold is their equal share."
)


def notes(frame: pd.DataFrame) -> list[str]:
    """What the columns are, the least error that was possible, and sentences in no bucket."""
    means = frame[frame["seed"].isna()]
    whole = means[means["bucket"] == ""]
    best = whole[(whole["measure"] == "aer") & (whole["control"] == "best")]
    after = whole[whole["measure"] == "weight_after"]
    counts = means.drop_duplicates("bucket").set_index("bucket")["n"]
    outside = int(counts.get("", 0) - counts.drop("", errors="ignore").sum())
    lines = {
        NOTES: True,
        UNIFORM: "uniform" in set(frame["attention"]),
        "AER of the best choice of one source word for each target word (gold has more, or none): "
        f"{_by_arm(best, '{:.1f} %')}.": len(best),
        "Weight on the place right after the gold source words: "
        f"{_by_arm(after, '{:.0f} %')}.": len(after),
        f"Sentences in no length bucket: {outside:,}, in the row {ALL} alone.": outside > 0,
    }
    return [line for line, wanted in lines.items() if wanted]


def _by_arm(rows: pd.DataFrame, form: str) -> str:
    """A number that all arms share, or each arm's."""
    values = [form.format(100 * value) for value in rows["value"]]
    if len(set(values)) == 1:
        return values[0]
    return ", ".join(f"{arm} {value}" for arm, value in zip(rows["arm"], values, strict=True))


def attends(settings: RunSettings) -> bool:
    """Whether there are weights on a source to be read."""
    return settings.model.attention != "none" and settings.model.source == "seen"


def lines(estimates: Estimates) -> Iterator[Line]:
    """A row for each bucket and arm, all lengths last."""
    for bucket in (*estimates.buckets(), ""):
        for arm in estimates.arms():
            yield (bucket or ALL, arm), {"arm": arm, "bucket": bucket}


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows by length, or of all where every sentence is too short for a bucket."""
    names = {"diagonal": "diagonal", "ibm1": "IBM model 1", "equal": "equal weights"}
    by_length = rows[(rows["bucket"] != "") & (rows["control"] != "best")]
    return shared(rows[rows["control"] != "best"] if by_length.empty else by_length, names)


WHOLE = {"scale": 100.0, "form": "{:.0f}", "ends": ""}
RANGED = {"scale": 100.0, "ends": "{:.0f}"}

QUESTION = Question(
    name="alignment",
    ids=("C7",),
    question="Is alignment learned for free: can it be read off the attention weights?",
    title="Alignment (C7): attention weights against gold links",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: attends(settings) and settings.corpus.is_drawn,
    decide=decide,
    notes=notes,
    measures=("aer", "precision", "recall", "aer_gap", "weight", "weight_after"),
    grids=[
        Grid(
            "Alignment (C7): weight on gold links; AER of the weights and of others, %",
            lines=lines,
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
        Axes(
            "Alignment error rate (0: as gold)", "aer", "AER, %", 100.0,
            names={"": ALL}, lines=None, select=_drawn,
        ),
        Axes(
            "Weight on the gold source words", "weight", "% of a target word's weight", 100.0,
            names={"": ALL}, lines=None, select=_drawn, limit=102.0,
        ),
    ],
)  # fmt: skip
