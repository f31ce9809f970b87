"""A sentence through the arms of a tiny comparison."""

import pytest
from planted_pages import printed

from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.questions.diagnosis import diagnose, diagnosis_page
from seq2seq_bottleneck.questions.survival import WordReport
from seq2seq_bottleneck.results.folders import arms
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.errors import UserError


def words_of(*fates):
    facts = [("the", ("le",)), ("cat", ("chat",)), ("sat", ("s'", "est", "assis"))]
    found = {"lost": 0, "in part": 1, "survived": 3}
    return [
        WordReport(word, fate, targets, targets[: found[fate]])
        for (word, targets), fate in zip(facts, fates, strict=True)
    ] + [WordReport("on", "not linked", (), ())]


def test_each_arm_has_the_sentence_with_lost_words_marked_and_each_word_has_a_row():
    found = {
        "none": ("le s'", words_of("survived", "lost", "in part")),
        "additive": ("le chat s'est assis", words_of("survived", "survived", "survived")),
    }
    pair = SentencePair("the cat sat on", "le chat s'est assis")
    page = diagnosis_page(pair, found, ["on"], ["A note."])
    lines = printed(page)
    assert "none       the [cat] (sat) on?" in lines
    assert "additive   the cat sat on?" in lines
    rows = [line.split() for line in lines]
    assert ["sat", "verb", "s'", "est", "assis", "~", "s'", "+", "s'", "est", "assis"] in rows
    assert ["on", "preposition", "?", "not", "linked", "?", "not", "linked"] in rows
    assert page.caption[:3] == [
        "Sentence: 4 words.",
        "A note.",
        "Arm none: 0 of 2 content words survived. Output: le s'",
    ]
    row = page.frame[page.frame["word"] == "sat"].iloc[0]
    assert (row["none"], row["none_found"], row["additive"]) == ("in part", "s'", "survived")


@pytest.mark.slow
def test_a_sentence_of_the_language_is_judged_by_its_own_reference(finished):
    folders = arms(finished)
    pair, reports, _ = diagnose("The black cat sat on the mat.", folders)
    assert pair.target == "le chat noir s'est assis sur le tapis"
    for arm, (output, words) in reports.items():
        (expected,) = load_run(folders[arm]).translations(["the black cat sat on the mat"])
        assert output == expected.text
        assert [word.word for word in words] == ["the", "black", "cat", "sat", "on", "the", "mat"]
        assert not any(word.fate == "not linked" for word in words)
    with pytest.raises(UserError, match="no reference is known"):
        diagnose("my tailor is rich", folders)
