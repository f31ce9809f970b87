"""Walk-throughs: the project's own attention, the known numbers, slips where they happen."""

from dataclasses import replace

import numpy as np
import pytest

from seq2seq_bottleneck.lecture.attention_walks import WALKS, walk
from seq2seq_bottleneck.lecture.audit import AUDITS
from seq2seq_bottleneck.lecture.evidence import Evidence, Exponent
from seq2seq_bottleneck.lecture.formulas import ON_PAPER, attention_in_code
from seq2seq_bottleneck.lecture.grid import Grid
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.lecture.trained import ArmOutputs, ArmSteps, DecoderStep, same_words
from seq2seq_bottleneck.runs.lecture import own_attention
from seq2seq_bottleneck.tables.audit import grammar_alignment


@pytest.fixture(scope="module")
def evidence():
    return Evidence(grammar_alignment(SLIDES.l16.english))


@pytest.fixture(scope="module")
def own():
    return own_attention()


def text(steps):
    return "\n".join(
        line
        for step in steps
        for line in (step.title, step.formula, *step.lines, *step.slips, *step.findings)
    )


def slips(steps):
    return {step.title: step.slips for step in steps if step.slips}


def test_the_issues_ids_have_a_worked_example():
    worked = ["L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10", "L16", "L18"]
    assert list(WALKS) == [*worked, "L17", "L-SHORT"]


@pytest.mark.parametrize("name", AUDITS)
def test_every_id_has_a_walk_alike_by_the_formulas_and_the_projects_functions(name, evidence, own):
    steps = walk(name, evidence, own)
    assert steps
    by_formula = text(walk(name, evidence, ON_PAPER))
    alike = (line for line in by_formula.splitlines() if "difference" not in line)
    assert [line for line in text(steps).splitlines() if "difference" not in line] == list(alike)


def test_the_projects_attention_is_the_formulas(own):
    random = np.random.default_rng(5)
    query, states = random.normal(size=6), random.normal(size=(4, 6))
    scores = own.scores(query, states)
    np.testing.assert_allclose(scores, states @ query, rtol=1e-5)
    weights = own.softmax(scores)
    np.testing.assert_allclose(weights, ON_PAPER.softmax(scores), rtol=1e-5)
    context = own.weighted_sum(weights, states)
    np.testing.assert_allclose(context, weights @ states, rtol=1e-5)
    code_weights, code_context = attention_in_code(query, states)
    np.testing.assert_allclose(weights, code_weights, rtol=1e-5)
    np.testing.assert_allclose(context, code_context, rtol=1e-5)


def test_the_worked_example_shows_each_number_and_slip_at_its_step(evidence, own):
    steps = {step.title: step for step in walk("L7", evidence, own)}
    assert list(steps) == ["Given", "Scores", "Exponentials", "Weights", "Context"]
    assert "0.5 x 0.8 + (-0.2) x 0.1 + 0.8 x 0.7  = 0.94  slide 0.94" in steps["Scores"].lines[1]
    for value in ("1.0942", "2.5600", "1.2214", "4.8756"):
        assert value in "\n".join(steps["Exponentials"].lines)
    for value in ("0.224", "0.525", "0.251"):
        assert value in "\n".join(steps["Weights"].lines)
    assert steps["Context"].lines[-1] == "= (0.493, 0.173, 0.440)"
    assert not steps["Scores"].slips
    assert steps["Exponentials"].slips == ("The slide prints the sum 4.02, not 4.876.",)
    weights = " ".join(steps["Weights"].slips)
    assert "the slide's own 1.22 / 4.02 is 0.30, not 0.10" in weights
    assert "0.10, 0.22, 0.30 in different printings" in weights
    assert "sum to 1.00, 1.12, 1.20" in weights
    assert "63, not 52.5" in weights
    assert not steps["Context"].slips


def test_a_slide_without_slips_shows_none(evidence, own):
    mended = replace(
        SLIDES.l7,
        total="4.88",
        weights=("0.22", "0.53", "0.25"),
        third=("0.25",),
        share="53",
    )
    slides = replace(SLIDES, l7=mended)
    assert slips(walk("L7", replace(evidence, slides=slides), own)) == {}
    for name in ("L2", "L3", "L4", "L5", "L6", "L16", "L18"):
        assert slips(walk(name, evidence, own)) == {}


def test_slips_of_planted_slides_are_told(evidence, own):
    planted = replace(
        SLIDES,
        l3=replace(SLIDES.l3, ratio="2.9"),
        l6=replace(SLIDES.l6, products={("cat", "chat"): "0.66"}),
        l16=replace(SLIDES.l16, links=(("cat", "noir"),)),
        l18=replace(SLIDES.l18, code=lambda query, states: (states @ query, query)),
    )
    evidence = replace(evidence, slides=planted)
    assert "2.9, not 2.73" in str(slips(walk("L3", evidence, own)))
    assert "0.66, not 0.60" in str(slips(walk("L6", evidence, own)))
    assert "links cat to noir, the grammar to chat" in str(slips(walk("L16", evidence, own)))
    assert "do not agree" in str(slips(walk("L18", evidence, own)))


def test_the_softmax_that_flattens_is_told_where_it_does(evidence, own):
    first, second, _ = walk("L8", evidence, own)
    assert "9:1 becomes 2.2:1" in " ".join(first.findings)
    assert "flattened" not in " ".join(first.slips)  # no misprint: nobody printed 9:1
    assert second.slips == second.findings == ()
    assert "55:1 after" in second.lines[-1]


def test_the_share_that_is_lost_is_shown_so_that_it_rounds_to_the_printed_one(evidence, own):
    first, _ = walk("L9", evidence, own)
    assert first.lines[-1] == "2744 / 3000 = 91.47 %"
    assert first.slips == ()
    assert "not information" in " ".join(first.findings)
    planted = replace(SLIDES, l9=replace(SLIDES.l9, discarded="92"))
    first, _ = walk("L9", replace(evidence, slides=planted), own)
    assert first.slips == ("The slide prints the share 92, not 91.47.",)


def test_a_part_that_is_wrong_does_not_speak_for_what_is_not_measured(evidence, own):
    steps = walk("L15", evidence, own)
    assert AUDITS["L15"](evidence).verdict == "not measured"
    assert [step.slips for step in steps[:2]] == [(), ()]
    assert steps[2].slips == ("This part is wrong; others are not measured.",)
    measured = replace(evidence, cost=Exponent("dot", 1.93, 1.85, 2.01))
    assert walk("L15", measured, own)[2].slips == ("Wrong.",)


LIKELY = ArmSteps(
    "additive",
    "d6a5",
    (
        DecoderStep("", (("le", 0.95), ("la", 0.0301)), (("un", 0.00004),)),
        DecoderStep("le", (("chat", 0.9), ("chien", 0.05)), ()),
    ),
    "le chat s'est assis",
)
ENDED = ArmSteps("none", "c96f", (DecoderStep("", (("</s>", 0.6), ("le", 0.4))),), "", ("sat",))


def test_the_first_steps_of_trained_arms_stand_beside_the_slides(evidence, own):
    steps = walk("L17", replace(evidence, first=(ENDED, LIKELY)), own)
    rows = [[" ".join(line.split()) for line in step.lines] for step in steps]
    assert rows[0] == [
        "slide Le 0.6, Un 0.3",
        "none </s> 0.600, le 0.400",
        "additive le 0.950, la 0.030; un <0.001",
    ]
    assert rows[1] == [
        "slide after Le chat 0.7, chien 0.2",
        "none ended",
        "additive after le chat 0.900, chien 0.050",
    ]
    assert rows[2] == [
        "none (nothing)",
        "additive le chat s'est assis",
        "Without a token for sat: none.",
    ]
    assert slips(steps) == {}
    assert "bottleneck" not in AUDITS["L17"](replace(evidence, first=(LIKELY,))).why


def test_without_trained_arms_the_slides_steps_stand_alone(evidence, own):
    steps = walk("L17", evidence, own)
    assert [len(step.lines) for step in steps] == [1, 1]
    more = replace(SLIDES.l17, steps=({"Le": "0.6", "Un": "0.5"},))
    (step,) = walk("L17", replace(evidence, slides=replace(SLIDES, l17=more)), own)
    assert step.slips == ("The slide's probabilities sum to 1.1.",)


def test_short_translations_stand_beside_the_slides_and_are_counted(evidence, own):
    said = ("Le chat s’est assis.", "je t'aime", "bonjour les amis", "BONJOUR", "à plus tard")
    arms = (ArmOutputs("none", "c96f", ("",) * 5), ArmOutputs("additive", "d6a5", said, ("x",)))
    heading, beside, counts = walk("L-SHORT", replace(evidence, short=arms), own)
    assert heading.slips == ("Wrong.",)
    rows = [" ".join(line.split()) for line in beside.lines]
    assert rows[:4] == [
        "The cat sat slide Le chat s'est assis",
        "none (nothing)",
        "additive = Le chat s’est assis.",
        "I love you slide Je t'aime",
    ]
    assert len(rows) == 15
    assert rows[8] == "additive bonjour les amis"
    expected = ["none      0 of 5", "additive  4 of 5", "Without a token for x: additive."]
    assert list(counts.lines) == expected
    assert len(walk("L-SHORT", evidence, own)) == 2
    why = AUDITS["L-SHORT"](replace(evidence, short=arms)).why
    assert why.endswith("; as the slide has them: none 0 of 5, additive 4 of 5")


@pytest.mark.parametrize(
    ("output", "same"),
    [
        ("je t'aime", True),
        ("Je t’aime !", True),
        ("je  t'aime", True),
        ("je t'aime bien", False),
        ("je taime", False),
        ("", False),
    ],
)
def test_a_translation_is_the_slides_but_for_case_and_final_stop(output, same):
    assert same_words(output, "Je t'aime") == same


def test_composed_and_decomposed_letters_are_the_same():
    assert same_words("a\u0300 plus tard", "À plus tard")


def test_the_matrix_is_the_slides_with_a_learned_one_beside_it(evidence, own):
    slide = SLIDES.l10
    weights = np.full((7, 7), 0.05)
    weights[range(7), list(slide.gold)] = 0.7
    learned = Grid("learned", slide.french, (*slide.english, "</s>"), weights, slide.gold)
    step = walk("L10", replace(evidence, learned=learned), own)[0]
    np.testing.assert_array_equal(step.grids[0].weights, np.array(slide.weights, float))
    assert step.grids[1] is learned
    assert learned.right == list(slide.french)
    assert learned.gold_mean == pytest.approx(0.7)
    assert walk("L10", evidence, own)[0].grids[1:] == ()


def test_ids_without_a_worked_example_show_what_their_audit_checks(evidence, own):
    steps = walk("L14", evidence, own)
    titles = ["Words", "Words elsewhere", "Numbers for 42 words", "Capacity"]
    assert [step.title for step in steps] == titles
    assert "30" in steps[0].lines[1]
    assert steps[0].slips == ("Wrong.",)


def test_a_comma_among_the_likeliest_words_is_not_read_as_the_lists(evidence, own):
    steps = (
        DecoderStep("", (("pas", 0.0021), (",", 0.002), ("l'", 0.0019)), ()),
        DecoderStep(",", (("</s>", 0.5),), ()),
    )
    arm = ArmSteps("none", "c96f", steps, "")
    first, second, *_ = walk("L17", replace(evidence, first=(arm,)), own)
    assert any('pas 0.002, "," 0.002, l\' 0.002' in line for line in first.lines)
    assert any('after ","' in line and "</s> 0.500" in line for line in second.lines)
