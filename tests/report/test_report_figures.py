"""Figures inside the page: said in words, and why one is not there."""

from page_parser import Page
from planted_report import write_length

from seq2seq_bottleneck.report.figures import Picture, of_folder
from seq2seq_bottleneck.report.markup import Html


def test_a_picture_says_in_words_what_it_shows_or_why_it_is_not_there(tmp_path):
    write_length(tmp_path)
    held = of_folder("length", tmp_path)
    assert isinstance(held, Picture)
    assert held.alt == (
        "Is a long output as long as it should be? Length of outputs. "
        "Outputs that repeat a stretch of words."
    )
    assert len(Page(held.html(Html("x"))).named("img")) == 1
    assert "bottleneck study survival" in of_folder("survival", tmp_path)
