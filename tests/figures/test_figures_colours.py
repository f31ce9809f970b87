"""Contrast as WCAG computes it, shades that can be told apart in grey, legible numbers."""

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import to_hex

from seq2seq_bottleneck.figures.colours import LEAST, MOST, contrast, luminance, shades, text_on
from seq2seq_bottleneck.figures.context_length import GAINS, LEVELS
from seq2seq_bottleneck.figures.style import DARK, LIGHT


def test_contrast_is_that_of_wcag():
    """Its extremes, and the greys between which 4.5 on white is known to lie."""
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#123456", "#123456") == 1.0
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.005)
    assert luminance("#FF0000") == pytest.approx(0.2126)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("count", [2, 5, 9])
def test_shades_are_even_steps_of_contrast_and_of_the_colour(theme, count):
    for colour in theme.attention.values():
        found = shades(colour, count, theme.ground, theme.ink)
        contrasts = np.array([contrast(shade, theme.ground) for shade in found])
        expected = np.geomspace(LEAST, MOST, count)
        # A colour has 256 steps a channel, so that no contrast can be had exactly.
        np.testing.assert_allclose(contrasts, expected, rtol=0.03)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_one_shade_alone_is_the_colour(theme):
    colour = theme.attention["none"]
    assert shades(colour, 1, theme.ground, theme.ink) == [colour.lower()]


@pytest.mark.parametrize("name", [LEVELS, GAINS])
def test_the_colours_of_maps_rise_in_grey_and_numbers_on_them_can_be_read(name):
    colours = [to_hex(colour) for colour in colormaps[name](np.linspace(0, 1, 256))]
    assert (np.diff([luminance(colour) for colour in colours]) > -1e-3).all()
    assert min(contrast(text_on(colour), colour) for colour in colours) > 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_arms_stand_out_from_the_ground(theme):
    for colour in (*theme.attention.values(), theme.plain, theme.ink):
        assert contrast(colour, theme.ground) >= 2.2
    for arm in ("none", "additive"):
        assert contrast(theme.attention[arm], theme.ground) >= LEAST
