"""The audit of what stands on whole sentences: L10, L14 to L18, L-SHORT and L-LOST."""

import numpy as np

from .arithmetic import attend
from .checks import Audit, Check, claimed, counted, listed
from .evidence import Evidence, Exponent
from .grid import Grid
from .slides import ExampleMatrix
from .trained import as_printed
from .verdicts import Judgement, rounds_to

ROUNDING = 0.005
"""The most that rounding at two decimals takes from or adds to a cell."""


def slide_grid(slide: ExampleMatrix) -> Grid:
    """L10's matrix as numbers."""
    weights = np.array([[float(cell) for cell in row] for row in slide.weights])
    return Grid("the slide's", slide.french, slide.english, weights, slide.gold)


def example_matrix(evidence: Evidence) -> Audit:
    """L10: rows sum to 1; in how many is the word's translation the argmax."""
    grid = slide_grid(evidence.slides.l10)
    sums = grid.weights.sum(axis=1)
    whole = np.abs(sums - 1) <= ROUNDING * len(grid.columns) + 1e-9
    aligned = 2 * len(grid.right) > len(grid.rows)
    checks = (
        claimed("rows sum to", "1", f"{sums.min():.2f} to {sums.max():.2f}", whole.tolist()),
        Check(
            "shows",
            "a diagonal, reordering, phrases",
            f"translation largest in {len(grid.right)} of {len(grid.rows)} rows",
            "right" if aligned else "illustration",
        ),
    )
    return Audit("L10", "Example alignment matrix", checks, grid.summary())


def long_sentence(evidence: Evidence) -> Audit:
    """L14: words counted in the sentence itself, and the numbers that they take."""
    slide = evidence.slides.l14
    words, said = len(slide.sentence.split()), int(slide.words_elsewhere)
    overflow = int(slide.used) > slide.context
    checks = (
        counted("words", [slide.words], [words]),
        counted("words elsewhere", [slide.words_elsewhere], [words]),
        counted(f"numbers for {said} words:", [slide.numbers], [said * slide.width]),
        claimed(
            "capacity:",
            f"{slide.used}/{slide.context} used, overflow",
            f"{slide.used}/{slide.context}, {'overflow' if overflow else 'no overflow'}",
            [overflow],
        ),
    )
    why = (
        f"the sentence has {words} words; {slide.numbers} numbers for {said} words are "
        f"{int(slide.numbers) / said:g} a word where the lecture uses {slide.width}; "
        f"{slide.used} of {slide.context} is {'an' if overflow else 'no'} overflow"
    )
    return Audit("L14", "The long sentence", checks, why)


def attention_cost(evidence: Evidence) -> Audit:
    """L15: the printed orders against the measured exponent of attention's seconds.

    Judged is the length, T on both sides: Tx is T and Tx Ty is T^2.
    """
    slide, cost = evidence.slides.l15, evidence.cost
    solved = slide.remedy_exponent < lengths_in(slide.in_all)
    checks = (
        _order("a step:", slide.a_step, cost and cost.a_step),
        _order("in all:", slide.in_all, cost),
        claimed(
            "quadratic:",
            f"{slide.remedy} address this",
            f"self-attention O(T^{slide.remedy_exponent})",
            [solved],
        ),
    )
    remark = "is not" if solved else "is"
    measured = _measured(cost, "not measured" in {check.judgement for check in checks})
    why = f"{measured}; self-attention {remark} quadratic in the length too"
    return Audit("L15", "Cost of attention", checks, why)


def lengths_in(order: str) -> int:
    """How many lengths are multiplied in ``"O(Tx Ty dh)"``: 2."""
    return order.count("T")


def _order(name: str, printed: str, cost: Exponent | None) -> Check:
    """An order against the exponent that was measured, if one was."""
    judgement = order_of(lengths_in(printed), cost)
    return Check(name, printed, f"T^{cost.value:.2f}" if cost else judgement, judgement)


def order_of(exponent: int, cost: Exponent | None) -> Judgement:
    """Right where the whole interval rounds to the printed one, wrong where none of it does."""
    if cost is None:
        return "not measured"
    ends = [rounds_to(str(exponent), end) for end in (cost.low, cost.high)]
    apart = cost.high < exponent or cost.low > exponent
    if all(ends):
        return "right"
    return "wrong" if apart and not any(ends) else "not measured"


def _measured(cost: Exponent | None, undecided: bool) -> str:
    if cost is None:
        return "`bottleneck bench` measures the orders in the length"
    wide = ", too wide an interval to tell" if undecided else ""
    interval = f"[{cost.low:.2f}, {cost.high:.2f}]"
    folder = f" ({cost.folder})" if cost.folder else ""
    return (
        f"{cost.arm}: seconds in all grow as T^{cost.value:.2f} {interval} with T tokens a "
        f"side{folder}{wide}; a step's are these over T; dh is not judged"
    )


def gold_alignment(evidence: Evidence) -> Audit:
    """L16: the slide's links against the grammar's own for the same sentence."""
    slide, own = evidence.slides.l16, evidence.alignment
    said = [(source.lower(), target.lower()) for source, target in slide.links]
    same = [link in own.phrases for link in said] + [link in said for link in own.phrases]
    counts = (len(slide.english.split()), len(slide.french.split()))
    checks = (
        claimed("links", _pairs(slide.links), _pairs(own.phrases), same),
        counted("English, French words", [slide.english_words, slide.french_words], counts),
        counted("reorderings", [slide.reorderings], [len(own.crossings)]),
        counted("one to many", [slide.one_to_many], [len(own.one_to_many)]),
    )
    agree = "the same links" if all(same) else "other links"
    crossed = ", ".join(" ".join(pair) for pair in own.crossings)
    why = (
        f"the grammar's own alignment has {agree}; reordered: {crossed}; "
        f"one to many: {', '.join(own.one_to_many)}"
    )
    return Audit("L16", "Gold alignment", checks, why)


def _pairs(links: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> str:
    return ", ".join("-".join(link) for link in links)


def first_steps(evidence: Evidence) -> Audit:
    """L17: probabilities that nothing printed gives; they must leave a sum of 1 at most."""
    slide = evidence.slides.l17
    checks = []
    for place, step in enumerate(slide.steps, 1):
        total = sum(float(share) for share in step.values())
        printed = ", ".join(f"P({word}) {share}" for word, share in step.items())
        possible = "illustration" if total <= 1 + 1e-9 else "wrong"
        checks.append(Check(f"step {place}:", printed, f"sum {total:.1f}", possible))
    way = "" if evidence.first else "; `bottleneck lecture L17` shows those of a trained run"
    why = f"nothing printed gives them{way}"
    return Audit("L17", f"First steps for {slide.source}", tuple(checks), why)


def attention_code(evidence: Evidence) -> Audit:
    """L18: the code run on L7, against the formula as worked out on paper."""
    slide, example = evidence.slides.l18, evidence.slides.l7
    states = np.array(list(example.states.values()))
    weights, context = slide.code(np.array(example.decoder), states)
    _, expected, expected_context = attend(example)
    holds = [np.allclose(weights, expected), np.allclose(context, expected_context)]
    ran = f"on L7: weights {listed(weights)}, context {listed(context)}"
    check = claimed("", ", ".join(slide.operations), ran, [all(holds)])
    same = "the audited" if all(holds) else "other"
    why = f"its {len(slide.operations)} operations give {same} weights of L7 ({listed(expected)})"
    return Audit("L18", "Attention in code", (check,), why)


def short_sentences(evidence: Evidence) -> Audit:
    """L-SHORT: the sentences' words against the lengths of their heading.

    How many translations of trained arms are the slide's is told, and judges nothing: it hangs on
    the run.
    """
    slide = evidence.slides.short
    low, high = (int(edge) for edge in slide.heading.split()[0].split("-"))
    words = [len(source.split()) for source, _ in slide.pairs]
    check = claimed(
        "lengths:",
        f"{len(words)} sentences of {slide.heading}",
        f"{listed(words, '{}')} words",
        [low <= count <= high for count in words],
    )
    counts = as_printed(evidence.short, slide.pairs)
    said = ", ".join(" ".join(count) for count in counts)
    way = "`bottleneck lecture L-SHORT` shows a trained run's translations"
    told = f"as the slide has them: {said}" if said else way
    why = (
        f"judged are the lengths: {min(words)} to {max(words)} words each, under the heading "
        f"{slide.heading}; {told}"
    )
    return Audit("L-SHORT", "Short sentences", (check,), why)


def lost_words(evidence: Evidence) -> Audit:
    """L-LOST: the words said to be lost must stand in the sentence; what survives is no words."""
    slide, sentence = evidence.slides.lost, evidence.slides.l14.sentence.lower()
    found = [phrase.lower() in sentence for phrase in (*slide.phrases, slide.name)]
    survived = Check("survived:", ", ".join(slide.survived), "no words to find", "illustration")
    lost = Check(
        "lost:",
        f"{', '.join(slide.phrases)}, the conference's exact name",
        f"{sum(found)} of {len(found)} are the sentence's",
        "illustration" if all(found) else "wrong",
    )
    why = "no translation is printed, so that nothing can be recomputed; models are measured (C3)"
    return Audit("L-LOST", "The long sentence's fate", (survived, lost), why)
