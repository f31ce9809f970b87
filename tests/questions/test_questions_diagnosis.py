"""A sentence through the arms of a tiny run, words judged without a reference, and the picture."""

from dataclasses import replace

import pytest
from rich.console import Console

from seq2seq_bottleneck.questions.diagnosis import (
    LEAST,
    Diagnosis,
    aligned_reports,
    diagnose,
    diagnosis_page,
    reference_of,
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
from seq2seq_bottleneck.settings.run import resolve

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
    return [
        WordReport(word, kind, share, targets, targets[: round(len(targets) * share)])
        for (word, kind, targets), share in zip(facts, shares, strict=True)
    ]


def planted(reference="le chat s'est assis", unknown=(), arms=None, **others):
    zebra = WordReport("zebra", "", None, (), ())
    arms = arms or {
        "none": ("le s'", [*words_of(1.0, 0.0, 1 / 3), zebra]),
        "additive": ("le chat s'est assis", [*words_of(1.0, 1.0, 1.0), zebra]),
    }
    return Diagnosis("the cat sat zebra", 4, reference, "Judged somehow.", unknown, arms, **others)


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
    assert ["cat", "noun", "chat", "-", "lost", "+", "chat"] in rows
    assert ["sat", "verb", "s'", "est", "assis", "~", "s'", "+", "s'", "est", "assis"] in rows
    assert ["zebra", "?", "not", "linked", "?", "not", "linked"] in rows
    assert not any("reference" in line for line in printed(planted(reference=None)))
    assert "\x1b[31m[cat]" in "\n".join(printed(planted(), "standard"))


def test_the_caption_sums_each_arm_up_and_the_data_have_a_row_a_word():
    page = diagnosis_page(planted(unknown=("zebra",)), "4 words", ["A note."])
    assert page.caption[:6] == [
        "Sentence: 4 words.",
        "A note.",
        "Arm none: 0 of 2 content words survived; 1 of 3 words survived. Output: le s'",
        "Arm additive: 2 of 2 content words survived; 3 of 3 words survived. "
        "Output: le chat s'est assis",
        "Judged somehow.",
        "Not in the training vocabulary, so the same unknown word to every arm: zebra.",
    ]
    names = [
        f"{arm}{suffix}" for arm in ("none", "additive") for suffix in ("", "_share", "_found")
    ]
    assert list(page.frame) == ["word", "class", "reference", *names]
    row = page.frame[page.frame["word"] == "sat"].iloc[0]
    assert row["reference"] == "s' est assis"
    assert (row["none"], row["none_found"], row["additive"]) == ("in part", "s'", "survived")
    assert row["none_share"] == pytest.approx(1 / 3)


def test_content_words_come_first_only_if_classes_are_known():
    for kinds, words in (
        (("", "", ""), "1 of 3 words survived."),
        (("determiner", "", "noun"), "0 of 1 content words survived; 1 of 3 words survived."),
    ):
        pairs = zip(words_of(1.0, 0.0, 1 / 3), kinds, strict=True)
        reports = [replace(report, word_class=kind) for report, kind in pairs]
        diagnosis = planted(None, arms={"none": ("o", reports)})
        assert diagnosis_page(diagnosis, "3 words").caption[1].startswith(f"Arm none: {words}")


def test_a_long_sentence_fits_80_columns():
    words = [
        WordReport(f"unquestionably{place}", "adjective", 0.0, ("indiscutablement",), ())
        for place in range(40)
    ]
    arms = dict.fromkeys(("none", "additive"), ("output", words))
    lines = printed(planted("mot " * 40, arms=arms))
    assert max(map(len, lines)) <= 80
    assert "".join(lines).count("[unquestionably39]") == 2
    assert not any("…" in line for line in lines)


FOREIGN = "the cat bottleneck sat zebra"
"""Not of the grammar: it has no reference."""


@pytest.fixture(scope="module")
def found(finished):
    """Run folders by arm."""
    return arms(finished)


def result_and_messages(call):
    messages = []
    return call(messages.append), messages


@pytest.mark.slow
def test_a_sentence_of_the_language_is_judged_by_its_own_reference(found):
    sentence = "The black cat sat on the mat."
    diagnosis, messages = result_and_messages(lambda tell: diagnose(sentence, found, tell))
    assert messages == []
    assert (diagnosis.sentence, diagnosis.words) == ("the black cat sat on the mat", 7)
    assert diagnosis.reference == "le chat noir s'est assis sur le tapis"
    assert list(diagnosis.arms) == list(found)
    for arm, (output, words) in diagnosis.arms.items():
        assert [output] == load_run(found[arm]).translate(["the black cat sat on the mat"])
        assert [word.word for word in words] == diagnosis.sentence.split()
        assert all(word.share is not None for word in words)
        assert words[3].targets == ("s'￭", "est", "assis")
        assert set(words[2].found) <= set(output.split())


def test_punctuation_is_no_word(found):
    diagnosis = diagnose("hello, peter", found, lambda _: None)
    assert [word.word for word in diagnosis.arms["none"][1]] == ["hello", "peter"]


@pytest.mark.exhaustive(sample="session")
def test_another_sentence_is_judged_by_aligning_its_output_and_says_so(found):
    first, messages = result_and_messages(lambda tell: diagnose(FOREIGN, found, tell))
    assert len(messages) == 1
    assert first.reference is None
    assert "IBM model 1, trained on the run's training pairs" in first.judged_by
    assert first.unknown == ("bottleneck", "zebra")
    words = first.arms["none"][1]
    assert [word.word_class for word in words] == ["determiner", "noun", "", "verb", ""]
    assert [word.share is None for word in words] == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("settings", "sentence", "target"),
    [
        (["corpus.name=copy", "corpus.copy_words=12"], "w3 w11 w0", "w3 w11 w0"),
        *((["corpus.name=copy", "corpus.copy_words=12"], other, None)
          for other in ("w3 w12", "w03", "the cat")),
        (["corpus.lexicon=full"], "the elephant slept", "l'éléphant a dormi"),
        (["corpus.lexicon=small"], "the elephant slept", None),
        (["corpus.lexicon=small"], "the cat slept", "le chat a dormi"),
        (["corpus.name=files", "corpus.source=a", "corpus.target=b"], "the cat sat", None),
    ],
)  # fmt: skip
def test_the_reference_is_of_the_runs_own_language(settings, sentence, target):
    pair = reference_of(sentence, resolve("smoke", settings).corpus)
    assert (pair and pair.target) == target
    if target == sentence:
        assert pair.links == ((0, 0), (1, 1), (2, 2))
