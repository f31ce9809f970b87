"""Words judged without a reference, and the picture of one sentence, from a made-up diagnosis."""

from dataclasses import replace

import pytest
from rich.console import Console

from seq2seq_bottleneck.questions.diagnosis import (
    LEAST,
    LEGEND,
    Diagnosed,
    Diagnosis,
    aligned_reports,
    diagnosis_page,
)
from seq2seq_bottleneck.questions.ibm1 import train
from seq2seq_bottleneck.questions.word_survival import LOST, SURVIVED, UNLINKED, WordReport

PAIRS = [
    ("the cat", "le chat"), ("the dog", "le chien"), ("a cat", "un chat"), ("a dog", "un chien"),
    ("the house", "la maison"), ("a house", "une maison"),
]  # fmt: skip
MODEL = train([(source.split(), target.split()) for source, target in PAIRS], iterations=20)[0]


@pytest.mark.parametrize(
    ("source", "output", "fates"),
    [
        ("the cat", "le chat", [SURVIVED, SURVIVED]),
        ("the cat", "le chien", [SURVIVED, LOST]),
        ("the zebra", "le chat", [SURVIVED, UNLINKED]),  # the model lacks the source word
        ("the cat", "xyz xyz", [LOST, LOST]),  # the model lacks the words of the output
        ("the", "le", [SURVIVED]),
        ("the", "chat", [LOST]),  # an unlikely translation vouches for none
        ("the cat", "", [LOST, LOST]),
    ],
)
def test_a_word_survives_by_a_likely_word_that_is_aligned_to_it(source, output, fates):
    classes = ["noun"] * len(source.split())
    reports = aligned_reports(MODEL, source.split(), classes, output.split())
    assert [report.fate for report in reports] == fates
    assert all(report.targets == () and report.word_class == "noun" for report in reports)
    for report in reports:
        assert bool(report.found) == (report.fate == SURVIVED)
        assert set(report.found) <= set(output.split())
    assert MODEL.table(["the"], ["le"])[0, 1] > LEAST


def words_of(*shares):
    facts = [("the", "determiner", ("le",)), ("cat", "noun", ("chat",)),
             ("sat", "verb", ("s'", "est", "assis"))]  # fmt: skip
    return tuple(
        WordReport(word, kind, share, targets, targets[: round(len(targets) * share)])
        for (word, kind, targets), share in zip(facts, shares, strict=True)
    )


def planted(reference="le chat s'est assis", unknown=()):
    zebra = WordReport("zebra", "", None, (), ())
    arms = (
        Diagnosed("none", "le s'", (*words_of(1.0, 0.0, 1 / 3), zebra)),
        Diagnosed("additive", "le chat s'est assis", (*words_of(1.0, 1.0, 1.0), zebra)),
    )
    return Diagnosis("the cat sat zebra", 4, reference, "Judged somehow.", unknown, arms)


def printed(diagnosis, color=None):
    console = Console(width=80, color_system=color, force_terminal=color is not None)
    with console.capture() as capture:
        console.print(diagnosis_page(diagnosis, "4 words").table)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_each_arm_has_the_sentence_with_its_losses_marked_and_each_word_a_row():
    lines = printed(planted())
    assert "reference  le chat s'est assis" in lines
    assert "none       the [cat] (sat) zebra?" in lines
    assert "additive   the cat sat zebra?" in lines
    rows = [line.split() for line in lines]
    assert ["the", "determiner", "le", "+", "le", "+", "le"] in rows
    assert ["cat", "noun", "chat", "-", "lost", "+", "chat"] in rows
    assert ["sat", "verb", "s'", "est", "assis", "~", "s'", "+", "s'", "est", "assis"] in rows
    assert ["zebra", "?", "not", "linked", "?", "not", "linked"] in rows
    assert not any("reference" in line for line in printed(planted(reference=None)))


def test_colours_come_on_top_of_the_marks():
    text = "\n".join(printed(planted(), "standard"))
    assert "\x1b[31m[cat]" in text
    assert "\x1b[32mthe" in text


def test_the_caption_sums_each_arm_up():
    page = diagnosis_page(planted(unknown=("zebra",)), "4 words", ["A note."])
    assert page.caption == [
        "Sentence: 4 words.",
        "A note.",
        "Arm none: 0 of 2 content words survived and 1 in part; 1 of 3 words in all survived and 1 "
        "in part. Output: le s'",
        "Arm additive: 2 of 2 content words survived; 3 of 3 words in all survived. "
        "Output: le chat s'est assis",
        "Judged somehow.",
        "Not in the training vocabulary, so the same unknown word to every arm: zebra.",
        LEGEND.format(lack="the reference has no word for it"),
    ]


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (("", "", ""), "1 of 3 words survived and 1 in part."),
        (("determiner",) * 3, "1 of 3 function words survived and 1 in part."),
        (("noun", "noun", ""), "1 of 3 words survived and 1 in part."),
        (("determiner", "", "noun"), "0 of 2 content words survived and 1 in part; 1 of 3"),
    ],
)
def test_content_words_come_first_only_if_classes_are_known(kinds, words):
    reports = tuple(
        replace(report, word_class=kind)
        for report, kind in zip(words_of(1.0, 0.0, 1 / 3), kinds, strict=True)
    )
    arms = (Diagnosed("none", "o", reports),)
    diagnosis = Diagnosis("the cat sat", 3, None, "Judged.", (), arms)
    assert diagnosis_page(diagnosis, "3 words").caption[1].startswith(f"Arm none: {words}")


@pytest.mark.parametrize(("end", "lines"), [(3, 1), (4, 0), (None, 0)])
def test_a_sentence_longer_than_training_has_a_line_that_says_so(end, lines):
    caption = diagnosis_page(replace(planted(), longest_trained=end), "4 words").caption
    expected = [f"Longer than any sentence of training, which ended at {end} words."]
    assert [line for line in caption if line.startswith("Longer")] == expected[:lines]


def test_the_data_have_a_row_a_word():
    frame = diagnosis_page(planted(), "4 words").frame
    assert list(frame.columns[3:6]) == ["none", "none_share", "none_found"]
    row = frame[frame["word"] == "sat"].iloc[0]
    assert row["reference"] == "s' est assis"
    assert (row["none"], row["none_found"], row["additive"]) == ("in part", "s'", "survived")
    assert row["none_share"] == pytest.approx(1 / 3)


def test_a_long_sentence_fits_80_columns():
    words = tuple(
        WordReport(f"unquestionably{place}", "adjective", 0.0, ("indiscutablement",), ())
        for place in range(40)
    )
    sentence = " ".join(word.word for word in words)
    arms = tuple(Diagnosed(arm, "output", words) for arm in ("none", "additive"))
    lines = printed(Diagnosis(sentence, 40, "mot " * 40, "Judged.", (), arms))
    assert max(map(len, lines)) <= 80
    assert "".join(lines).count("[unquestionably39]") == 2
    assert not any("…" in line for line in lines)
