"""The lecture's sentence, word by word."""

from seq2seq_bottleneck.corpus.grammar import english_french, word_class
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.probes.survival import LinkedReference
from seq2seq_bottleneck.probes.word_report import WordReport, word_reports


def _reports(text: str) -> list[WordReport]:
    """What becomes of the lecture's sentence in this translation."""
    pair = english_french().parse("the black cat sat on the mat")
    assert pair is not None
    source = tokenize(pair.source)
    classes = [word_class(word) for word in source]
    linked = LinkedReference(len(source), tuple(tokenize(pair.target)), pair.links)
    return word_reports(source, classes, linked, tokenize(text))


def test_a_perfect_translation_loses_nothing() -> None:
    reports = _reports("le chat noir s'est assis sur le tapis")
    assert [report.share for report in reports] == [1.0] * 7
    assert all(report.found == report.targets for report in reports)
    assert {report.fate for report in reports} == {"survived"}


def test_a_shorter_one_word_by_word() -> None:
    the, black, cat, sat, on, again, mat = _reports("le chat s'assis sur un tapis")
    assert the == WordReport("the", "determiner", 0.5, ("le",), ("le",))
    assert black == WordReport("black", "adjective", 0.0, ("noir",), ())
    assert cat == WordReport("cat", "noun", 1.0, ("chat",), ("chat",))
    assert sat.targets == ("s'￭", "est", "assis")
    assert sat.found == ("s'￭", "assis")
    assert sat.share == 2 / 3
    fates = [report.fate for report in (the, black, cat, sat, on, again, mat)]
    assert fates == ["in part", "lost", "survived", "in part", "survived", "in part", "survived"]


def test_a_word_without_links_is_neither_kept_nor_lost() -> None:
    pair = LinkedReference(3, ("dort",), ((1, 0),))
    reports = word_reports(["does", "sleep", "not"], ["", "verb", ""], pair, ["dort"])
    assert [report.share for report in reports] == [None, 1.0, None]
    assert [report.fate for report in reports] == ["not linked", "survived", "not linked"]


def test_an_empty_output_loses_everything() -> None:
    assert [report.fate for report in _reports("")] == ["lost"] * 7
