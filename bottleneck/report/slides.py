"""The slides' two tables: printed and measured side by side, in one table each."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..lecture.slides import L_FAIL, L_VIND
from ..tables.page import Page
from ..tables.render import count, number, ranged
from ..tables.slides import BASELINE, baseline, slide_drop
from .markup import Html, joined, tag
from .tables import captioned, interval, swatch

SLIDE, MEASURED = "slide", "measured"
PAIR = 2
"""Columns of what is printed and measured."""
Row = Mapping[str, Any]


def failure_html(page: Page) -> Html:
    """Sentence length, sentences, BLEU, its fall, compression ratio: slide beside measured.

    BLEU first, for a narrow screen shows little more.
    """
    base = baseline(page.frame)
    rows = [
        [
            *_words(row, L_FAIL),
            _slide(number(row["slide_bleu"], "{:.1f}")),
            _measured(row, "bleu", "{:.1f}"),
            _slide(slide_drop(row)),
            tag("td", BASELINE, class_="measured")
            if place == base
            else _measured(row, "quality_drop", "{:+.0f}%"),
            _slide(_ratio_of(row["bucket"])),
            tag("td", number(row["compression_ratio"], "{:.1f}:1"), class_="measured"),
            tag("td", number(row["brevity_penalty"], "{:.2f}")),
        ]
        for place, row in enumerate(page.frame.to_dict("records"))
    ]
    heads = {"BLEU": PAIR, "Quality drop": PAIR, "Compression ratio": PAIR, "Brevity penalty": 1}
    return _table(page, heads, rows)


def vindication_html(page: Page, attention: str) -> Html:
    """Sentence length, sentences, both arms and what attention adds: slide beside measured.

    The gain, on which the claim rests, before the per cent, for a narrow screen shows no more.
    """
    rows = [
        [
            *_words(row, L_VIND),
            _slide(number(row["slide_none"], "{:.1f}")),
            _measured(row, "bleu_none", "{:.1f}"),
            _slide(number(row["slide_attention"], "{:.1f}")),
            _measured(row, "bleu_attention", "{:.1f}"),
            _measured(row, "gain", "{:+.1f}", "gain"),
            _slide(number(row["slide_improvement"], "{:+.3g}%")),
            _measured(row, "improvement", "{:+.0f}%"),
        ]
        for row in page.frame.to_dict("records")
    ]
    heads = {
        joined([swatch("none"), "No attention, BLEU"]): PAIR,
        joined([swatch(attention), f"Attention ({attention}), BLEU"]): PAIR,
        "Gain, BLEU": 1,
        "Improvement": PAIR,
    }
    return _table(page, heads, rows)


def _table(page: Page, heads: Mapping[str, int], rows: Sequence[Sequence[Html]]) -> Html:
    """Two rows of heads: of what, in how many columns; then slide or measured where these are two.

    A narrow screen shows the count's head as n (page.css).
    """
    tall = {"scope": "col", "rowspan": "2"}
    top = [
        tag("th", "Source words", class_="first", **tall),
        tag("th", tag("span", "Sentences"), class_="count", **tall),
        *(
            tag("th", head, scope="colgroup", colspan=str(PAIR)) if columns == PAIR
            else tag("th", head, **tall)
            for head, columns in heads.items()
        ),
    ]  # fmt: skip
    pair = [tag("th", SLIDE, scope="col", class_="slide"), tag("th", MEASURED, scope="col")]
    pairs = sum(columns == PAIR for columns in heads.values())
    return captioned(
        page.title,
        *(tag("colgroup", span=str(columns)) for columns in (PAIR, *heads.values())),
        tag("thead", tag("tr", *top), tag("tr", *(pair * pairs))),
        tag("tbody", *(tag("tr", *cells) for cells in rows)),
        kind="pairs",
    )


def _words(row: Row, printed: Mapping[str, Any]) -> list[Html]:
    """The bucket, the slide's name of it below, and how many sentences are in it."""
    held = printed.get(row["bucket"])
    told = tag("small", f"slide: {held.slide_bucket}") if held else None
    head = tag("th", row["bucket"], told, scope="row", class_="first")
    return [head, tag("td", count(row["n"]))]


def _ratio_of(bucket: str) -> str:
    held = L_FAIL.get(bucket)
    return f"{held.compression_ratio}:1" if held else ""


def _slide(text: str) -> Html:
    return tag("td", text, class_="slide")


def _measured(row: Row, name: str, form: str, kind: str = "measured") -> Html:
    """A measured value with its interval below it; empty without one."""
    first, _, ends = ranged(row, name, form).partition("\n")
    return tag("td", first, interval(ends) if ends else None, class_=kind)
