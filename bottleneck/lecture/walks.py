"""The worked examples of L2 to L6, L8 and L9, step by step."""

import numpy as np

from .arithmetic import amplified, neighbours
from .checks import listed
from .evidence import Evidence
from .formulas import Attention, cosine
from .printed import L4_CONTEXT_SIZE
from .steps import Step, columns, factor, product, slip, vector


def toy_embedding(evidence: Evidence, _: Attention) -> list[Step]:
    """L2: vectors, distances, cosines."""
    slide = evidence.slides.l2
    measured = neighbours(slide)
    word = slide.vectors[slide.word]
    vectors = columns([(name, vector(values)) for name, values in slide.vectors.items()])
    distances = [
        (
            f"{slide.word}, {name}",
            f"sqrt({' + '.join(f'{factor(a - b)}^2' for a, b in zip(word, other, strict=True))})",
            f"= {measured[name][0]:.3f}",
        )
        for name, other in slide.vectors.items()
        if name != slide.word
    ]
    cosines = [(f"{slide.word}, {name}", f"{both[1]:.3f}") for name, both in measured.items()]
    nearest = min(measured, key=lambda name: measured[name][0])
    wrong = f"The slide says near {slide.near}: {nearest} is nearer."
    slips = () if nearest == slide.near else (wrong,)
    return [
        Step("Vectors", f"({', '.join(slide.axes)})", vectors),
        Step("Distance", "|a - b| = sqrt(sum_i (a_i - b_i)^2)", columns(distances), slips),
        Step("Cosine", "a . b / (|a| |b|): 1 where two vectors point one way", columns(cosines)),
    ]


def sentence_compression(evidence: Evidence, _: Attention) -> list[Step]:
    """L3: numbers in, numbers kept, their ratio."""
    slide = evidence.slides.l3
    numbers = slide.words * slide.width
    ratio = numbers / slide.context
    return [
        Step(
            "Numbers that go in",
            "words x numbers a word",
            (f"{slide.words} x {slide.width} = {numbers}",),
            slip("", [slide.numbers], [numbers], "{}"),
        ),
        Step(
            "Ratio",
            "numbers in / numbers of the context",
            (f"{numbers} / {slide.context} = {ratio:.4f}, as the slide has it {slide.ratio} : 1",),
            slip("the ratio", [slide.ratio], [ratio], "{:.2f}"),
        ),
    ]


def compression_by_length(evidence: Evidence, _: Attention) -> list[Step]:
    """L4: the same for four lengths."""
    rows = [
        (
            f"{row.words} words",
            f"{row.words} x 100 / {L4_CONTEXT_SIZE} = {row.ratio:.2f}",
            f"slide {row.printed_ratio} : 1",
            row.word,
        )
        for row in evidence.slides.l4
    ]
    printed = [str(row.printed_ratio) for row in evidence.slides.l4]
    ratios = [row.ratio for row in evidence.slides.l4]
    formula = f"words x 100 / {L4_CONTEXT_SIZE}"
    slips = slip("the ratios", printed, ratios, "{:.2f}", tens=True)
    return [Step("Ratio by length", formula, columns(rows), slips)]


def relevance(evidence: Evidence, attention: Attention) -> list[Step]:
    """L5: shares, their sum, the context as a weighted mean."""
    slide = evidence.slides.l5
    weights = np.array([float(share) / 100 for share in slide.shares])
    # States that are unit vectors show in the context how much of each state is in it.
    context = attention.weighted_sum(weights, np.eye(len(weights)))
    total = 100 * weights.sum()
    mean = " + ".join(
        f"{part:.2f} h({word})" for part, word in zip(context, slide.words, strict=True)
    )
    shares = [(word, f"{share} %") for word, share in zip(slide.words, slide.shares, strict=True)]
    return [
        Step(f"Relevance of each word for {slide.target}", "", columns(shares)),
        Step(
            "Sum",
            "sum_i alpha_i",
            (f"{' + '.join(slide.shares)} = {total:.0f} %",),
            slip("the sum", [slide.total], [float(total)], "{:.0f}"),
        ),
        Step("Context", "c = sum_i alpha_i h_i", (f"c = {mean}",)),
    ]


def dot_products(evidence: Evidence, attention: Attention) -> list[Step]:
    """L6: dot products term by term, then cosines."""
    slide = evidence.slides.l6
    vectors = slide.vectors
    rows, slips, cosines = [], (), []
    for (a, b), printed in slide.products.items():
        value = float(attention.scores(np.array(vectors[a]), np.array([vectors[b]]))[0])
        said = f"= {value:.2f}"
        rows.append((f"{a} . {b}", product(vectors[a], vectors[b]), said, f"slide {printed}"))
        slips += slip(f"{a} . {b} =", [printed], [value], "{:.2f}")
        cosines.append((f"{a}, {b}", f"{cosine(np.array(vectors[a]), np.array(vectors[b])):.3f}"))
    named = columns([(name, vector(values)) for name, values in vectors.items()])
    return [
        Step("Vectors", "", named),
        Step("Dot products", "a . b = sum_i a_i b_i", columns(rows), slips),
        Step("Cosines, which length does not change", "a . b / (|a| |b|)", columns(cosines)),
    ]


def amplification(evidence: Evidence, attention: Attention) -> list[Step]:
    """L8: exponentials, weights, and the ratio before and after."""
    slide = evidence.slides.l8
    steps = []
    for (pair, _, before, _), printed in zip(amplified(slide), slide.weights, strict=True):
        weights = attention.softmax(np.array(pair)).tolist()
        exponentials = np.exp(pair)
        terms = " + ".join(f"{value:.3f}" for value in exponentials)
        after = weights[0] / weights[1]
        slips, found = slip("the weights", printed, weights, "{:.3f}"), ()
        if after < before:
            found = (f"{before:g}:1 becomes {after:.2g}:1, the difference is flattened.",)
        lines = columns(
            [
                ("exponentials", f"{listed(exponentials)}, sum {terms} = {exponentials.sum():.3f}"),
                ("weights", f"{listed(weights)}    slide {' '.join(printed)}"),
                ("ratio", f"{before:g}:1 before, {after:.2g}:1 after"),
            ]
        )
        title, formula = f"Scores {vector(pair)}", "exp(e_i) / sum_j exp(e_j)"
        steps.append(Step(title, formula, lines, slips, findings=found))
    rule = "A softmax looks at differences: the ratio after is exp(e_1 - e_2)"
    ratios = columns(
        [
            (f"exp({pair[0]:g} - {pair[1]:g}) = {np.exp(pair[0] - pair[1]):.2f}",)
            for pair in slide.scores
        ]
    )
    sparse = ("The slide calls this sparsity: exp is never 0, so no weight is.",)
    return [*steps, Step("Why", rule, ratios, sparse)]


def capacity(evidence: Evidence, _: Attention) -> list[Step]:
    """L9: what goes in, what is lost, what attention keeps."""
    slide = evidence.slides.l9
    numbers, kept = slide.words * slide.width, slide.words * slide.context
    lost = numbers - slide.context
    share = 100 * lost / numbers
    return [
        Step(
            "Into one vector",
            "words x numbers a word, less the context",
            (
                f"{slide.words} x {slide.width} = {numbers}",
                f"{numbers} - {slide.context} = {lost}",
                f"{lost} / {numbers} = {share:.2f} %",
            ),
            slip("the numbers", [slide.numbers, slide.lost], [numbers, lost], "{}")
            + slip("the share", [slide.discarded], [share], "{:.2f}"),
            findings=(
                "these are numbers, not information; bits that get through are measured (C5).",
            ),
        ),
        Step(
            "With attention",
            "one state a word: words x width of a state",
            (f"{slide.words} x {slide.context} = {kept}",),
            slip("", [slide.kept], [kept], "{}"),
        ),
    ]
