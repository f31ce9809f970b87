"""The audit of L1 to L9: codes, embeddings, compression, dot products, weights, capacity."""

import numpy as np

from .checks import Audit, Check, claimed, counted, listed, rounded
from .evidence import Evidence
from .formulas import ON_PAPER, cosine, distance
from .printed import L4_CONTEXT_SIZE
from .slides import Amplification, ToyEmbedding, WorkedExample


def character_codes(evidence: Evidence) -> Audit:
    """L1: each letter's code point; codes in the same places of two words."""
    slide = evidence.slides.l1
    checks = [
        counted(word, [str(code) for code in codes], [ord(letter) for letter in word])
        for word, codes in slide.codes.items()
    ]
    one, other = slide.pair
    shared = sum(a == b for a, b in zip(one, other, strict=False))
    checks.append(counted(f"shared by {one} and {other}", [slide.shared], [shared]))
    why = f"ord() of each letter; {one} and {other} share {shared} codes, and no meaning"
    return Audit("L1", "Character codes", tuple(checks), why)


def neighbours(slide: ToyEmbedding) -> dict[str, tuple[float, float]]:
    """Distance and cosine between L2's word and each other one."""
    word = np.array(slide.vectors[slide.word])
    return {
        name: (distance(word, np.array(vector)), cosine(word, np.array(vector)))
        for name, vector in slide.vectors.items()
        if name != slide.word
    }


def toy_embedding(evidence: Evidence) -> Audit:
    """L2: the nearest and the farthest word, by Euclidean distance and by cosine."""
    slide = evidence.slides.l2
    measured = neighbours(slide)
    by_distance = sorted(measured, key=lambda name: measured[name][0])
    by_cosine = sorted(measured, key=lambda name: -measured[name][1])
    checks = []
    for said, name, place in (("near", slide.near, 0), ("far", slide.far, -1)):
        found = by_distance[place]
        shown = f"{found} (distance {measured[found][0]:.3f}, cosine {measured[found][1]:.3f})"
        holds = [by_distance[place] == name, by_cosine[place] == name]
        checks.append(claimed(f"{said}:", name, shown, holds))
    alike = by_distance == by_cosine
    why = (
        f"from {slide.word}, nearest first, by distance: {', '.join(by_distance)}; "
        f"by cosine {'the same' if alike else ', '.join(by_cosine)}"
    )
    return Audit("L2", "Toy embedding: what is near cat", tuple(checks), why)


def sentence_compression(evidence: Evidence) -> Audit:
    """L3: words x width numbers into the context."""
    slide = evidence.slides.l3
    numbers = slide.words * slide.width
    ratio = numbers / slide.context
    checks = (
        counted("numbers", [slide.numbers], [numbers]),
        rounded("ratio", [slide.ratio], [ratio], "{:.2f}", " : 1"),
    )
    why = f"{slide.words} x {slide.width} = {numbers}; {numbers} / {slide.context} = {ratio:.2f}"
    return Audit("L3", "Compression of a sentence", checks, why)


def compression_by_length(evidence: Evidence) -> Audit:
    """L4: the same for four lengths, 100 numbers a word."""
    rows = evidence.slides.l4
    checks = (
        counted("numbers", [str(row.numbers) for row in rows], [100 * row.words for row in rows]),
        rounded(
            "ratio",
            [str(row.printed_ratio) for row in rows],
            [row.ratio for row in rows],
            "{:.2f}",
            " : 1",
            tens=True,
        ),
    )
    last = rows[-1]
    why = (
        f"words x 100 / {L4_CONTEXT_SIZE}; the last is {last.ratio:.2f}, printed as "
        f"{last.printed_ratio}"
    )
    return Audit("L4", "Compression by length", checks, why)


def relevance(evidence: Evidence) -> Audit:
    """L5: shares sum to 100, so that the context is a weighted mean; the largest is the gold."""
    slide = evidence.slides.l5
    shares = [float(share) for share in slide.shares]
    total, largest = sum(shares), slide.words[int(np.argmax(shares))]
    mean = f"weighted mean, weights sum to {total / 100:g}"
    checks = (
        claimed(
            "shares",
            f"{' '.join(slide.shares)} %, sum {slide.total}",
            f"sum {total:g}",
            [total == float(slide.total)],
        ),
        claimed("largest on", slide.translation, largest, [largest == slide.translation]),
        claimed("context:", "weighted mean of the states", mean, [total == 100]),
    )
    why = f"the shares sum to {total:g} %; the largest is on {largest} for {slide.target}"
    return Audit("L5", f"Relevance for {slide.target}", checks, why)


def dot_products(evidence: Evidence) -> Audit:
    """L6: dot products, beside which the cosine tells the same story."""
    slide = evidence.slides.l6
    vectors = {name: np.array(vector) for name, vector in slide.vectors.items()}
    checks = tuple(
        rounded(f"{a} . {b} =", [printed], [float(vectors[a] @ vectors[b])], "{:.2f}")
        for (a, b), printed in slide.products.items()
    )
    cosines = ", ".join(
        f"{a} and {b} {cosine(vectors[a], vectors[b]):.3f}" for a, b in slide.products
    )
    return Audit("L6", "Dot product as alignment", checks, f"the cosine agrees: {cosines}")


def worked_example(evidence: Evidence) -> Audit:
    """L7: scores, the exponentials' sum, weights, and the share of one word."""
    slide = evidence.slides.l7
    scores, weights, _ = attend(slide)
    place = list(slide.states).index(slide.share_word)
    exponentials = np.exp(scores)
    checks = (
        rounded("scores", slide.scores, scores.tolist(), "{:.2f}"),
        rounded("sum of exponentials", [slide.total], [float(exponentials.sum())], "{:.3f}"),
        rounded("weights", slide.weights, weights.tolist(), "{:.3f}"),
        rounded(
            f"on {slide.share_word}", [slide.share], [100 * float(weights[place])], "{:.1f}", " %"
        ),
    )
    # Of four decimals the terms as shown add up to the sum as shown.
    terms = " + ".join(f"{value:.4f}" for value in exponentials)
    why = f"{told(checks)}: {terms} = {exponentials.sum():.4f}; {second_slip(slide)}"
    return Audit("L7", "Worked attention example", checks, why)


def attend(slide: WorkedExample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores and weights, a number a state each, and context, of L7 by the formulas."""
    states = np.array(list(slide.states.values()))
    scores = ON_PAPER.scores(np.array(slide.decoder), states)
    weights = ON_PAPER.softmax(scores)
    return scores, weights, ON_PAPER.weighted_sum(weights, states)


def second_slip(slide: WorkedExample) -> str:
    """The slide's last exponential over its own sum, against the weight that it prints."""
    share = float(slide.last_exponential) / float(slide.total)
    verb = "is" if f"{share:.2f}" == slide.weights[-1] else f"is {share:.2f}, not"
    return f"the slide's own {slide.last_exponential} / {slide.total} {verb} {slide.weights[-1]}"


def told(checks: tuple[Check, ...]) -> str:
    """Which parts are right and which are wrong."""
    groups = {}
    for check in checks:
        groups.setdefault(check.judgement, []).append(check.name)
    return "; ".join(f"{', '.join(names)} {judgement}" for judgement, names in groups.items())


def amplification(evidence: Evidence) -> Audit:
    """L8: the softmax of two scores, and whether it makes their ratio larger."""
    slide = evidence.slides.l8
    rows = amplified(slide)
    checks = [
        rounded(f"({listed(pair, '{:g}').replace(' ', ', ')}):", printed, weights, "{:.3f}")
        for (pair, weights, _, _), printed in zip(rows, slide.weights, strict=True)
    ]
    ratios = ", ".join(f"{before:g}:1 to {after:.2g}:1" for _, _, before, after in rows)
    grows = [after > before for _, _, before, after in rows]
    least = min(min(weights) for _, weights, _, _ in rows)
    sparse = [min(weights) == 0.0 for _, weights, _, _ in rows]
    checks += [
        claimed("amplifies:", "always (our reading)", ratios, grows),
        claimed("sparse:", "yes (our reading)", f"least weight {least:.3f}", sparse),
    ]
    words = ", ".join(
        f"{before:g}:1 becomes {after:.2g}:1 ({'amplified' if after > before else 'flattened'})"
        for _, _, before, after in rows
    )
    why = f"{words}; no weight of a softmax is ever 0"
    return Audit("L8", "Exponentiation amplifies differences", tuple(checks), why)


def amplified(slide: Amplification) -> list[tuple[tuple[float, ...], list[float], float, float]]:
    """Scores, weights, and the ratio of the first to the second before and after."""
    rows = []
    for pair in slide.scores:
        weights = ON_PAPER.softmax(np.array(pair)).tolist()
        rows.append((pair, weights, pair[0] / pair[1], weights[0] / weights[1]))
    return rows


def capacity(evidence: Evidence) -> Audit:
    """L9: what does not fit into the context, and what attention keeps."""
    slide = evidence.slides.l9
    numbers, kept = slide.words * slide.width, slide.words * slide.context
    lost = numbers - slide.context
    checks = (
        counted("numbers", [slide.numbers], [numbers]),
        counted("lost", [slide.lost], [lost]),
        rounded("discarded", [slide.discarded], [100 * lost / numbers], "{:.2f}", " %"),
        counted("with attention", [slide.kept], [kept]),
    )
    why = (
        f"{slide.words} x {slide.width} - {slide.context} = {lost}; as arithmetic: what is counted "
        "is numbers, not information (C5)"
    )
    return Audit("L9", f"Capacity at {slide.words} words", checks, why)
