"""Figures inside the page: images as data, a light and a dark one, each apart from the page.

An SVG in an image element runs no script and shares no ids with others.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from matplotlib.figure import Figure

from ..figures.files import image
from ..figures.registry import CHARTS, Chart, make_figure
from ..figures.style import DARK, LIGHT, SIZE, Theme
from ..results.bundle import Bundle
from ..settings.errors import DamagedError, UserError
from .markup import Html, tag

ENDING = ".svg"
KIND = "image/svg+xml"
PLAIN = " !$()*+,/:;=?@[]{}~'"
"""Characters that an address and an attribute of the page may hold as they are."""
WIDTH, HEIGHT = (round(72 * inches) for inches in SIZE)


@dataclass(frozen=True)
class Picture:
    """A drawn figure: what it shows in words, and its image's address for either ground.

    ``runs`` are those that it draws, in words, where these are not the runs of the claim alone.
    """

    alt: str
    light: str
    dark: str
    runs: str = ""

    def html(self, caption: Html, both: bool = True) -> Html:
        """The figure with its caption; not ``both``: the light one alone, on its own ground.

        Styles show one of two images (a `picture` element would print the one on the screen).
        """
        grounds = {"light": self.light, "dark": self.dark} if both else {"": self.light}
        size = {"width": str(WIDTH), "height": str(HEIGHT)}
        shown = [
            tag("img", src=address, alt=self.alt, class_=ground or None, **size)
            for ground, address in grounds.items()
        ]
        box = tag("div", *shown, class_="scroll", role="group", tabindex="0", aria_label=self.alt)
        return tag("figure", box, tag("figcaption", caption))


def of_runs(name: str, bundle: Bundle) -> Picture | str:
    """A figure of `CHARTS` of a bundle's runs; in words why there is none."""
    return _picture(partial(CHARTS[name], bundle))


def of_folder(name: str, folder: Path) -> Picture | str:
    """A figure of a study or of the benchmark; in words why there is none."""
    return _picture(lambda theme: make_figure(name, folder, dark=theme is DARK))


def _picture(make: Callable[[Theme], Chart]) -> Picture | str:
    try:
        figures = [make(theme)[0] for theme in (LIGHT, DARK)]
    except DamagedError:
        raise
    except UserError as error:
        return str(error)
    light, dark = map(address_of, figures)
    return Picture(described(figures[0]), light, dark)


def described(figure: Figure) -> str:
    """The figure's title and those of its panels."""
    panels = [axes.get_title() for axes in figure.axes if axes.get_title()]
    return " ".join([figure.texts[0].get_text(), *(f"{panel}." for panel in panels)])


def address_of(figure: Figure) -> Html:
    """The image itself as an address, a sixth shorter than in base 64.

    Quotes of its markup are single ones, for a double one has to be written as three characters.
    """
    drawing = image(figure, ENDING).decode("utf8")
    quoted = re.sub(r"<[^<>']+>", lambda markup: markup[0].replace('"', "'"), drawing)
    return Html(f"data:{KIND},{quote(quoted, safe=PLAIN)}")
