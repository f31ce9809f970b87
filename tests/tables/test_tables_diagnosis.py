"""The picture of one sentence, from a made-up diagnosis."""

from dataclasses import replace

import pytest
from rich.console import Console

from seq2seq_bottleneck.probes.diagnosis import Diagnosed, Diagnosis
from seq2seq_bottleneck.probes.word_report import WordReport
from seq2seq_bottleneck.tables.diagnosis import LEGEND, diagnosis_page


def _words(*shares):
    facts = [("the", "determiner", ("le",)), ("cat", "noun", ("chat",)),
             ("sat", "verb", ("s'", "est", "assis"))]  # fmt: skip
    return tuple(
        WordReport(word, kind, share, targets, targets[: round(len(targets) * share)])
        for (word, kind, targets), share in zip(facts, shares, strict=True)
    )


def _diagnosis(reference="le chat s'est assis", unknown=()):
    lost = (*_words(1.0, 0.0, 1 / 3), WordReport("zebra", "", None, (), ()))
    kept = (*_words(1.0, 1.0, 1.0), WordReport("zebra", "", None, (), ()))
    held = (Diagnosed("none", "le s'", lost), Diagnosed("additive", "le chat s'est assis", kept))
    return Diagnosis("the cat sat zebra", 4, reference, "Judged somehow.", unknown, held)


def _printed(diagnosis, color=None):
    console = Console(width=80, color_system=color, force_terminal=color is not None)
    with console.capture() as held:
        console.print(diagnosis_page(diagnosis, "4 words").table)
    return [line.rstrip() for line in held.get().splitlines()]


def test_each_arm_has_the_sentence_with_its_losses_marked_without_colour():
    lines = _printed(_diagnosis())
    assert "reference  le chat s'est assis" in lines
    assert "none       the [cat] (sat) zebra?" in lines
    assert "additive   the cat sat zebra?" in lines


def test_each_word_has_a_row_with_its_fate_in_each_arm():
    rows = [line.split() for line in _printed(_diagnosis())]
    assert ["the", "determiner", "le", "+", "le", "+", "le"] in rows
    assert ["cat", "noun", "chat", "-", "lost", "+", "chat"] in rows
    assert ["sat", "verb", "s'", "est", "assis", "~", "s'", "+", "s'", "est", "assis"] in rows
    assert ["zebra", "?", "not", "linked", "?", "not", "linked"] in rows


def test_colours_come_on_top_of_the_marks():
    text = "\n".join(_printed(_diagnosis(), "standard"))
    assert "\x1b[31m[cat]" in text
    assert "\x1b[32mthe" in text


def test_a_sentence_sums_each_arm_up_as_the_slide_does():
    told = diagnosis_page(_diagnosis(unknown=("zebra",)), "4 words", ["A note."]).caption
    assert told[0] == "Sentence: 4 words."
    assert told[1] == "A note."
    assert told[2:6] == [
        "Arm none: 0 of 2 content words survived, 1 in part; of all words 1 of 3, 1 in part. "
        "Output: le s'",
        "Arm none, survived: 1 of 1 function words.",
        "Arm none, in part: sat.",
        "Arm none, lost: cat.",
    ]
    assert told[6:9] == [
        "Arm additive: 2 of 2 content words survived; of all words 3 of 3. "
        "Output: le chat s'est assis",
        "Arm additive, survived: cat, sat and 1 of 1 function words.",
        "Arm additive, lost: nothing.",
    ]
    assert told[9:] == [
        "Judged somehow.",
        "Not in the training vocabulary, so the same unknown word to every arm: zebra.",
        LEGEND.format(lack="a word in the reference"),
    ]


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (("", "", ""), "Arm one: 1 of 3 words survived, 1 in part. Output: o"),
        (
            ("determiner", "determiner", "determiner"),
            "Arm one: no content word judged; 1 of 3 function words survived, 1 in part. Output: o",
        ),
        (("noun", "noun", ""), "Arm one: 1 of 3 content words survived, 1 in part. Output: o"),
        (("determiner", "", "noun"), "Arm one: 0 of 2 content words survived, 1 in part; of all"),
    ],
)
def test_content_words_come_first_only_where_classes_are_known(kinds, told):
    words = tuple(
        WordReport(each.word, kind, each.share, each.targets, each.found)
        for each, kind in zip(_words(1.0, 0.0, 1 / 3), kinds, strict=True)
    )
    held = Diagnosis("the cat sat", 3, None, "Judged.", (), (Diagnosed("one", "o", words),))
    assert diagnosis_page(held, "3 words").caption[1].startswith(told)


@pytest.mark.parametrize(("end", "lines"), [(3, 1), (4, 0), (None, 0)])
def test_a_sentence_longer_than_training_is_told_so_in_a_line(end, lines):
    held = replace(_diagnosis(), longest_trained=end)
    told = diagnosis_page(held, "4 words").caption
    expected = [f"Longer than any sentence of training, which ended at {end} words."]
    assert [line for line in told if line.startswith("Longer")] == expected[:lines]


def test_without_a_reference_none_is_shown():
    lines = _printed(_diagnosis(reference=None))
    assert not any("reference" in line for line in lines)


def test_the_data_have_a_row_a_word():
    frame = diagnosis_page(_diagnosis(), "4 words").frame
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
    sentence = " ".join(each.word for each in words)
    arms = tuple(Diagnosed(arm, "output", words) for arm in ("none", "additive"))
    lines = _printed(Diagnosis(sentence, 40, "mot " * 40, "Judged.", (), arms))
    assert max(map(len, lines)) <= 80
    assert "".join(lines).count("[unquestionably39]") == 2
    assert not any("…" in line for line in lines)
