"""The lecture's numbers recomputed step by step, a function for each kind of arithmetic.

A function takes what an id's slide prints and the `Evidence`, and returns the steps, with their
checks, and what else was computed, in words. The audit is the summary of the steps.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from .slides import (
    SLIDES,
    TOLERANCE,
    Audit,
    Check,
    Evidence,
    Grid,
    Judgement,
    Number,
    Step,
    attention_in_code,
    combined,
    cosine,
    formatted,
    listed,
    numbers,
    parts,
    product,
    rounds_to,
    same_words,
    softmax,
    vector,
)

Slide = Mapping[str, Any]
Walk = tuple[list[Step], str]
SOFTMAX = "alpha_i = exp(e_i) / sum_j exp(e_j)"


def character_codes(slide: Slide, _: Evidence) -> Walk:
    """L1: the code point of each letter, and how many codes two words share."""
    codes = slide["codes"].items()
    checks = [numbers(word, printed, map(ord, word)) for word, printed in codes]
    first, second = slide["pair"]
    shared = sum(a == b for a, b in zip(first, second, strict=True))
    checks.append(numbers(f"shared by {first} and {second}", [slide["shared"]], [shared]))
    return [Step("Codes", "ord() of each letter", checks=checks)], ""


def toy_embedding(slide: Slide, _: Evidence) -> Walk:
    """L2: the nearest and the farthest word, by Euclidean distance and by cosine."""
    vectors = {name: np.array(values, float) for name, values in slide["vectors"].items()}
    word = vectors[slide["word"]]
    others = [name for name in vectors if name != slide["word"]]
    distance = {name: float(np.linalg.norm(word - vectors[name])) for name in others}
    cosines = {name: cosine(word, vectors[name]) for name in others}
    measured = {n: f"distance {distance[n]:.3f}, cosine {cosines[n]:.3f}" for n in others}
    by_distance = sorted(others, key=lambda name: distance[name])
    by_cosine = sorted(others, key=lambda name: -cosines[name])
    checks = []
    for name, place in (("near", 0), ("far", -1)):
        nearest, said = by_distance[place], slide[name]
        holds = [nearest == said, by_cosine[place] == said]
        checks.append(Check(name, said, f"{nearest} ({measured[nearest]})", parts(holds)))
    formula = f"from {slide['word']}: |a - b|, and a . b / (|a| |b|)"
    columns = [others, list(measured.values())]
    return [Step("Distance and cosine", formula, columns, checks)], ""


def compression(slide: Slide, _: Evidence) -> Walk:
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
    steps = []
    for name, printed in slide["printed"].items():
        formula, values, form, unit = quantities[name]
        check = numbers(name, printed, values, form, unit, slide.get("tens", False))
        columns = [formatted("{:g} words", words), formatted(f"{form}{unit}", values)]
        columns += [slide["quality"]] if "quality" in slide else []
        steps.append(Step(name.capitalize(), formula, columns, [check]))
    return steps, ""


def relevance(slide: Slide, _: Evidence) -> Walk:
    """L5: the shares sum to 100 %, so that the context is a weighted mean; the largest share."""
    words, shares = slide["words"], slide["percent"]
    total, largest = sum(shares), words[int(np.argmax(shares))]
    printed = f"{' '.join(map(str, shares))} %, sum {slide['total']}"
    mean, weights = "weighted mean of the states", f"weights sum to {total / 100:g}"
    checks = [
        Check("shares", printed, f"sum {total}", parts([total == slide["total"]])),
        Check("largest", slide["translation"], largest, parts([largest == slide["translation"]])),
        Check("context", mean, weights, parts([total == 100])),
    ]
    terms = [f"{share / 100:.2f} h({word})" for share, word in zip(shares, words, strict=True)]
    title, columns = f"Context for {slide['target']}", [[f"c = {' + '.join(terms)}"]]
    return [Step(title, "c = sum_i alpha_i h_i", columns, checks)], ""


def dot_products(slide: Slide, _: Evidence) -> Walk:
    """L6: dot products term by term, and the cosines of the same vectors."""
    vectors, pairs = slide["vectors"], slide["products"]
    arrays = [[np.array(vectors[name], float) for name in pair[:2]] for pair in pairs]
    names, values = [f"{a} . {b}" for a, b, _ in pairs], [a @ b for a, b in arrays]
    cosines = [f"{a} and {b} {cosine(*c):.3f}" for (a, b, _), c in zip(pairs, arrays, strict=True)]
    checks = [
        numbers(name, [printed], [value], "{:.2f}")
        for name, (*_, printed), value in zip(names, pairs, values, strict=True)
    ]
    columns = [names, [product(a, b) for a, b in arrays], formatted("= {:.2f}", values)]
    return [
        Step("Dot products", "a . b = sum_i a_i b_i", columns, checks),
        Step("Cosines, which do not depend on length", "a . b / (|a| |b|)", [cosines]),
    ], f"the cosines agree: {', '.join(cosines)}"


def attend(slide: Slide) -> tuple[np.ndarray, ...]:
    """States, scores, weights and context of L7 by the formulas."""
    states = np.array(list(slide["states"].values()), float)
    scores = states @ np.array(slide["decoder"], float)
    weights = softmax(scores)
    return states, scores, weights, weights @ states


def worked_example(slide: Slide, _: Evidence) -> Walk:
    """L7: scores, exponentials and their sum, weights, context; the slide's slips."""
    states, scores, weights, context = attend(slide)
    words, exponentials, decoder = list(slide["states"]), np.exp(scores), slide["decoder"]
    total, share = float(exponentials.sum()), 100 * float(weights[words.index(slide["word"])])
    checks = [
        numbers("scores", slide["scores"], scores, "{:.2f}"),
        numbers("sum of exponentials", [slide["sum"]], [total], "{:.3f}"),
        numbers("weights", slide["weights"], weights, "{:.3f}"),
        numbers(f"on {slide['word']}", [slide["percent"]], [share], "{:.1f}", " %"),
    ]
    computed = [f"{' + '.join(formatted('{:.4f}', exponentials))} = {total:.4f}"]
    last, quotient = slide["weights"][-1], slide["last_exponential"] / slide["sum"]
    if not rounds_to(last, quotient):
        division = f"{slide['last_exponential']} / {slide['sum']}"
        computed.append(f"the slide's own {division} is {quotient:.2f}, not {last}")
    sums = ", ".join(f"{sum(slide['weights'][:-1]) + w:.2f}" for w in slide["last_weight"])
    printings = ", ".join(map(str, slide["last_weight"]))
    notes = [*computed[1:], f"the last weight is printed as {printings}: sums {sums}"]
    products = [words, [product(decoder, h) for h in states], formatted("= {:.2f}", scores)]
    terms = [f"{a:.3f} {vector(state)}" for a, state in zip(weights, states, strict=True)]
    powers = [[*words, "sum"], formatted("= {:.4f}", [*exponentials, total])]
    mean = [" + ".join(terms), f"= {vector(context, '{:.3f}')}"]
    return [
        Step("Scores", "e_i = s . h_i", products, checks[:1]),
        Step("Exponentials", "exp(e_i)", powers, checks[1:2]),
        Step("Weights", SOFTMAX, [words, formatted("{:.3f}", weights)], checks[2:], notes),
        Step("Context", "c = sum_i alpha_i h_i", [mean]),
    ], "; ".join(computed)


def amplification(slide: Slide, _: Evidence) -> Walk:
    """L8: the softmax of two scores, and whether their ratio grows."""
    steps, ratios, grows, least = [], [], [], 1.0
    for pair, printed in zip(slide["scores"], slide["weights"], strict=True):
        weights = softmax(np.array(pair, float))
        before, after = pair[0] / pair[1], float(weights[0] / weights[1])
        rows = [f"weights {listed(weights)}", f"ratio exp({pair[0]} - {pair[1]}) = {after:.2f}"]
        check = numbers(vector(pair), printed, weights, "{:.3f}")
        steps.append(Step(f"Scores {vector(pair)}", SOFTMAX, [rows], [check]))
        ratios.append(f"{before:g}:1 becomes {after:.2g}:1")
        grows.append(after > before)
        least = min(least, float(weights.min()))
    checks = [
        Check("amplifies", "always (our reading)", ", ".join(ratios), parts(grows)),
        Check("sparse", "yes (our reading)", f"least weight {least:.3f}", parts([least == 0])),
    ]
    return [*steps, Step("Ratios", "of two weights: exp(e_1 - e_2)", checks=checks)], ""


def example_matrix(slide: Slide, evidence: Evidence) -> Walk:
    """L10: rows sum to 1; in how many is the largest weight on the word's translation."""
    weights = np.array(slide["weights"], float)
    grid = Grid("the slide's", slide["french"], slide["english"], weights, slide["gold"])
    grids = [grid] if evidence.learned is None else [grid, evidence.learned]
    sums, right = weights.sum(axis=1), len(grid.aligned())
    whole = np.abs(sums - 1) <= 0.005 * len(grid.columns) + TOLERANCE  # each cell was rounded
    judgement: Judgement = "right" if 2 * right > len(grid.rows) else "illustration"
    largest = f"translation largest in {right} of {len(grid.rows)} rows"
    checks = [
        Check("rows sum to", "1", f"{sums.min():.2f} to {sums.max():.2f}", parts(whole.tolist())),
        Check("shows", slide["claim"], largest, judgement),
    ]
    key = "[ ] translation, * the row's largest"
    columns = [[grid.title for grid in grids], [grid.summary() for grid in grids]]
    return [
        Step("Weights, a row for each French word", key, grids=grids),
        Step("Where the largest weight is", "", columns, checks),
    ], grid.summary()


def changes(values: Sequence[Number], bases: Sequence[Number]) -> list[float]:
    """Change of each value in per cent of its base."""
    return [100 * (value / base - 1) for value, base in zip(values, bases, strict=True)]


def quality_drop(_: Slide, evidence: Evidence) -> Walk:
    """L11: the fall of L-FAIL's BLEU from its first row."""
    first, *bleu = evidence.column("L-FAIL", "bleu")
    printed = evidence.column("L-FAIL", "drop_percent")[1:]
    check = numbers("drop", printed, changes(bleu, [first] * len(bleu)), "{:.1f}", " %")
    return [Step("Quality drop", "BLEU / BLEU of the first row - 1", checks=[check])], ""


def bucket_ratio(_: Slide, evidence: Evidence) -> Walk:
    """L12: L4's rule at the middle of each bucket, else at some length in the bucket."""
    printed, rule = evidence.column("L-FAIL", "compression_ratio"), evidence.slides["L4"]
    scale = rule["numbers_a_word"] / rule["context"]
    names = [name.split()[0] for name in evidence.column("L-FAIL", "slide_bucket")]
    low = np.array([float(name.rstrip("+").split("-")[0]) for name in names])
    high = np.array([np.inf if name.endswith("+") else float(name.split("-")[1]) for name in names])
    # The open bucket has its middle as far from its edge as the one before.
    middle = np.where(np.isinf(high), low + (high[-2] - low[-2]) / 2, (low + high) / 2)
    lengths = np.array(printed) / scale
    inside = (low <= lengths) & (lengths <= high)
    good = np.array([rounds_to(*pair) for pair in zip(printed, middle * scale, strict=True)])
    judgement = parts((good | inside).tolist())
    if inside.all() and not good.all():
        judgement = "rounded freely"
    ratios = [f"{text} : 1" for text in (listed(printed, "{}"), listed(middle * scale, "{:.1f}"))]
    check = Check("ratio", *ratios, judgement)
    within = f"{'each' if inside.all() else 'not all'} inside its bucket"
    return [Step("Ratios", "L4's rule at the middle of each bucket", checks=[check])], (
        f"the middle of the last bucket is {middle[-1]:g} words; the printed ratios are those of "
        f"{listed(lengths, '{:.0f}')} words, {within}"
    )


def improvement(slide: Slide, evidence: Evidence) -> Walk:
    """L13: gain in per cent of no attention; whether attention's own BLEU falls too."""
    printed = evidence.column("L-VIND", "improvement_percent")
    none, attention = (evidence.column("L-VIND", arm) for arm in ("none", "attention"))
    falls = changes(attention[1:], attention[:1] * (len(attention) - 1))
    stays = 100 * (attention[0] - attention[-1]) / (none[0] - none[-1])
    fall = f"with attention {listed(falls, '{:.1f}')} %"
    solved = [
        numbers("improvement", printed, changes(attention, none), "{:.1f}", " %"),
        Check("the problem", slide["claim"], fall, parts([min(falls) >= 0])),
    ]
    gains = [after - before for before, after in zip(none, attention, strict=True)]
    return [
        Step("Improvement", "BLEU with attention / without - 1", checks=solved[:1]),
        Step("Does attention solve it?", "BLEU / BLEU of the first row - 1", checks=solved[1:]),
    ], f"gains in BLEU {listed(gains, '{:.1f}')}; with attention {stays:.0f} % of the loss stays"


def long_sentence(slide: Slide, _: Evidence) -> Walk:
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
    rate = f"{slide['numbers']} numbers are {slide['numbers'] / elsewhere:g} per word"
    return [Step("The sentence", "", [[slide["sentence"]]], checks)], rate


def attention_cost(slide: Slide, evidence: Evidence) -> Walk:
    """L15: the printed orders in T (Tx is T, Tx Ty is T^2) against the exponent's interval."""
    cost, power = evidence.cost, slide["remedy_exponent"]
    checks = []
    for name, printed, steps in (("a step", slide["a_step"], 1), ("in all", slide["in_all"], 0)):
        recomputed, judgement = "not measured", "not measured"
        if cost is not None:
            order, low, high = printed.count("T"), cost.low - steps, cost.high - steps
            good = [rounds_to(order, low), rounds_to(order, high)]
            recomputed = f"T^{cost.value - steps:.2f}"
            if all(good):
                judgement = "right"
            elif not (any(good) or low <= order <= high):
                judgement = "wrong"
        checks.append(Check(name, printed, recomputed, judgement))
    remedy, solved = f"{slide['remedy']} address this", parts([power < slide["in_all"].count("T")])
    checks.append(Check("quadratic", remedy, f"self-attention O(T^{power})", solved))
    step = Step("Orders in the length T", "exponent of attention's seconds", checks=checks)
    if cost is None:
        return [step], "`bottleneck study cost` measures the orders"
    why = f"{cost.arm}: T^{cost.value:.2f} [{cost.low:.2f}, {cost.high:.2f}] with T tokens per side"
    why += f" ({cost.folder})" if cost.folder else ""
    if "not measured" in (check.judgement for check in checks):
        why += ", too wide an interval to decide"
    return [step], f"{why}; dh is not judged"


def gold_alignment(slide: Slide, evidence: Evidence) -> Walk:
    """L16: the slide's links against the grammar's for the same sentence."""
    source, target, links = evidence.alignment
    phrases = [" ".join(target[place] for place in places) for places in links]
    grammar = [(a.lower(), b.lower()) for a, b in zip(source, phrases, strict=True)]
    said = [(a.lower(), b.lower()) for a, b in slide["links"]]
    same = [link in grammar for link in said] + [link in said for link in grammar]
    crossed = [
        f"{source[first]} {source[second]}"
        for first, second in combinations(range(len(source)), 2)
        if min(links[first]) > max(links[second])
    ]
    many = [word for word, places in zip(source, links, strict=True) if len(places) > 1]
    texts = [slide["english"], slide["french"]]
    linked = (", ".join(map("-".join, pairs)) for pairs in (slide["links"], grammar))
    checks = [
        Check("links", *linked, parts(same)),
        numbers("English, French words", slide["words"], [len(text.split()) for text in texts]),
        numbers("reorderings", [slide["reorderings"]], [len(crossed)]),
        numbers("one to many", [slide["one_to_many"]], [len(many)]),
    ]
    why = f"reordered: {', '.join(crossed)}; one to many: {', '.join(many)}"
    return [Step("The slide's links and the grammar's", "", [texts], checks)], why


def first_steps(slide: Slide, evidence: Evidence) -> Walk:
    """L17: the next words of trained arms; the slide's probabilities must sum to at most 1."""
    steps: list[Step] = []
    for index, printed in enumerate(slide["steps"]):
        total = sum(printed.values())
        judgement: Judgement = "illustration" if total <= 1 + TOLERANCE else "wrong"
        said = ", ".join(f"P({word}) {share}" for word, share in printed.items())
        rows = [
            (
                arm.arm,
                f"after {before}" if before else "",
                ", ".join(f"{word} {share:.3f}" for word, share in words) or "ended",
            )
            for arm in evidence.arms
            for before, words in arm.steps[index : index + 1] or [("", [])]
        ]
        check = Check(f"step {index + 1}", said, f"sum {total:.1f}", judgement)
        formula = f"P(word | {slide['source']}{', the word before' if index else ''})"
        steps.append(Step(f"Step {index + 1}", formula, list(zip(*rows, strict=True)), [check]))
    if not evidence.arms:
        return steps, "`bottleneck lecture L17` shows those of a trained run"
    names = [arm.arm for arm in evidence.arms]
    texts = [arm.translations[0] or "(nothing)" for arm in evidence.arms]
    steps.append(Step("Translations", "", [names, texts]))
    return steps, ""


def attention_code(slide: Slide, evidence: Evidence) -> Walk:
    """L18: the code run on L7, against the formulas."""
    states, scores, *expected = attend(evidence.slides["L7"])
    query = np.array(evidence.slides["L7"]["decoder"], float)
    names, shifted = ["weights", "context"], scores - scores.max()
    results = attention_in_code(query, states)
    same = all(np.allclose(*pair) for pair in zip(results, expected, strict=True))
    ran = "on L7: weights {}, context {}".format(*map(listed, results))
    check = Check("code", ", ".join(slide["operations"]), ran, parts([same]))
    values = [listed(scores, "{:.2f}"), listed(shifted, "{:.2f}"), listed(np.exp(shifted))]
    columns = [["scores", "scores - max", "exponentials", *names], [*values, *map(listed, results)]]
    steps = [Step("The code, run on L7", "weights = softmax(states @ query)", columns, [check])]
    return steps, ""


def failure_pattern(_: Slide, evidence: Evidence) -> Walk:
    """L-FAIL: its claim within its own numbers, BLEU falls as the ratio rises."""
    bleu, ratio = (evidence.column("L-FAIL", name) for name in ("bleu", "compression_ratio"))
    falls = all(b < a for a, b in pairwise(bleu)) and all(b > a for a, b in pairwise(ratio))
    slope, constant = np.polyfit(ratio, np.log(bleu), 1)
    correlation = np.corrcoef(ratio, np.log(bleu))[0, 1]
    fit = f"nearly {np.exp(constant):.1f} exp({slope:.3f} ratio), correlation {correlation:.4f}"
    check = Check("BLEU", " ".join(map(str, bleu)), fit, "illustration" if falls else "wrong")
    return [Step("BLEU", "a line through log BLEU over the ratio", checks=[check])], ""


def vindication(_: Slide, evidence: Evidence) -> Walk:
    """L-VIND: its claim within its own numbers, the gain is largest where BLEU was lowest."""
    none, attention = (evidence.column("L-VIND", arm) for arm in ("none", "attention"))
    gains = [after - before for before, after in zip(none, attention, strict=True)]
    most = int(np.argmax(gains))
    judgement: Judgement = "illustration" if none[most] == min(none) else "wrong"
    printed, recomputed = " ".join(map(str, attention)), f"gains {listed(gains, '{:.1f}')}"
    check = Check("BLEU with attention", printed, recomputed, judgement)
    step = Step("Gains", "BLEU with attention - without", checks=[check])
    return [step], f"the gain is largest at {evidence.column('L-VIND', 'slide_bucket')[most]}"


def short_sentences(slide: Slide, evidence: Evidence) -> Walk:
    """L-SHORT: lengths against the heading's; how many sentences an arm translates as the slide."""
    (low, high), pairs = slide["lengths"], slide["pairs"]
    words = [len(source.split()) for source, _ in pairs]
    heading = f"{len(pairs)} sentences of {low}-{high} words"
    inside = [low <= count <= high for count in words]
    check, rows = Check("lengths", heading, f"{listed(words, '{}')} words", parts(inside)), []
    for index, (source, target) in enumerate(pairs):
        rows.append((source, "slide", f"  {target}"))
        for arm in evidence.arms:
            output = arm.translations[index]
            sign = "=" if same_words(output, target) else " "
            rows.append(("", arm.arm, f"{sign} {output or '(nothing)'}"))
    columns, key = list(zip(*rows, strict=True)), "= the slide's, up to case and final stop"
    steps = [Step("Lengths", checks=[check]), Step("Translations", key, columns)]
    if not evidence.arms:
        return steps, "`bottleneck lecture L-SHORT` shows a trained run's translations"
    same = [(arm, sign[0]) for _, arm, sign in rows].count
    counts = [f"{arm.arm} {same((arm.arm, '='))} of {len(pairs)}" for arm in evidence.arms]
    steps.append(Step("As on the slide", "", [counts]))
    return steps, f"translated as on the slide: {', '.join(counts)}"


def lost_words(slide: Slide, evidence: Evidence) -> Walk:
    """L-LOST: the words that are said to be lost must be in the sentence."""
    sentence = evidence.slides["L14"]["sentence"].lower()
    present = [phrase.lower() in sentence for phrase in (*slide["lost"], slide["name"])]
    printed = f"{', '.join(slide['lost'])}, the conference's exact name"
    recomputed = f"{sum(present)} of {len(present)} are in the sentence"
    judgement: Judgement = "illustration" if all(present) else "wrong"
    survived = ", ".join(slide["survived"])
    kept = Check("survived", survived, "no words to look for", "illustration")
    lost = Check("lost", printed, recomputed, judgement)
    return [Step("What is said to survive and to be lost", checks=[kept, lost])], ""


FUNCTIONS = (
    character_codes, toy_embedding, compression, compression, relevance, dot_products,
    worked_example, amplification, compression, example_matrix, quality_drop, bucket_ratio,
    improvement, long_sentence, attention_cost, gold_alignment, first_steps, attention_code,
    failure_pattern, vindication, short_sentences, lost_words,
)  # fmt: skip
WALKTHROUGHS: dict[str, Callable[[Slide, Evidence], Walk]] = dict(
    zip(SLIDES, FUNCTIONS, strict=True)
)
"""The function of each id, in the lecture's order."""


def audit(name: str, evidence: Evidence) -> Audit:
    """An id of `WALKTHROUGHS` step by step, with its verdict."""
    slide = evidence.slides[name]
    steps, computed = WALKTHROUGHS[name](slide, evidence)
    checks = [check for step in steps for check in step.checks]
    printed = "; ".join(f"{check.name}: {check.printed}" for check in checks)
    recomputed = "; ".join(f"{check.name}: {check.recomputed}" for check in checks)
    verdict = combined(check.judgement for check in checks)
    why = "; ".join(filter(None, [slide.get("why"), computed]))
    return Audit(name, slide["topic"], steps, checks, printed, recomputed, verdict, why)


def audit_all(evidence: Evidence) -> list[Audit]:
    """The audit of every id."""
    return [audit(name, evidence) for name in WALKTHROUGHS]
