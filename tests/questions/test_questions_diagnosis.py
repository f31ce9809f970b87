"""A sentence through the arms of a tiny run, and the picture."""

import pytest
from planted_pages import printed

from seq2seq_bottleneck.questions.diagnosis import Diagnosis, diagnose, diagnosis_page
from seq2seq_bottleneck.questions.word_survival import WordReport
from seq2seq_bottleneck.results.folders import arms
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.errors import UserError


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
    diagnosis = Diagnosis(4, "le chat s'est assis", ("zebra",), found)
    page = diagnosis_page(diagnosis, ["A note."])
    lines = printed(page)
    assert "none       the [cat] (sat) zebra?" in lines
    assert "additive   the cat sat zebra?" in lines
    rows = [line.split() for line in lines]
    assert ["sat", "verb", "s'", "est", "assis", "~", "s'", "+", "s'", "est", "assis"] in rows
    assert ["zebra", "?", "not", "linked", "?", "not", "linked"] in rows
    assert page.caption[:2] == [
        "A note.",
        "Arm none: 0 of 2 content words survived. Output: le s'",
    ]
    row = page.frame[page.frame["word"] == "sat"].iloc[0]
    assert (row["none"], row["none_found"], row["additive"]) == ("in part", "s'", "survived")


@pytest.mark.slow
def test_a_sentence_of_the_language_is_judged_by_its_own_reference(finished):
    folders = arms(finished)
    diagnosis = diagnose("The black cat sat on the mat.", folders)
    assert (diagnosis.words, diagnosis.reference) == (7, "le chat noir s'est assis sur le tapis")
    for arm, (output, words) in diagnosis.arms.items():
        (expected,) = load_run(folders[arm]).translations(["the black cat sat on the mat"])
        assert output == expected.text
        assert [word.word for word in words] == ["the", "black", "cat", "sat", "on", "the", "mat"]
        assert all(word.share is not None for word in words)
    with pytest.raises(UserError, match="no reference is known"):
        diagnose("my tailor is rich", folders)
