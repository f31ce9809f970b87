"""The page's colours are the figures', and text can be read on both grounds (WCAG 2.2, AA)."""

import re
from importlib import resources

import pytest

from seq2seq_bottleneck.figures.style import ATTENTION, GROUND, INK
from seq2seq_bottleneck.report.style import theme_css

TEXT = ("ink", "soft", "link", "held", "partly", "not-held")
AA, AA_GRAPHICS = 4.5, 3.0
CSS = (resources.files("seq2seq_bottleneck.report") / "page.css").read_text(encoding="utf8")


SCREEN = r"@media screen and \(prefers-color-scheme: dark\)\s*{\s*:root\s*{([^}]*)}\s*}"


def _blocks(css):
    """The custom properties of light ground, and of dark."""
    parts = re.sub(SCREEN, "", css), "".join(re.findall(SCREEN, css))
    light, dark = (dict(re.findall(r"--([\w-]+):\s*(#[0-9A-Fa-f]{6})", part)) for part in parts)
    return light, light | dark


def _luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    high, low = sorted(map(_luminance, (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


LIGHT_PAGE, DARK_PAGE = _blocks(theme_css() + CSS)


def test_contrast_is_that_of_the_standard():
    assert _contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert _contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("page", [LIGHT_PAGE, DARK_PAGE], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["ground", "card"])
def test_text_can_be_read_on_every_ground(page, ground):
    assert {name: round(_contrast(page[name], page[ground]), 2) for name in TEXT
            if _contrast(page[name], page[ground]) < AA} == {}  # fmt: skip


def test_an_arm_has_its_colour_of_the_figures():
    assert {name: LIGHT_PAGE[name] for name in ATTENTION} == ATTENTION
    assert (LIGHT_PAGE["ground"], LIGHT_PAGE["ink"]) == (GROUND, INK)


@pytest.mark.parametrize("page", [LIGHT_PAGE, DARK_PAGE], ids=["light", "dark"])
def test_an_arm_stands_out_from_the_ground(page):
    for arm in ("none", "additive", "dot"):
        assert _contrast(page[arm], page["card"]) >= AA_GRAPHICS
