"""The audit gives the lecture's facts, and every verdict changes with a printed value."""

import copy

import numpy as np
import pytest

from seq2seq_bottleneck.claims.verdict import Measured
from seq2seq_bottleneck.lecture.slides import RULES, SLIDES, Check, Evidence, Step, parts
from seq2seq_bottleneck.lecture.walkthroughs import WALKTHROUGHS, audit

GOLD = (
    ["the", "black", "cat", "sat", "on", "the", "mat"],
    ["le", "chat", "noir", "s'est", "assis", "sur", "le", "tapis"],
    [[0], [2], [1], [3, 4], [5], [6], [7]],
)
QUADRATIC = "dot", Measured(1.93, 1.85, 2.01)
EVIDENCE = Evidence(GOLD, QUADRATIC)

VERDICTS = {
    **dict.fromkeys(["L1", "L2", "L3", "L4", "L5", "L6", "L9", "L11", "L16", "L18"], "right"),
    **dict.fromkeys(["L7", "L8", "L13", "L15"], "in part"),
    **dict.fromkeys(["L10", "L17", "L-FAIL", "L-VIND", "L-LOST"], "illustration"),
    **dict.fromkeys(["L14", "L-SHORT"], "wrong"),
    "L12": "rounded freely",
}

IDENTITY = np.eye(6)[SLIDES["L10"]["gold"]].tolist()


def changed(name, evidence=EVIDENCE, rows=None, **fields):
    """The evidence with changed fields of one slide, or of rows of its table."""
    slides = copy.deepcopy(SLIDES)
    slides[name].update(fields)
    for index, cells in (rows or {}).items():
        slides[name]["rows"][index].update(cells)
    return Evidence(**{**vars(evidence), "slides": slides})


def lines(step):
    """The columns of a step line by line."""
    return [" ".join(filter(None, cells)) for cells in zip(*step.columns, strict=True)]


RIGHT_L7 = {"sum": 4.88, "weights": [0.22, 0.53, 0.25], "percent": 53}
PLANTED = {
    "L1": changed("L1", shared=1),
    "L2": changed("L2", near="mouse"),
    "L3": changed("L3", printed={"numbers": [700], "ratio": [2.8]}),
    "L4": changed("L4", printed={"numbers": [500, 2000, 5000, 10000], "ratio": [2, 8, 20, 50]}),
    "L5": changed("L5", percent=[5, 15, 80, 5, 5]),
    "L6": changed("L6", products=[["cat", "chat", 0.60], ["cat", "sat", 0.43]]),
    "L7": changed("L7", **RIGHT_L7),
    "L8": changed("L8", scores=[[0.9, 0.1]] * 2, weights=[[0.64, 0.36], [0.93, 0.07]]),
    "L9": changed("L9", printed={"numbers": [3000], "lost": [2754]}),
    "L10": changed("L10", weights=IDENTITY),
    "L11": changed("L-FAIL", rows={2: {"drop_percent": -49}}),
    "L12": changed("L-FAIL", rows={2: {"compression_ratio": 20}}),
    "L13": changed("L-VIND", rows={index: {"improvement_percent": 7.0} for index in range(5)}),
    "L14": changed("L14", words=30),
    "L15": changed("L15", a_step="O(Tx Ty dh)", in_all="O(Tx Ty Ty dh)", remedy_exponent=3),
    "L16": changed("L16", links=[*SLIDES["L16"]["links"][:-1], ["mat", "chat"]]),
    "L17": changed("L17", steps=[{"Le": 0.6, "Un": 0.5}, {"chat": 0.9, "chien": 0.2}]),
    "L-FAIL": changed("L-FAIL", rows={4: {"bleu": 30.0}}),
    "L-VIND": changed("L-VIND", rows={1: {"attention": 60.0}}),
    "L-SHORT": changed("L-SHORT", pairs=[["one two three four five", "un"]]),
    "L-LOST": changed("L-LOST", lost=["International", "robots"]),
}


def test_ids_and_rows_are_in_the_lectures_order():
    last = ["L-FAIL", "L-VIND", "L-SHORT", "L-LOST"]
    assert list(SLIDES) == [f"L{number}" for number in range(1, 19)] + last
    assert [str(number) for number in SLIDES["L7"]["scores"]] == ["0.09", "0.94", "0.20"]
    for table in ("L-FAIL", "L-VIND"):
        buckets = [row["bucket"] for row in SLIDES[table]["rows"]]
        assert buckets == ["5-10", "11-20", "21-30", "31-40", "41+"]


@pytest.mark.parametrize("name", SLIDES)
def test_verdicts_are_the_lectures_audit_and_change_with_a_printed_value(name):
    """The golden tests compare the numbers."""
    result = audit(name, EVIDENCE)
    assert result.verdict == VERDICTS[name]
    for text in (result.topic, result.printed, result.recomputed, result.why):
        assert " ".join(text.split()) == text != ""
    if name in PLANTED:
        assert audit(name, PLANTED[name]).verdict != VERDICTS[name]


def test_the_worked_example_shows_each_number_and_slip_at_its_step():
    steps = {step.title: step for step in audit("L7", EVIDENCE).steps}
    assert list(steps) == ["Scores", "Exponentials", "Weights", "Context"]
    assert lines(steps["Scores"])[1] == "cat 0.5 x 0.8 + (-0.2) x 0.1 + 0.8 x 0.7 = 0.94"
    ends = {title: [line.split()[-1] for line in lines(step)] for title, step in steps.items()}
    assert ends["Exponentials"] == ["1.0942", "2.5600", "1.2214", "4.8756"]
    assert ends["Weights"] == ["0.224", "0.525", "0.251"]
    assert lines(steps["Context"])[-1] == "= (0.493, 0.173, 0.440)"
    judgements = [[check.judgement for check in step.checks] for step in steps.values()]
    assert judgements == [["right"], ["wrong"], ["wrong", "wrong"], []]
    assert steps["Weights"].notes == [
        "the slide's 1.22 / 4.02 is 0.30, not 0.10",
        "the last weight is printed as 0.10, 0.22, 0.30: sums 1.00, 1.12, 1.20",
    ]
    assert audit("L7", PLANTED["L7"]).verdict == "right"


FLAT = {
    index: {
        "attention": 36.1,
        "improvement_percent": round(100 * (36.1 / float(row["none"]) - 1), 1),
    }
    for index, row in enumerate(SLIDES["L-VIND"]["rows"])
}
MATRIX = SLIDES["L10"]["weights"]  # one row has its largest weight on the translation


@pytest.mark.parametrize(
    ("name", "evidence", "verdict"),
    [
        ("L13", changed("L-VIND", rows=FLAT), "right"),
        ("L10", changed("L10", weights=IDENTITY[:2] + MATRIX[2:]), "illustration"),
        ("L10", changed("L10", weights=IDENTITY[:3] + MATRIX[3:]), "right"),
    ],
)
def test_other_evidence_has_another_verdict(name, evidence, verdict):
    assert audit(name, evidence).verdict == verdict


def test_the_cost_is_judged_by_the_measured_exponents_interval():
    for low, high, expected in (
        (1.51, 2.49, "in part"),
        (1.9, 2.51, "not measured"),
        (0.9, 1.49, "wrong"),
    ):
        result = audit("L15", Evidence(GOLD, ("dot", Measured((low + high) / 2, low, high))))
        assert result.verdict == expected
        assert ("too wide" in result.why) == (expected == "not measured")
    result = audit("L15", Evidence(GOLD))
    assert result.verdict == "not measured"
    assert "`bottleneck study cost`" in result.why


def test_the_first_steps_of_trained_arms_are_printed():
    steps = [("", [("le", 0.95), ("la", 0.0301)]), ("le", [("chat", 0.9)])]
    ended = [""], [("", [("</s>", 0.6), ("le", 0.4)])]
    likely = ["le chat s'est assis"], steps
    result = audit("L17", Evidence(GOLD, arms={"none": ended, "additive": likely}))
    assert [lines(step) for step in result.steps] == [
        ["none </s> 0.600, le 0.400", "additive le 0.950, la 0.030"],
        ["none ended", "additive after le chat 0.900"],
        ["none (nothing)", "additive le chat s'est assis"],
    ]


def test_short_translations_are_next_to_the_slides_and_counted():
    texts = ["Le chat s’est assis.", "je  t'aime !", "bonjour les amis", "BONJOUR", "À plus tard"]
    arms = {"none": ([""] * 5, []), "additive": (texts, [])}
    result = audit("L-SHORT", Evidence(GOLD, arms=arms))
    assert lines(result.steps[2])[3:] == ["= BONJOUR", "= À plus tard"]
    counts = "none: 0 of 5 translated as on the slide; additive: 4 of 5 translated as on the slide"
    assert result.why.endswith(counts)


def test_every_verdict_has_its_rule_and_parts_combine(monkeypatch):
    assert set(VERDICTS.values()) | {"not measured"} == set(RULES)
    goods = ([True, True], [True, False], [False, False])
    assert [*map(parts, goods)] == ["right", "in part", "wrong"]
    for pair, verdict in {
        ("right", "wrong"): "in part",
        ("right", "rounded freely"): "rounded freely",
        ("right", "illustration"): "illustration",
        ("wrong", "not measured"): "not measured",
    }.items():
        step = Step("", checks=[Check("", "", "", judgement) for judgement in pair])
        monkeypatch.setitem(WALKTHROUGHS, "L1", lambda *_, step=step: iter([step]))
        assert audit("L1", EVIDENCE).verdict == verdict
