"""HTML by small functions: text is escaped unless it was made here, so that none can be forgotten.

Text of corpora, file names and settings reaches the page through `tag` alone.
"""

import html
import json
import re
from collections.abc import Iterable
from typing import Any

VOID = frozenset({"br", "img", "link", "meta", "source", "wbr"})
"""Elements that have no end tag."""
_NOT_IN_HTML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Controls, and halves of surrogate pairs, which JSON may hold and no file can."""
_IN_SCRIPT = {sign: f"\\u{ord(sign):04x}" for sign in "<>&"}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | None
"""What stands in an element: `Html` as it is, other text escaped, nothing for None."""


def tag(name: str, /, *children: Child, **attributes: str | bool | None) -> Html:
    """An element. ``class_`` is class, ``data_x`` data-x; True has no value, None is left out."""
    told = "".join(_attribute(key, value) for key, value in attributes.items())
    inner = joined(children)
    if name in VOID:
        return Html(f"<{name}{told}>")
    return Html(f"<{name}{told}>{inner}</{name}>")


def joined(children: Iterable[Child], between: str = "") -> Html:
    """Elements and texts behind each other."""
    return Html(escaped(between).join(map(escaped, filter(None, children))))


def escaped(text: str) -> Html:
    """Text as HTML; signs that HTML cannot hold are replaced by U+FFFD."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(_NOT_IN_HTML.sub("\ufffd", text), quote=True))


def prose(text: str) -> Html:
    """A text in which `backticks` stand around what is typed."""
    parts = enumerate(re.split("`([^`]*)`", text))
    return joined(tag("code", part) if place % 2 else part for place, part in parts)


def json_script(name: str, data: Any) -> Html:
    """Data for a script of the page, in an element that no browser runs.

    Everything but ASCII is escaped, U+2028 and U+2029 among it, and what could end the element.
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    safe = re.sub("[<>&]", lambda found: _IN_SCRIPT[found.group()], text)
    return tag("script", Html(safe), type="application/json", id=name)


def _attribute(key: str, value: str | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escaped(value)}"'
