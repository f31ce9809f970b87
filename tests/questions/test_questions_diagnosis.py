"""A sentence through the arms of a tiny run, words judged without a reference, and the picture."""

import pytest
from planted_pages import printed

from seq2seq_bottleneck.questions.diagnosis import (
    Diagnosis,
    aligned_reports,
    diagnose,
    diagnosis_page,
)
from seq2seq_bottleneck.questions.word_survival import (
    LOST,
    SURVIVED,
    UNLINKED,
    WordReport,
    train,
)
from seq2seq_bottleneck.results.folders import arms
from seq2seq_bottleneck.runs.translate import load_run

PAIRS = [
    ("the cat", "le chat"), ("the dog", "le chien"), ("a cat", "un chat"), ("a dog", "un chien"),
    ("the house", "la maison"), ("a house", "une maison"),
]  # fmt: skip
MODEL = train([(source.split(), target.split()) for source, target in PAIRS], iterations=20)


@pytest.mark.parametrize(
    ("source", "output", "fates"),
    [
        ("the cat", "le chien", [SURVIVED, LOST]),
        ("the zebra", "le chat", [SURVIVED, UNLINKED]),  # the model lacks the source word
        ("the cat", "xyz xyz", [LOST, LOST]),  # the model lacks the words of the output
    ],
)
def test_a_word_survives_by_a_likely_word_that_is_aligned_to_it(source, output, fates):
    classes = ["noun"] * len(source.split())
    reports = aligned_reports(MODEL, source.split(), classes, output.split())
    assert [report.fate for report in reports] == fates


def words_of(*shares):
    facts = [("the", "determiner", ("le",)), ("cat", "noun", ("chat",)),
             ("sat", "verb", ("s'", "est", "assis"))]  # fmt: skip
    return [
        WordReport(word, kind, share, targets, targets[: round(len(targets) * share)])
        for (word, kind, targets), share in zip(facts, shares, strict=True)
    ] + [WordReport("zebra", "", None, (), ())]


def test_each_arm_has_the_sentence_with_its_losses_marked_and_each_word_a_row():
    found = {
        "none": ("le s'", words_of(1.0, 0.0, 1 / 3)),
        "additive": ("le chat s'est assis", words_of(1.0, 1.0, 1.0)),
    }
    facts = ("the cat sat zebra", 4, "le chat s'est assis", "Judged somehow.", ("zebra",), found)
    page = diagnosis_page(Diagnosis(*facts), "4 words", ["A note."])
    lines = printed(page)
    assert "none       the [cat] (sat) zebra?" in lines
    assert "additive   the cat sat zebra?" in lines
    rows = [line.split() for line in lines]
    assert ["sat", "verb", "s'", "est", "assis", "~", "s'", "+", "s'", "est", "assis"] in rows
    assert ["zebra", "?", "not", "linked", "?", "not", "linked"] in rows
    assert page.caption[:3] == [
        "Sentence: 4 words.",
        "A note.",
        "Arm none: 0 of 2 content words survived; 1 of 3 words survived. Output: le s'",
    ]
    row = page.frame[page.frame["word"] == "sat"].iloc[0]
    assert (row["none"], row["none_found"], row["additive"]) == ("in part", "s'", "survived")


@pytest.mark.slow
def test_a_sentence_of_the_language_is_judged_by_its_own_reference(finished):
    folders, messages = arms(finished), []
    diagnosis = diagnose("The black cat sat on the mat.", folders, messages.append)
    assert messages == []
    assert (diagnosis.sentence, diagnosis.words) == ("the black cat sat on the mat", 7)
    assert diagnosis.reference == "le chat noir s'est assis sur le tapis"
    for arm, (output, words) in diagnosis.arms.items():
        assert [output] == load_run(folders[arm]).translate(["the black cat sat on the mat"])
        assert [word.word for word in words] == diagnosis.sentence.split()
        assert all(word.share is not None for word in words)


@pytest.mark.exhaustive(sample="session")
def test_another_sentence_is_judged_by_aligning_its_output_and_says_so(finished):
    messages = []
    first = diagnose("the cat, bottleneck sat zebra", arms(finished), messages.append)
    assert len(messages) == 1
    assert first.reference is None
    assert "IBM model 1, trained on the run's training pairs" in first.judged_by
    assert first.unknown == ("bottleneck", "zebra")
    words = first.arms["none"][1]  # punctuation is no word
    assert [word.word_class for word in words] == ["determiner", "noun", "", "verb", ""]
    assert [word.share is None for word in words] == [False, False, True, False, True]
