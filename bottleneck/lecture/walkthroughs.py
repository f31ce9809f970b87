"""The lecture's numbers recomputed step by step, with one function per kind of arithmetic.

A function takes an id and the `Evidence`, and yields the steps of that id with their checks. The
audit is the summary of the steps.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.distance import cosine
from scipy.special import softmax

from .slides import SLIDES, Audit, Check, Evidence, Grid, Step, listed, numbers, parts, rounds_to


def product(a: Iterable[Any], b: Iterable[Any]) -> str:
    """A dot product written out: ``0.5 x 0.1 + (-0.2) x 0.2``."""
    signed = [[f"({x:g})" if x < 0 else f"{x:g}" for x in values] for values in (a, b)]
    return " + ".join(map(" x ".join, zip(*signed, strict=True)))


def character_codes(_: str, evidence: Evidence) -> Iterator[Step]:
    """L1: the code point of each letter, and how many codes two words share."""
    slide = evidence.slides["L1"]
    checks = [numbers(word, printed, map(ord, word)) for word, printed in slide["codes"].items()]
    first, second = slide["pair"]
    shared = sum(a == b for a, b in zip(first, second, strict=True))
    checks.append(numbers(f"shared by {first} and {second}", [slide["shared"]], [shared]))
    yield Step("Codes", "ord() of each letter", checks=checks)


def toy_embedding(_: str, evidence: Evidence) -> Iterator[Step]:
    """L2: the nearest and the farthest word, by Euclidean distance and by cosine."""
    slide, checks = evidence.slides["L2"], []
    vectors = {word: np.array(values, float) for word, values in slide["vectors"].items()}
    center = vectors.pop(slide["word"])
    distance = {word: float(np.linalg.norm(center - other)) for word, other in vectors.items()}
    angle = {word: float(cosine(center, other)) for word, other in vectors.items()}
    for end, most in (("near", min), ("far", max)):
        first, second = (most(gaps, key=gaps.get) for gaps in (distance, angle))
        measured = f"{first} (distance {distance[first]:.3f}, cosine {1 - angle[first]:.3f})"
        judgement = parts([first == slide[end], second == slide[end]])
        checks.append(Check(end, slide[end], measured, judgement))
    formula = f"from {slide['word']}: |a - b|, and a . b / (|a| |b|)"
    yield Step("Distance and cosine", formula, checks=checks)


def compression(name: str, evidence: Evidence) -> Iterator[Step]:
    """L3, L4, L9: how many numbers the words have, and how many the context has."""
    slide = evidence.slides[name]
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
    for quantity, printed in slide["printed"].items():
        formula, values, form, unit = quantities[quantity]
        check = numbers(quantity, printed, values, form, unit, slide.get("tens", False))
        yield Step(quantity.capitalize(), formula, checks=[check])


def dot_products(_: str, evidence: Evidence) -> Iterator[Step]:
    """L6: dot products term by term, and the cosines of the same vectors."""
    slide, checks, rows = evidence.slides["L6"], [], []
    for first, second, printed in slide["products"]:
        a, b = (np.array(slide["vectors"][word], float) for word in (first, second))
        title = f"{first} . {second}"
        checks.append(numbers(title, [printed], [a @ b], "{:.2f}"))
        rows.append((title, product(a, b), f"= {a @ b:.2f}", f"cosine {1 - cosine(a, b):.3f}"))
    formula = "a . b = sum_i a_i b_i; cosine = a . b / (|a| |b|)"
    yield Step("Dot products", formula, list(zip(*rows, strict=True)), checks)


def relevance(_: str, evidence: Evidence) -> Iterator[Step]:
    """L5: the shares sum to 100 %, so the context is a weighted mean of the states."""
    slide = evidence.slides["L5"]
    total = sum(slide["percent"])
    printed = f"{' '.join(map(str, slide['percent']))} %, sum {slide['total']}"
    mean, weights = "weighted mean of the states", f"weights sum to {total / 100:g}"
    checks = [
        Check("shares", printed, f"sum {total}", parts([total == slide["total"]])),
        Check("context", mean, weights, parts([total == 100])),
    ]
    yield Step(f"Context for {slide['target']}", "c = sum_i alpha_i h_i", checks=checks)


def worked_example(_: str, evidence: Evidence) -> Iterator[Step]:
    """L7: scores, exponentials and their sum, weights, context, and the slide's slips."""
    slide = evidence.slides["L7"]
    words, printed = list(slide["states"]), slide["weights"]
    states = np.array(list(slide["states"].values()), float)
    scores = states @ np.array(slide["decoder"], float)
    exponentials, weights = np.exp(scores), softmax(scores)

    check = numbers("scores", slide["scores"], scores, "{:.2f}")
    products = [product(slide["decoder"], state) for state in states]
    columns = [words, products, [f"= {score + 0:.2f}" for score in scores]]
    yield Step("Scores", "e_i = s . h_i", columns, [check])

    total = float(exponentials.sum())
    check = numbers("sum of exponentials", [slide["sum"]], [total], "{:.3f}")
    columns = [[*words, "sum"], [f"= {value:.4f}" for value in (*exponentials, total)]]
    yield Step("Exponentials", "exp(e_i)", columns, [check])

    share = 100 * float(weights[words.index(slide["word"])])
    checks = [
        numbers("weights", printed, weights, "{:.3f}"),
        numbers(f"on {slide['word']}", [slide["percent"]], [share], "{:.1f}", " %"),
    ]
    others = float(sum(printed[:-1]))
    sums = ", ".join(f"{others + float(last):.2f}" for last in slide["last_weight"])
    printings = ", ".join(map(str, slide["last_weight"]))
    notes = [f"the last weight is printed as {printings}: sums {sums}"]
    quotient = float(slide["last_exponential"]) / float(slide["sum"])
    if not rounds_to(printed[-1], quotient):
        division = f"{slide['last_exponential']} / {slide['sum']}"
        notes.insert(0, f"the slide's {division} is {quotient:.2f}, not {printed[-1]}")
    columns = [words, [f"{weight:.3f}" for weight in weights]]
    yield Step("Weights", "alpha_i = exp(e_i) / sum_j exp(e_j)", columns, checks, notes)

    vectors = [f"({listed(state, '{:g}', ', ')})" for state in states]
    terms = [f"{weight:.3f} {text}" for weight, text in zip(weights, vectors, strict=True)]
    columns = [[" + ".join(terms), f"= ({listed(weights @ states, between=', ')})"]]
    yield Step("Context", "c = sum_i alpha_i h_i", columns)


def attention_code(_: str, evidence: Evidence) -> Iterator[Step]:
    """L18: the slide's code, run on L7 and compared with the formulas."""
    example, operations = evidence.slides["L7"], evidence.slides["L18"]["operations"]
    states = np.array(list(example["states"].values()), float)
    # The slide's three operations.
    scores = states @ np.array(example["decoder"], float)
    exponentials = np.exp(scores - np.max(scores))
    weights = exponentials / np.sum(exponentials)
    context = np.sum(weights[:, None] * states, axis=0)
    expected = softmax(scores)
    same = np.allclose(weights, expected) and np.allclose(context, expected @ states)
    ran = f"on L7: weights {listed(weights)}, context {listed(context)}"
    check = Check("code", ", ".join(operations), ran, parts([same]))
    yield Step("The code, run on L7", "weights = softmax(states @ query)", checks=[check])


def amplification(_: str, evidence: Evidence) -> Iterator[Step]:
    """L8: the softmax of two scores, and whether their ratio grows."""
    slide = evidence.slides["L8"]
    scores = np.array(slide["scores"], float)
    weights = softmax(scores, axis=1)
    for pair, printed, shares in zip(scores, slide["weights"], weights, strict=True):
        text = f"({listed(pair, '{:g}', ', ')})"
        check = numbers(text, printed, shares, "{:.3f}")
        yield Step(f"Scores {text}", "alpha_i = exp(e_i) / sum_j exp(e_j)", checks=[check])
    before, after = scores[:, 0] / scores[:, 1], weights[:, 0] / weights[:, 1]
    least = float(weights.min())
    ratios = [f"{a:g}:1 becomes {b:.2g}:1" for a, b in zip(before, after, strict=True)]
    checks = [
        Check("amplifies", "always (our reading)", ", ".join(ratios), parts(after > before)),
        Check("sparse", "yes (our reading)", f"least weight {least:.3f}", parts([least == 0])),
    ]
    yield Step("Ratios", "of two weights: exp(e_1 - e_2)", checks=checks)


def example_matrix(_: str, evidence: Evidence) -> Iterator[Step]:
    """L10: whether rows sum to 1, and how many have the largest weight on the translation."""
    slide = evidence.slides["L10"]
    weights = np.array(slide["weights"], float)
    printed = Grid("the slide's", slide["french"], slide["english"], weights, slide["gold"])
    grids = [printed] if evidence.learned is None else [printed, evidence.learned]
    counts, notes = [], []
    for grid in grids:
        gold = grid.weights[np.arange(len(grid.rows)), list(grid.gold)]
        largest = (grid.weights >= gold[:, None]).sum(axis=1) == 1  # on the translation alone
        counts.append(largest.sum())
        notes.append(
            f"{grid.title}: largest on the word's translation in {counts[-1]} of "
            f"{len(grid.rows)} rows; gold cells {gold.mean():.3f} on average, equal weights "
            f"{1 / len(grid.columns):.3f}"
        )
    rows, columns = weights.shape
    sums = weights.sum(axis=1)
    whole = np.abs(sums - 1) <= 0.005 * columns + 1e-9  # each cell was rounded
    judgement = "right" if 2 * counts[0] > rows else "illustration"
    shown = f"translation largest in {counts[0]} of {rows} rows"
    checks = [
        Check("rows sum to", "1", f"{sums.min():.2f} to {sums.max():.2f}", parts(whole)),
        Check("shows", slide["claim"], shown, judgement),
    ]
    key = "a row for each French word; [ ] is the translation, * the row's largest weight"
    yield Step("Weights", key, checks=checks, notes=notes, grids=grids)


def failure_pattern(name: str, evidence: Evidence) -> Iterator[Step]:
    """L-FAIL: whether the printed BLEU falls as the ratio rises, as it claims.

    L11: the drops of BLEU. L12: the ratios by L4's rule at the middle of each bucket, or else at
    some length in it.
    """
    bleu, ratio, drop = (
        [row[column] for row in evidence.slides["L-FAIL"]["rows"]]
        for column in ("bleu", "compression_ratio", "drop_percent")
    )
    scores = np.array(bleu, float)
    if name == "L-FAIL":
        falls = np.all(np.diff(scores) < 0) and np.all(np.diff(ratio) > 0)
        slope, constant = np.polyfit(ratio, np.log(scores), 1)
        correlation = np.corrcoef(ratio, np.log(scores))[0, 1]
        fit = f"nearly {np.exp(constant):.1f} exp({slope:.3f} ratio), correlation {correlation:.4f}"
        check = Check("BLEU", " ".join(map(str, bleu)), fit, "illustration" if falls else "wrong")
        yield Step("BLEU", "a line through log BLEU over the ratio", checks=[check])
    elif name == "L11":
        falls = 100 * (scores[1:] / scores[0] - 1)
        check = numbers("drop", drop[1:], falls, "{:.1f}", " %")
        yield Step("Quality drop", "BLEU / BLEU of the first row - 1", checks=[check])
    else:
        slide, rule = evidence.slides["L12"], evidence.slides["L4"]
        scale = rule["numbers_a_word"] / rule["context"]
        low, middle, high = (np.array(slide[key], float) for key in ("low", "middle", "high"))
        lengths = np.array(ratio) / scale
        inside = (low <= lengths) & (lengths <= high)
        good = np.array([rounds_to(*pair) for pair in zip(ratio, middle * scale, strict=True)])
        freely = inside.all() and not good.all()
        judgement = "rounded freely" if freely else parts(good | inside)
        texts = [f"{text} : 1" for text in (listed(ratio, "{}"), listed(middle * scale, "{:.1f}"))]
        check = Check("ratio", *texts, judgement)
        formula = "L4's rule at the middle of each bucket"
        note = f"the printed ratios are those of {listed(lengths, '{:.0f}')} words"
        yield Step("Ratios", formula, checks=[check], notes=[note])


def vindication(name: str, evidence: Evidence) -> Iterator[Step]:
    """L-VIND: whether the printed gain is largest where BLEU was lowest, as it claims.

    L13: attention's gain in per cent, and whether BLEU with attention falls, too.
    """
    rows = evidence.slides["L-VIND"]["rows"]
    none, attention = (np.array([row[arm] for row in rows], float) for arm in ("none", "attention"))
    if name == "L-VIND":
        said = " ".join(str(row["attention"]) for row in rows)
        gains = attention - none
        judgement = "illustration" if gains.argmax() == none.argmin() else "wrong"
        check = Check("BLEU with attention", said, f"gains {listed(gains, '{:.1f}')}", judgement)
        yield Step("Gains", "BLEU with attention - without", checks=[check])
    else:
        printed = [row["improvement_percent"] for row in rows]
        check = numbers("improvement", printed, 100 * (attention / none - 1), "{:.1f}", " %")
        yield Step("Improvement", "BLEU with attention / without - 1", checks=[check])
        falls = 100 * (attention[1:] / attention[0] - 1)
        fall = f"with attention {listed(falls, '{:.1f}')} %"
        solved = parts([bool(falls.min() >= 0)])
        check = Check("the problem", evidence.slides["L13"]["claim"], fall, solved)
        stays = 100 * (attention[0] - attention[-1]) / (none[0] - none[-1])
        formula = "BLEU / BLEU of the first row - 1"
        note = f"with attention {stays:.0f} % of the loss remains"
        yield Step("Does attention solve it?", formula, checks=[check], notes=[note])


def long_sentence(_: str, evidence: Evidence) -> Iterator[Step]:
    """L14: the words of the sentence, and the numbers that they take."""
    slide = evidence.slides["L14"]
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


def lost_words(_: str, evidence: Evidence) -> Iterator[Step]:
    """L-LOST: the words that are said to be lost must be in the sentence."""
    slide, sentence = evidence.slides["L-LOST"], evidence.slides["L14"]["sentence"].lower()
    present = [phrase.lower() in sentence for phrase in (*slide["lost"], slide["name"])]
    printed = f"{', '.join(slide['lost'])}, the conference's exact name"
    recomputed = f"{sum(present)} of {len(present)} are in the sentence"
    judgement = "illustration" if all(present) else "wrong"
    check = Check("lost", printed, recomputed, judgement)
    yield Step(f"Lost, while there survived {', '.join(slide['survived'])}", checks=[check])


def attention_cost(_: str, evidence: Evidence) -> Iterator[Step]:
    """L15: the printed orders in T (Tx: T, Tx Ty: T^2) compared with the exponent's interval."""
    slide = evidence.slides["L15"]
    arm, cost = evidence.cost or ("", None)
    checks, notes = [], ["`bottleneck study cost` measures the orders"]
    if cost is not None:
        notes = [f"{arm}: T^{cost.text('{:.2f}')} with T tokens per side"]
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


def gold_alignment(_: str, evidence: Evidence) -> Iterator[Step]:
    """L16: the slide's links compared with the grammar's for the same sentence."""
    slide = evidence.slides["L16"]
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


def first_steps(_: str, evidence: Evidence) -> Iterator[Step]:
    """L17: the next words of trained arms; the slide's probabilities must sum to at most 1."""
    slide = evidence.slides["L17"]
    for index, printed in enumerate(slide["steps"]):
        total = sum(printed.values())
        judgement = "illustration" if total <= 1 + 1e-9 else "wrong"
        said = ", ".join(f"P({word}) {share}" for word, share in printed.items())
        rows = []
        for arm, (_, steps) in evidence.arms.items():
            before, words = steps[index] if index < len(steps) else ("", [])
            likely = ", ".join(f"{word} {share:.3f}" for word, share in words) or "ended"
            rows.append((arm, f"after {before}" if before else "", likely))
        check = Check(f"step {index + 1}", said, f"sum {total:.1f}", judgement)
        formula = f"P(word | {slide['source']}{', the word before' if index else ''})"
        yield Step(f"Step {index + 1}", formula, list(zip(*rows, strict=True)), [check])
    if evidence.arms:
        texts = [texts[0] or "(nothing)" for texts, _ in evidence.arms.values()]
        yield Step("Translations", "", [list(evidence.arms), texts])


def short_sentences(_: str, evidence: Evidence) -> Iterator[Step]:
    """L-SHORT: whether lengths are as in the heading, and how many translations are the slide's.

    Case, the form of an apostrophe, and a final . ! or ? do not count.
    """
    slide = evidence.slides["L-SHORT"]
    (low, high), pairs = slide["lengths"], slide["pairs"]
    words = [len(source.split()) for source, _ in pairs]
    heading = f"{len(pairs)} sentences of {low}-{high} words"
    inside = [low <= count <= high for count in words]
    check = Check("lengths", heading, f"{listed(words, '{}')} words", parts(inside))
    yield Step("Lengths", "", list(zip(*pairs, strict=True)), [check])

    for arm, (translations, _) in evidence.arms.items():
        outputs = [output or "(nothing)" for output in translations]
        same = []
        for texts in zip(outputs, (target for _, target in pairs), strict=True):
            plain = (text.casefold().replace("\u2019", "'").rstrip(" .!?") for text in texts)
            ours, printed = map(str.split, plain)
            same.append(ours == printed)
        columns = [["=" if equal else "" for equal in same], outputs]
        note = f"{arm}: {sum(same)} of {len(pairs)} translated as on the slide"
        yield Step(f"Translations, {arm}", "= the slide's", columns, notes=[note])


WALKTHROUGHS: dict[str, Callable[[str, Evidence], Iterator[Step]]] = dict(zip(SLIDES, (
    character_codes, toy_embedding, compression, compression, relevance, dot_products,
    worked_example, amplification, compression, example_matrix, failure_pattern, failure_pattern,
    vindication, long_sentence, attention_cost, gold_alignment, first_steps, attention_code,
    failure_pattern, vindication, short_sentences, lost_words,
), strict=True))  # fmt: skip
"""The function of each id, in the lecture's order."""


def audit(name: str, evidence: Evidence) -> Audit:
    """An id of `WALKTHROUGHS` step by step, with its verdict."""
    slide = evidence.slides[name]
    steps = list(WALKTHROUGHS[name](name, evidence))
    checks = [check for step in steps for check in step.checks]
    printed = "; ".join(f"{check.name}: {check.printed}" for check in checks)
    recomputed = "; ".join(f"{check.name}: {check.recomputed}" for check in checks)
    why = "; ".join([slide["why"], *(note for step in steps for note in step.notes)])
    kinds = {check.judgement for check in checks}
    if "not measured" in kinds:
        verdict = "not measured"
    elif len(kinds) == 1:
        (verdict,) = kinds
    elif kinds in ({"right", "rounded freely"}, {"right", "illustration"}):
        (verdict,) = kinds - {"right"}
    else:
        verdict = "wrong" if kinds == {"wrong", "illustration"} else "in part"
    return Audit(name, slide["topic"], steps, printed, recomputed, verdict, why)
