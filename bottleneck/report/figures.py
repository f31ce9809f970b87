"""Figures inside the page: images as data, each separate from the page.

An SVG in an image element runs no script and shares no ids with others.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from matplotlib.figure import Figure

from ..figures.files import image
from ..figures.registry import Chart, make_figure
from ..figures.registry import of_runs as figure_of_runs
from ..figures.style import SIZE
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
    """A drawn figure: what it shows in words, and its image's address.

    ``runs`` are those that it draws, in words, where these are not the runs of the claim alone.
    """

    alt: str
    address: str
    runs: str = ""

    def html(self, caption: Html) -> Html:
        """The figure with its caption."""
        image = tag("img", src=self.address, alt=self.alt, width=str(WIDTH), height=str(HEIGHT))
        box = tag("div", image, class_="scroll", role="group", tabindex="0", aria_label=self.alt)
        return tag("figure", box, tag("figcaption", caption))


def of_runs(name: str, bundle: Bundle) -> Picture | str:
    """A figure of `OF_RUNS` of a bundle's runs; in words why there is none."""
    return _picture(lambda: figure_of_runs(name, bundle))


def of_folder(name: str, folder: Path) -> Picture | str:
    """A figure of a question; in words why there is none."""
    return _picture(lambda: make_figure(name, folder))


def _picture(make: Callable[[], Chart]) -> Picture | str:
    try:
        figure, _ = make()
    except DamagedError:
        raise
    except UserError as error:
        return str(error)
    return Picture(described(figure), address_of(figure))


def described(figure: Figure) -> str:
    """The figure's title and those of its panels."""
    panels = [axes.get_title() for axes in figure.axes if axes.get_title()]
    return " ".join([figure.get_suptitle(), *(f"{panel}." for panel in panels)])


def address_of(figure: Figure) -> Html:
    """The image itself as an address, a sixth shorter than in base 64.

    Quotes of its markup are single ones, for a double one has to be written as three characters.
    """
    drawing = image(figure, ENDING).decode("utf8")
    quoted = re.sub(r"<[^<>']+>", lambda markup: markup[0].replace('"', "'"), drawing)
    return Html(f"data:{KIND},{quote(quoted, safe=PLAIN)}")
