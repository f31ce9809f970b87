"""The worked examples of attention, step by step: L7, L10, L16 and L18."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from . import trained_walks, walks
from .arithmetic import second_slip
from .audit import AUDITS
from .checks import listed
from .evidence import Evidence
from .formulas import Attention
from .sentences import slide_grid
from .slides import WorkedExample
from .steps import Step, check_steps, columns, product, slip, vector


def worked_example(evidence: Evidence, attention: Attention) -> list[Step]:
    """L7: scores, exponentials, weights, context."""
    slide = evidence.slides.l7
    states = np.array(list(slide.states.values()))
    scores = attention.scores(np.array(slide.decoder), states)
    weights = attention.softmax(scores)
    context = attention.weighted_sum(weights, states)
    named = columns(
        [("decoder s", vector(slide.decoder))]
        + [(f"state h({name})", vector(state)) for name, state in slide.states.items()]
    )
    return [
        Step("Given", "", named),
        _scores(slide, scores),
        _exponentials(slide, scores),
        _weights(slide, weights),
        _context(slide.states.values(), weights, context),
    ]


def _scores(slide: WorkedExample, scores: np.ndarray) -> Step:
    rows = [
        (name, product(slide.decoder, state), f"= {score:.2f}", f"slide {printed}")
        for (name, state), score, printed in zip(
            slide.states.items(), scores, slide.scores, strict=True
        )
    ]
    slips = slip("the scores", slide.scores, scores.tolist(), "{:.2f}")
    return Step("Scores", "e_i = s . h_i", columns(rows), slips)


def _exponentials(slide: WorkedExample, scores: np.ndarray) -> Step:
    exponentials = np.exp(scores)
    total = float(exponentials.sum())
    rows = [
        (name, f"exp({score:.2f})", f"= {value:.4f}", "")
        for name, score, value in zip(slide.states, scores, exponentials, strict=True)
    ]
    rows.append(("sum", "", f"= {total:.4f}", f"slide {slide.total}"))
    slips = slip("the sum", [slide.total], [total], "{:.3f}")
    return Step("Exponentials", "exp(e_i), and their sum", columns(rows), slips)


def _weights(slide: WorkedExample, weights: np.ndarray) -> Step:
    rows = [
        (name, f"{weight:.3f}", f"slide {printed}")
        for name, weight, printed in zip(slide.states, weights, slide.weights, strict=True)
    ]
    slips = slip("the weights", slide.weights, weights.tolist(), "{:.3f}")
    share = 100 * float(weights[list(slide.states).index(slide.share_word)])
    slips += slip(f"% on {slide.share_word}:", [slide.share], [share], "{:.1f}")
    if " not " in second_slip(slide):
        slips += (f"A second slip: {second_slip(slide)}.",)
    if len(set(slide.third)) > 1:
        rest = sum(float(weight) for weight in slide.weights[:-1])
        sums = ", ".join(f"{rest + float(third):.2f}" for third in slide.third)
        slips += (
            f"The last weight is {', '.join(slide.third)} in different printings, so that the "
            f"slide's weights sum to {sums}.",
        )
    formula = "alpha_i = exp(e_i) / sum_j exp(e_j), which sum to 1"
    return Step("Weights", formula, columns(rows), slips)


def _context(states: Iterable[Sequence[float]], weights: np.ndarray, context: np.ndarray) -> Step:
    terms = " + ".join(
        f"{weight:.3f} {vector(state)}" for weight, state in zip(weights, states, strict=True)
    )
    lines = (terms, f"= {vector(context.tolist(), '{:.3f}')}")
    return Step("Context", "c = sum_i alpha_i h_i", lines)


def example_matrix(evidence: Evidence, _: Attention) -> list[Step]:
    """L10: the slide's matrix beside a learned one, and what each shows."""
    own = slide_grid(evidence.slides.l10)
    grids = (own,) if evidence.learned is None else (own, evidence.learned)
    sums = [(grid.title, listed(grid.weights.sum(axis=1), "{:.2f}")) for grid in grids]
    shown = [(grid.title, grid.summary()) for grid in grids]
    said = "The slide's is said to show a diagonal, reordering and phrases: most of its rows"
    slips = (f"{said} point at another word.",) if 2 * len(own.right) <= len(own.rows) else ()
    return [
        Step(
            "Weights, a row a French word",
            "[ ] its translation, * the row's largest",
            tuple(grid.note for grid in grids if grid.note),
            grids=grids,
        ),
        Step("Sums of the rows", "1 within rounding", columns(sums)),
        Step("Where the largest weight is", "", columns(shown), slips),
    ]


def gold_alignment(evidence: Evidence, _: Attention) -> list[Step]:
    """L16: the slide's links beside the grammar's, what crosses, what is one to many."""
    slide, own = evidence.slides.l16, evidence.alignment
    found = dict(own.phrases)
    rows = [
        (source, target, f"grammar {found.get(source.lower(), 'none')}")
        for source, target in slide.links
    ]
    other = [
        f"The slide links {source} to {target}, the grammar to {found.get(source.lower())}."
        for source, target in slide.links
        if found.get(source.lower()) != target.lower()
    ]
    crossed = [f"{a} {b}: their translations stand the other way round" for a, b in own.crossings]
    many = [f"{word}: {found[word.lower()]}" for word in own.one_to_many]
    return [
        Step("Sentences", "", (slide.english, slide.french)),
        Step("Links", "", columns(rows), tuple(other)),
        Step("Reorderings", "links that cross", tuple(crossed)),
        Step("One to many", "one English word, several French ones", tuple(many)),
    ]


def attention_code(evidence: Evidence, attention: Attention) -> list[Step]:
    """L18: the code's three operations on L7, and the project's own function on the same."""
    slide, example = evidence.slides.l18, evidence.slides.l7
    query, states = np.array(example.decoder), np.array(list(example.states.values()))
    scores = states @ query
    weights, context = slide.code(query, states)
    own_weights = attention.softmax(attention.scores(query, states))
    own_context = attention.weighted_sum(own_weights, states)
    apart = max(np.abs(weights - own_weights).max(), np.abs(context - own_context).max())
    return [
        Step("Dot products", "scores = states @ query", (listed(scores, "{:.2f}"),)),
        Step(
            "Softmax with the maximum subtracted",
            "exp(scores - max) / sum, which cannot overflow",
            columns(
                [
                    ("scores - max", listed(scores - scores.max(), "{:.2f}")),
                    ("exponentials", listed(np.exp(scores - scores.max()))),
                    ("weights", listed(weights)),
                ]
            ),
        ),
        Step("Weighted sum", "context = weights @ states", (listed(context),)),
        Step(
            "The project's own functions on the same",
            "bottleneck/model/attention.py",
            columns(
                [
                    ("weights", listed(own_weights)),
                    ("context", listed(own_context)),
                    ("greatest difference", f"{apart:.0e}" if apart > 1e-12 else "0"),
                ]
            ),
            () if apart < AGREEMENT else ("The two do not agree.",),
        ),
    ]


AGREEMENT = 1e-6
"""Single precision: where two computations of the same numbers agree."""

WALKS: Mapping[str, Callable[[Evidence, Attention], Sequence[Step]]] = {
    "L2": walks.toy_embedding,
    "L3": walks.sentence_compression,
    "L4": walks.compression_by_length,
    "L5": walks.relevance,
    "L6": walks.dot_products,
    "L7": worked_example,
    "L8": walks.amplification,
    "L9": walks.capacity,
    "L10": example_matrix,
    "L16": gold_alignment,
    "L18": attention_code,
    "L17": trained_walks.first_steps,
    "L-SHORT": trained_walks.short_sentences,
}
"""The ids with a worked example; the last two ask trained arms."""


def walk(name: str, evidence: Evidence, attention: Attention) -> list[Step]:
    """The steps of an id of `AUDITS`; without a worked example, what its audit checks."""
    if name in WALKS:
        return list(WALKS[name](evidence, attention))
    return check_steps(AUDITS[name](evidence))
