"""Smaller files: the drawing is the same, and the picture nearly."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from seq2seq_bottleneck.figures.files import image
from seq2seq_bottleneck.figures.smaller import smaller_png, smaller_svg


def _drawn():
    figure = Figure(figsize=(8, 5))
    axes = figure.subplots()
    axes.plot([1, 2, 3], [3, 1, 2], marker="o", color="#D55E00", label="none")
    axes.plot([1, 2, 3], [2, 2, 3], marker="s", color="#0072B2", label="additive")
    axes.set_title("BLEU by length")
    axes.legend()
    return figure


def _saved(figure, ending):
    held = io.BytesIO()
    figure.savefig(held, format=ending)
    return held.getvalue()


def _styled(drawing):
    """Every element with its text, its place and its style, be that its own or its class'."""
    root = ElementTree.fromstring(drawing)
    sheet = "".join(node.text or "" for node in root.iter() if node.tag.endswith("}style"))
    styles = dict(re.findall(r"\.(\w+)\{([^}]*)\}", sheet))
    for node in root.iter():
        if node.tag.endswith(("}style", "}metadata")):
            continue
        held = {name: value for name, value in node.attrib.items() if not _needless(name, value)}
        style = held.pop("style", None) or styles.get(held.pop("class", ""), "")
        yield node.tag, (node.text or "").strip(), held, style


def _needless(name, value):
    """The name of a group, as matplotlib counts them, or a turn by nothing."""
    turned = re.fullmatch(r"rotate\(-?0 .*\)", value)
    return (name == "transform" and turned) or (
        name == "id" and re.fullmatch(r"[A-Za-z0-9.]+_\d+", value)
    )


def _split(elements):
    """Each element's words, and all numbers that have decimals."""
    found = [
        repr((name, text, sorted(held.items()), style)) for name, text, held, style in elements
    ]
    decimal = r"(?<![\w.])-?\d+\.\d+|(?<=[ '(])-?\d+(?=[ '),])"
    words = [re.sub(r"(\s|\\n)+", " ", re.sub(decimal, "_", one)) for one in found]
    return words, [float(each) for one in found for each in re.findall(decimal, one)]


def _without_metadata(elements):
    known = ("purl.org", "creativecommons", "rdf-syntax")
    return [one for one in elements if not any(name in one[0] for name in known)]


def test_a_drawing_is_the_same_in_fewer_bytes():
    drawing = _saved(_drawn(), "svg").decode()
    small = smaller_svg(drawing)
    assert len(small) < 0.8 * len(drawing)
    words, numbers = _split(_without_metadata(_styled(drawing)))
    fewer, rounded = _split(_without_metadata(_styled(small)))
    assert fewer == words
    np.testing.assert_allclose(rounded, numbers, rtol=0, atol=0.005 + 1e-9)
    assert rounded != numbers
    assert sum(bool(style) for *_, style in _styled(small)) > 20


def test_words_that_look_like_styles_stay_words():
    words = 'style="x" &lt;b style="y"&gt;'
    drawing = f'<svg><style>*{{}}</style><text style="fill: red">{words}</text></svg>'
    assert smaller_svg(drawing) == (
        f'<svg><style>*{{}}.s0{{fill: red}}</style><text class="s0">{words}</text></svg>'
    )


def test_text_of_a_drawing_is_text_with_fonts_of_every_system():
    drawing = image(_drawn(), ".svg").decode()
    texts = [node for node in ElementTree.fromstring(drawing).iter() if node.tag.endswith("}text")]
    assert "BLEU by length" in [node.text for node in texts]
    assert "'DejaVu Sans', 'Verdana', 'Arial'" in drawing


def _pixels(picture):
    with Image.open(io.BytesIO(picture)) as opened:
        return np.asarray(opened.convert("RGB"), dtype=int)


def _noisy(colours):
    """A picture of so many colours: the first ones fill its upper half, each as often."""
    drawn = np.random.default_rng(3).choice(2**24, size=colours, replace=False)
    ground = np.resize(drawn[:250], 40_000)
    rows = np.concatenate([ground, np.resize(drawn, 40_000)]).reshape(200, 400)
    held = io.BytesIO()
    pixels = np.stack([rows >> 16, rows >> 8 & 255, rows & 255], axis=-1).astype(np.uint8)
    Image.fromarray(pixels).save(held, "png", dpi=(144, 144))
    return held.getvalue()


@pytest.mark.parametrize("colours", [1, 2, 250, 256])
def test_a_picture_of_few_colours_is_the_same_to_the_dot(colours):
    picture = _noisy(colours)
    np.testing.assert_array_equal(_pixels(smaller_png(picture)), _pixels(picture))


@pytest.mark.slow
def test_of_many_colours_the_commonest_are_kept_and_the_rest_is_the_nearest_of_these():
    picture = _noisy(9_000)
    before, after = _pixels(picture), _pixels(smaller_png(picture))
    np.testing.assert_array_equal(after[:100], before[:100])
    kept = np.unique(after.reshape(-1, 3), axis=0)
    assert len(kept) <= 256
    moved = ((before - after) ** 2).sum(axis=-1)
    assert moved.max() > 0
    for row, column in zip(*np.nonzero(moved), strict=True):
        nearest = ((kept - before[row, column]) ** 2).sum(axis=1).min()
        assert moved[row, column] == nearest


@pytest.mark.slow
def test_a_figure_has_a_third_of_the_bytes_its_size_and_its_colours():
    figure = _drawn()
    figure.set_dpi(144)
    saved, small = _saved(figure, "png"), image(figure, ".png")
    assert len(small) < 0.6 * len(saved)
    with Image.open(io.BytesIO(small)) as opened:
        assert opened.mode == "P"
        assert opened.info["dpi"] == pytest.approx((144, 144), abs=0.1)
        assert opened.size == (1152, 720)
    found = {tuple(each) for each in np.unique(_pixels(small).reshape(-1, 3), axis=0)}
    assert {(0xD5, 0x5E, 0x00), (0x00, 0x72, 0xB2), (255, 255, 255)} <= found
    assert image(figure, ".png") == small
