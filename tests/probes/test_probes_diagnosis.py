"""Words judged without a reference: the output aligned by a dictionary learned from pairs."""

from seq2seq_bottleneck.probes.diagnosis import LEAST, aligned_reports
from seq2seq_bottleneck.probes.ibm1 import train
from seq2seq_bottleneck.probes.word_report import LOST, SURVIVED, UNLINKED

PAIRS = [
    ("the cat", "le chat"), ("the dog", "le chien"), ("a cat", "un chat"), ("a dog", "un chien"),
    ("the house", "la maison"), ("a house", "une maison"),
]  # fmt: skip
MODEL = train([(source.split(), target.split()) for source, target in PAIRS], iterations=20)[0]


def _reports(source: str, output: str) -> list:
    classes = ["noun"] * len(source.split())
    return aligned_reports(MODEL, source.split(), classes, output.split())


def test_a_word_survives_by_the_output_word_that_is_aligned_to_it() -> None:
    the, cat = _reports("the cat", "le chat")
    assert (the.fate, the.found, cat.fate, cat.found) == (SURVIVED, ("le",), SURVIVED, ("chat",))
    assert cat.targets == ()
    assert cat.word_class == "noun"


def test_another_word_in_its_place_is_a_loss() -> None:
    the, cat = _reports("the cat", "le chien")
    assert (the.fate, cat.fate) == (SURVIVED, LOST)
    assert cat.share == 0


def test_a_word_that_the_dictionary_lacks_is_not_judged() -> None:
    assert _reports("the zebra", "le chat")[1].fate == UNLINKED
    assert _reports("the zebra", "le chat")[1].share is None


def test_an_output_word_that_the_dictionary_lacks_vouches_for_none() -> None:
    assert [report.fate for report in _reports("the cat", "xyz xyz")] == [LOST, LOST]


def test_an_unlikely_translation_vouches_for_none() -> None:
    weights = MODEL.table(["the"], ["la", "le"])[:, 1]
    assert weights[1] > LEAST
    assert _reports("the", "le")[0].fate == SURVIVED
    assert _reports("the", "chat")[0].fate == LOST


def test_an_empty_output_loses_all() -> None:
    assert [report.fate for report in _reports("the cat", "")] == [LOST, LOST]
