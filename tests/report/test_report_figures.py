"""Figures inside the page: the drawing is the same in fewer bytes, and said in words."""

import re
from xml.etree import ElementTree

import matplotlib
from page_parser import Page
from planted_report import write_length

from seq2seq_bottleneck.figures.files import image
from seq2seq_bottleneck.figures.registry import make_figure
from seq2seq_bottleneck.report.figures import Picture, of_folder, smaller
from seq2seq_bottleneck.report.markup import Html


def _styled(drawing):
    """Every element with its text, its place and its style, be that its own or its class'."""
    root = ElementTree.fromstring(drawing)
    sheet = "".join(node.text or "" for node in root.iter() if node.tag.endswith("}style"))
    styles = dict(re.findall(r"\.(\w+)\{([^}]*)\}", sheet))
    for node in root.iter():
        if node.tag.endswith(("}style", "}metadata")):
            continue
        held = dict(node.attrib)
        style = held.pop("style", None) or styles.get(held.pop("class", ""), "")
        yield node.tag, (node.text or "").strip(), held, style


def _without_metadata(elements):
    known = ("purl.org", "creativecommons", "rdf-syntax")
    return [one for one in elements if not any(name in one[0] for name in known)]


def test_a_drawing_is_the_same_in_half_the_bytes(tmp_path):
    write_length(tmp_path)
    figure, _ = make_figure("length", tmp_path)
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        drawing = image(figure, ".svg").decode()
    small = smaller(drawing)
    assert len(small) < 0.65 * len(drawing)
    assert _without_metadata(_styled(small)) == _without_metadata(_styled(drawing))
    assert sum(bool(style) for *_, style in _styled(small)) > 20


def test_words_that_look_like_styles_stay_words():
    words = 'style="x" &lt;b style="y"&gt;'
    drawing = f'<svg><style>*{{}}</style><text style="fill: red">{words}</text></svg>'
    assert smaller(drawing) == (
        f'<svg><style>*{{}}.s0{{fill: red}}</style><text class="s0">{words}</text></svg>'
    )


def test_a_picture_says_in_words_what_it_shows_or_why_it_is_not_there(tmp_path):
    write_length(tmp_path)
    held = of_folder("length", tmp_path)
    assert isinstance(held, Picture)
    assert held.alt == (
        "Is a long output as long as it should be? Length of outputs. "
        "Outputs that repeat a stretch of words."
    )
    assert len(Page(held.html(Html("x"))).named("img")) == 2
    assert len(Page(held.html(Html("x"), both=False)).named("img")) == 1
    assert "bottleneck study survival" in of_folder("survival", tmp_path)
