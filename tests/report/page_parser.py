"""A strict parser of the page: nested elements, ids, links, headings, tables, texts."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "img", "link", "meta", "source", "wbr"}
LOADING = ("src", "srcset", "data", "poster", "background", "action", "formaction", "ping")


@dataclass
class Node:
    """An element with its attributes, children and all text inside."""

    name: str
    attributes: dict[str, str | None]
    children: list["Node"] = field(default_factory=list)
    text: str = ""

    @property
    def nodes(self) -> list["Node"]:
        """Every element inside, in the page's order."""
        return [node for child in self.children for node in (child, *child.nodes)]

    def all(self, name: str) -> list["Node"]:
        """The elements of this name inside."""
        return [node for node in self.nodes if node.name == name]

    def by_id(self, name: str) -> "Node":
        """The one element with an id."""
        (node,) = [node for node in self.nodes if node.attributes.get("id") == name]
        return node


class _Parser(HTMLParser):
    """Raises ValueError if an end tag does not close the open element."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open = [Node("", {})]
        self.feed(text)
        self.close()
        if len(self.open) > 1:
            raise ValueError(f"not closed: {[node.name for node in self.open[1:]]}")

    def handle_starttag(self, tag, attrs):
        if len(dict(attrs)) < len(attrs):
            raise ValueError(f"an attribute twice in {tag}: {attrs}")
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        if self.open.pop().name != tag:
            raise ValueError(f"</{tag}> closes another element")

    def handle_data(self, data):
        for node in self.open:
            node.text += data


def parse(text: str) -> Node:
    """Parse the page into an element."""
    return _Parser(text).open[0]
