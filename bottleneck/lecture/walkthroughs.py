"""The lecture's numbers recomputed step by step, with one function per kind of arithmetic.

A function takes what an id's slide prints and the `Evidence`, and yields the steps with their
checks. The audit is the summary of the steps.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.distance import cosine
from scipy.special import softmax

from .slides import (
    SLIDES,
    TOLERANCE,
    Audit,
    Check,
    Evidence,
    Grid,
    Number,
    Step,
    combined,
    formatted,
    listed,
    numbers,
    parts,
    rounds_to,
)

Slide = Mapping[str, Any]
Steps = Iterator[Step]
SOFTMAX = "alpha_i = exp(e_i) / sum_j exp(e_j)"
FROM_FIRST = "BLEU / BLEU of the first row - 1"


def vector(values: Iterable[Number], form: str = "{:g}") -> str:
    """``(0.5, -0.2, 0.8)``."""
    return f"({', '.join(formatted(form, values))})"


def product(a: Iterable[Number], b: Iterable[Number]) -> str:
    """A dot product written out: ``0.5 x 0.1 + (-0.2) x 0.2``."""
    signed = [[f"({x:g})" if x < 0 else f"{x:g}" for x in values] for values in (a, b)]
    return " + ".join(map(" x ".join, zip(*signed, strict=True)))


def character_codes(slide: Slide, _: Evidence) -> Steps:
    """L1: the code point of each letter, and how many codes two words share."""
    checks = [numbers(word, printed, map(ord, word)) for word, printed in slide["codes"].items()]
    first, second = slide["pair"]
    shared = sum(a == b for a, b in zip(first, second, strict=True))
    checks.append(numbers(f"shared by {first} and {second}", [slide["shared"]], [shared]))
    yield Step("Codes", "ord() of each letter", checks=checks)


def toy_embedding(slide: Slide, _: Evidence) -> Steps:
    """L2: the nearest and the farthest word, by Euclidean distance and by cosine."""
    vectors = {name: np.array(values, float) for name, values in slide["vectors"].items()}
    word = vectors.pop(slide["word"])
    distance = {name: float(np.linalg.norm(word - other)) for name, other in vectors.items()}
    angle = {name: float(cosine(word, other)) for name, other in vectors.items()}
    checks = []
    for name, most in (("near", min), ("far", max)):
        first, second = (most(gaps, key=gaps.get) for gaps in (distance, angle))
        measured = f"{first} (distance {distance[first]:.3f}, cosine {1 - angle[first]:.3f})"
        judgement = parts([first == slide[name], second == slide[name]])
        checks.append(Check(name, slide[name], measured, judgement))
    formula = f"from {slide['word']}: |a - b|, and a . b / (|a| |b|)"
    yield Step("Distance and cosine", formula, checks=checks)


def compression(slide: Slide, _: Evidence) -> Steps:
    """L3, L4, L9: how many numbers the words have, and how many the context has."""
    width, context = slide["numbers_a_word"], slide["context"]
    words = np.array(slide["words"], float)
    total = words * width
    quantities = {
        "numbers": (f"words x {width}", total, "{:g}", ""),
        "ratio": (f"words x {width} / {context}", total / context, "{:.2f}", " : 1"),
        "lost": (f"words x {width} - {context}", total - context, "{:g}", ""),
        "discarded": ("lost / numbers", 100 * (total - context) / total, "{:.2f}", " %"),
        "with attention": (f"words x {context}, one state per word", words * context, "{:g}", ""),
    }
    for name, printed in slide["printed"].items():
        formula, values, form, unit = quantities[name]
        check = numbers(name, printed, values, form, unit, slide.get("tens", False))
        yield Step(name.capitalize(), formula, checks=[check])


def relevance(slide: Slide, _: Evidence) -> Steps:
    """L5: the shares sum to 100 %, so the context is a weighted mean of the states."""
    total = sum(slide["percent"])
    printed = f"{' '.join(map(str, slide['percent']))} %, sum {slide['total']}"
    mean, weights = "weighted mean of the states", f"weights sum to {total / 100:g}"
    checks = [
        Check("shares", printed, f"sum {total}", parts([total == slide["total"]])),
        Check("context", mean, weights, parts([total == 100])),
    ]
    yield Step(f"Context for {slide['target']}", "c = sum_i alpha_i h_i", checks=checks)


def dot_products(slide: Slide, _: Evidence) -> Steps:
    """L6: dot products term by term, and the cosines of the same vectors."""
    vectors = {name: np.array(values, float) for name, values in slide["vectors"].items()}
    checks, rows = [], []
    for first, second, printed in slide["products"]:
        a, b = vectors[first], vectors[second]
        name = f"{first} . {second}"
        checks.append(numbers(name, [printed], [a @ b], "{:.2f}"))
        rows.append((name, product(a, b), f"= {a @ b:.2f}", f"cosine {1 - cosine(a, b):.3f}"))
    formula = "a . b = sum_i a_i b_i; cosine = a . b / (|a| |b|)"
    yield Step("Dot products", formula, list(zip(*rows, strict=True)), checks)


def attend(slide: Slide) -> tuple[np.ndarray, ...]:
    """States, scores, weights and context of L7 by the formulas."""
    states = np.array(list(slide["states"].values()), float)
    scores = states @ np.array(slide["decoder"], float)
    weights = softmax(scores)
    return states, scores, weights, weights @ states


def worked_example(slide: Slide, _: Evidence) -> Steps:
    """L7: scores, exponentials and their sum, weights, context, and the slide's slips."""
    states, scores, weights, context = attend(slide)
    words, exponentials, printed = list(slide["states"]), np.exp(scores), slide["weights"]
    total, share = float(exponentials.sum()), 100 * float(weights[words.index(slide["word"])])

    check = numbers("scores", slide["scores"], scores, "{:.2f}")
    products = [product(slide["decoder"], state) for state in states]
    columns = [words, products, formatted("= {:.2f}", scores)]
    yield Step("Scores", "e_i = s . h_i", columns, [check])

    check = numbers("sum of exponentials", [slide["sum"]], [total], "{:.3f}")
    columns = [[*words, "sum"], formatted("= {:.4f}", [*exponentials, total])]
    yield Step("Exponentials", "exp(e_i)", columns, [check])

    checks = [
        numbers("weights", printed, weights, "{:.3f}"),
        numbers(f"on {slide['word']}", [slide["percent"]], [share], "{:.1f}", " %"),
    ]
    sums = ", ".join(f"{sum(printed[:-1]) + last:.2f}" for last in slide["last_weight"])
    printings = ", ".join(map(str, slide["last_weight"]))
    notes = [f"the last weight is printed as {printings}: sums {sums}"]
    quotient = slide["last_exponential"] / slide["sum"]
    if not rounds_to(printed[-1], quotient):
        division = f"{slide['last_exponential']} / {slide['sum']}"
        notes.insert(0, f"the slide's {division} is {quotient:.2f}, not {printed[-1]}")
    yield Step("Weights", SOFTMAX, [words, formatted("{:.3f}", weights)], checks, notes)

    terms = [f"{a:.3f} {vector(state)}" for a, state in zip(weights, states, strict=True)]
    columns = [[" + ".join(terms), f"= {vector(context, '{:.3f}')}"]]
    yield Step("Context", "c = sum_i alpha_i h_i", columns)


def amplification(slide: Slide, _: Evidence) -> Steps:
    """L8: the softmax of two scores, and whether their ratio grows."""
    scores = np.array(slide["scores"], float)
    weights = softmax(scores, axis=1)
    for pair, printed, shares in zip(scores, slide["weights"], weights, strict=True):
        check = numbers(vector(pair), printed, shares, "{:.3f}")
        yield Step(f"Scores {vector(pair)}", SOFTMAX, checks=[check])
    before, after = scores[:, 0] / scores[:, 1], weights[:, 0] / weights[:, 1]
    least = float(weights.min())
    ratios = [f"{a:g}:1 becomes {b:.2g}:1" for a, b in zip(before, after, strict=True)]
    checks = [
        Check("amplifies", "always (our reading)", ", ".join(ratios), parts(after > before)),
        Check("sparse", "yes (our reading)", f"least weight {least:.3f}", parts([least == 0])),
    ]
    yield Step("Ratios", "of two weights: exp(e_1 - e_2)", checks=checks)


def example_matrix(slide: Slide, evidence: Evidence) -> Steps:
    """L10: whether rows sum to 1, and how many have the largest weight on the translation."""
    weights = np.array(slide["weights"], float)
    grid = Grid("the slide's", slide["french"], slide["english"], weights, slide["gold"])
    grids = [grid] if evidence.learned is None else [grid, evidence.learned]
    sums, rows = weights.sum(axis=1), len(grid.rows)
    whole = np.abs(sums - 1) <= 0.005 * len(grid.columns) + TOLERANCE  # each cell was rounded
    judgement = "right" if 2 * grid.aligned() > rows else "illustration"
    largest = f"translation largest in {grid.aligned()} of {rows} rows"
    checks = [
        Check("rows sum to", "1", f"{sums.min():.2f} to {sums.max():.2f}", parts(whole)),
        Check("shows", slide["claim"], largest, judgement),
    ]
    key = "a row for each French word; [ ] is the translation, * the row's largest weight"
    notes = []
    for grid in grids:
        gold = grid.weights[np.arange(len(grid.rows)), list(grid.gold)].mean()
        notes.append(
            f"{grid.title}: largest on the word's translation in {grid.aligned()} of "
            f"{len(grid.rows)} rows; gold cells {gold:.3f} on average, equal weights "
            f"{1 / len(grid.columns):.3f}"
        )
    yield Step("Weights", key, checks=checks, notes=notes, grids=grids)


def quality_drop(_: Slide, evidence: Evidence) -> Steps:
    """L11: the fall of L-FAIL's BLEU from its first row."""
    bleu, printed = (evidence.column("L-FAIL", name) for name in ("bleu", "drop_percent"))
    falls = [100 * (value / bleu[0] - 1) for value in bleu[1:]]
    check = numbers("drop", printed[1:], falls, "{:.1f}", " %")
    yield Step("Quality drop", FROM_FIRST, checks=[check])


def bucket_ratio(slide: Slide, evidence: Evidence) -> Steps:
    """L12: the ratio by L4's rule at the middle of each bucket, or else at some length in it."""
    printed, rule = evidence.column("L-FAIL", "compression_ratio"), evidence.slides["L4"]
    scale = rule["numbers_a_word"] / rule["context"]
    low, middle, high = (np.array(slide[name], float) for name in ("low", "middle", "high"))
    lengths = np.array(printed) / scale
    inside = (low <= lengths) & (lengths <= high)
    good = np.array([rounds_to(*pair) for pair in zip(printed, middle * scale, strict=True)])
    freely = inside.all() and not good.all()
    ratios = [f"{text} : 1" for text in (listed(printed, "{}"), listed(middle * scale, "{:.1f}"))]
    judgement = "rounded freely" if freely else parts(good | inside)
    note = f"the printed ratios are those of {listed(lengths, '{:.0f}')} words"
    check = Check("ratio", *ratios, judgement)
    yield Step("Ratios", "L4's rule at the middle of each bucket", checks=[check], notes=[note])


def improvement(slide: Slide, evidence: Evidence) -> Steps:
    """L13: attention's gain in per cent, and whether BLEU with attention falls, too."""
    none, attention = (np.array(evidence.column("L-VIND", arm)) for arm in ("none", "attention"))
    printed = evidence.column("L-VIND", "improvement_percent")
    check = numbers("improvement", printed, 100 * (attention / none - 1), "{:.1f}", " %")
    yield Step("Improvement", "BLEU with attention / without - 1", checks=[check])
    falls = 100 * (attention[1:] / attention[0] - 1)
    fall = f"with attention {listed(falls, '{:.1f}')} %"
    check = Check("the problem", slide["claim"], fall, parts([bool(falls.min() >= 0)]))
    stays = 100 * (attention[0] - attention[-1]) / (none[0] - none[-1])
    note = f"with attention {stays:.0f} % of the loss remains"
    yield Step("Does attention solve it?", FROM_FIRST, checks=[check], notes=[note])


def long_sentence(slide: Slide, _: Evidence) -> Steps:
    """L14: the words of the sentence, and the numbers that they take."""
    words, elsewhere = len(slide["sentence"].split()), slide["words_elsewhere"]
    used, overflow = f"{slide['used']}/{slide['context']}", slide["used"] > slide["context"]
    recomputed = f"{used}, {'overflow' if overflow else 'no overflow'}"
    needed = elsewhere * slide["numbers_a_word"]
    checks = [
        numbers("words", [slide["words"]], [words]),
        numbers("words elsewhere", [elsewhere], [words]),
        numbers(f"numbers for {elsewhere} words", [slide["numbers"]], [needed]),
        Check("capacity", f"{used} used, overflow", recomputed, parts([overflow])),
    ]
    yield Step("The sentence", "", [[slide["sentence"]]], checks)


def attention_cost(slide: Slide, evidence: Evidence) -> Steps:
    """L15: the printed orders in T (Tx: T, Tx Ty: T^2) compared with the exponent's interval."""
    cost, checks, notes = evidence.cost, [], ["`bottleneck study cost` measures the orders"]
    if cost is not None:
        interval = f"T^{cost.value:.2f} [{cost.low:.2f}, {cost.high:.2f}]"
        notes = [f"{cost.arm}: {interval} with T tokens per side"]
    for name, printed, steps in (("a step", slide["a_step"], 1), ("in all", slide["in_all"], 0)):
        recomputed, judgement = "not measured", "not measured"
        if cost is not None:
            order, ends = printed.count("T"), (cost.low - steps, cost.high - steps)
            good = [rounds_to(order, end) for end in ends]
            recomputed = f"T^{cost.value - steps:.2f}"
            if all(good):
                judgement = "right"
            elif not (any(good) or ends[0] <= order <= ends[1]):
                judgement = "wrong"
            else:
                notes[1:] = ["the interval is too wide to decide"]
        checks.append(Check(name, printed, recomputed, judgement))
    power = slide["remedy_exponent"]
    solved = parts([power < slide["in_all"].count("T")])
    remedy = f"{slide['remedy']} address this"
    checks.append(Check("quadratic", remedy, f"self-attention O(T^{power})", solved))
    formula = "exponent of attention's seconds"
    yield Step("Orders in the length T", formula, checks=checks, notes=notes)


def gold_alignment(slide: Slide, evidence: Evidence) -> Steps:
    """L16: the slide's links compared with the grammar's for the same sentence."""
    source, target, links = evidence.alignment
    phrases = [" ".join(target[place] for place in places) for places in links]
    grammar = [(a.lower(), b.lower()) for a, b in zip(source, phrases, strict=True)]
    said = [(a.lower(), b.lower()) for a, b in slide["links"]]
    same = [link in grammar for link in said] + [link in said for link in grammar]
    crossed = sum(min(first) > max(second) for first, second in combinations(links, 2))
    many = sum(len(places) > 1 for places in links)
    texts = [slide["english"], slide["french"]]
    linked = (", ".join(map("-".join, pairs)) for pairs in (slide["links"], grammar))
    checks = [
        Check("links", *linked, parts(same)),
        numbers("English, French words", slide["words"], [len(text.split()) for text in texts]),
        numbers("reorderings", [slide["reorderings"]], [crossed]),
        numbers("one to many", [slide["one_to_many"]], [many]),
    ]
    yield Step("The slide's links and the grammar's", "", [texts], checks)


def first_steps(slide: Slide, evidence: Evidence) -> Steps:
    """L17: the next words of trained arms; the slide's probabilities must sum to at most 1."""
    for index, printed in enumerate(slide["steps"]):
        total = sum(printed.values())
        judgement = "illustration" if total <= 1 + TOLERANCE else "wrong"
        said = ", ".join(f"P({word}) {share}" for word, share in printed.items())
        rows = []
        for arm in evidence.arms:
            before, words = arm.steps[index] if index < len(arm.steps) else ("", [])
            likely = ", ".join(f"{word} {share:.3f}" for word, share in words) or "ended"
            rows.append((arm.arm, f"after {before}" if before else "", likely))
        check = Check(f"step {index + 1}", said, f"sum {total:.1f}", judgement)
        formula = f"P(word | {slide['source']}{', the word before' if index else ''})"
        yield Step(f"Step {index + 1}", formula, list(zip(*rows, strict=True)), [check])
    if evidence.arms:
        texts = [(arm.arm, arm.translations[0] or "(nothing)") for arm in evidence.arms]
        yield Step("Translations", "", list(zip(*texts, strict=True)))


def attention_code(slide: Slide, evidence: Evidence) -> Steps:
    """L18: the slide's code, run on L7 and compared with the formulas."""
    states, scores, *expected = attend(evidence.slides["L7"])
    # The three operations of the slide's code.
    exponentials = np.exp(scores - np.max(scores))
    weights = exponentials / np.sum(exponentials)
    context = np.sum(weights[:, None] * states, axis=0)
    same = all(map(np.allclose, (weights, context), expected))
    ran = f"on L7: weights {listed(weights)}, context {listed(context)}"
    check = Check("code", ", ".join(slide["operations"]), ran, parts([same]))
    yield Step("The code, run on L7", "weights = softmax(states @ query)", checks=[check])


def failure_pattern(_: Slide, evidence: Evidence) -> Steps:
    """L-FAIL: whether its printed BLEU falls as its ratio rises, as it claims."""
    bleu, ratio = (evidence.column("L-FAIL", name) for name in ("bleu", "compression_ratio"))
    falls = np.all(np.diff(bleu) < 0) and np.all(np.diff(ratio) > 0)
    slope, constant = np.polyfit(ratio, np.log(bleu), 1)
    correlation = np.corrcoef(ratio, np.log(bleu))[0, 1]
    fit = f"nearly {np.exp(constant):.1f} exp({slope:.3f} ratio), correlation {correlation:.4f}"
    check = Check("BLEU", " ".join(map(str, bleu)), fit, "illustration" if falls else "wrong")
    yield Step("BLEU", "a line through log BLEU over the ratio", checks=[check])


def vindication(_: Slide, evidence: Evidence) -> Steps:
    """L-VIND: whether its printed gain is largest where BLEU was lowest, as it claims."""
    none, attention = (evidence.column("L-VIND", arm) for arm in ("none", "attention"))
    gains = np.subtract(attention, none)
    judgement = "illustration" if gains.argmax() == np.argmin(none) else "wrong"
    printed, recomputed = " ".join(map(str, attention)), f"gains {listed(gains, '{:.1f}')}"
    check = Check("BLEU with attention", printed, recomputed, judgement)
    yield Step("Gains", "BLEU with attention - without", checks=[check])


def short_sentences(slide: Slide, evidence: Evidence) -> Steps:
    """L-SHORT: whether lengths are as in the heading, and how many translations are the slide's.

    Case, the form of an apostrophe, and a final . ! or ? do not count.
    """
    (low, high), pairs = slide["lengths"], slide["pairs"]
    words = [len(source.split()) for source, _ in pairs]
    heading = f"{len(pairs)} sentences of {low}-{high} words"
    inside = [low <= count <= high for count in words]
    check = Check("lengths", heading, f"{listed(words, '{}')} words", parts(inside))
    yield Step("Lengths", "", list(zip(*pairs, strict=True)), [check])

    def key(text: str) -> list[str]:
        return text.casefold().replace("\u2019", "'").rstrip(" .!?").split()

    for arm in evidence.arms:
        outputs = [output or "(nothing)" for output in arm.translations]
        same = [key(a) == key(b) for a, (_, b) in zip(outputs, pairs, strict=True)]
        columns = [["=" if equal else "" for equal in same], outputs]
        note = f"{arm.arm}: {sum(same)} of {len(pairs)} translated as on the slide"
        yield Step(f"Translations, {arm.arm}", "= the slide's", columns, notes=[note])


def lost_words(slide: Slide, evidence: Evidence) -> Steps:
    """L-LOST: the words that are said to be lost must be in the sentence."""
    sentence = evidence.slides["L14"]["sentence"].lower()
    present = [phrase.lower() in sentence for phrase in (*slide["lost"], slide["name"])]
    printed = f"{', '.join(slide['lost'])}, the conference's exact name"
    recomputed = f"{sum(present)} of {len(present)} are in the sentence"
    judgement = "illustration" if all(present) else "wrong"
    check = Check("lost", printed, recomputed, judgement)
    yield Step(f"Lost, while there survived {', '.join(slide['survived'])}", checks=[check])


WALKTHROUGHS: dict[str, Callable[[Slide, Evidence], Steps]] = dict(zip(SLIDES, (
    character_codes, toy_embedding, compression, compression, relevance, dot_products,
    worked_example, amplification, compression, example_matrix, quality_drop, bucket_ratio,
    improvement, long_sentence, attention_cost, gold_alignment, first_steps, attention_code,
    failure_pattern, vindication, short_sentences, lost_words,
), strict=True))  # fmt: skip
"""The function of each id, in the lecture's order."""


def audit(name: str, evidence: Evidence) -> Audit:
    """An id of `WALKTHROUGHS` step by step, with its verdict."""
    slide = evidence.slides[name]
    steps = list(WALKTHROUGHS[name](slide, evidence))
    checks = [check for step in steps for check in step.checks]
    printed = "; ".join(f"{check.name}: {check.printed}" for check in checks)
    recomputed = "; ".join(f"{check.name}: {check.recomputed}" for check in checks)
    verdict = combined(check.judgement for check in checks)
    why = "; ".join([slide["why"], *(note for step in steps for note in step.notes)])
    return Audit(name, slide["topic"], steps, printed, recomputed, verdict, why)
