"""A strict reading of the page: elements that nest, ids, links, headings, tables, texts."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "img", "link", "meta", "source", "wbr"}
LOADING = ("src", "srcset", "data", "poster", "background", "action", "formaction", "ping")


@dataclass
class Node:
    """An element with its attributes, its children and its own text."""

    name: str
    attributes: dict[str, str | None]
    children: list["Node"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, name: str) -> list["Node"]:
        """The elements of a name within, in the page's order."""
        inside = [node for child in self.children for node in child.all(name)]
        return [self, *inside] if self.name == name else inside

    @property
    def text(self) -> str:
        """All text within."""
        return "".join(self.texts)


class Page(HTMLParser):
    """Raises ValueError where an end tag closes another element than the one that is open."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]
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
        if self.open[-1].name != tag:
            raise ValueError(f"</{tag}> in {self.open[-1].name}")
        self.open.pop()

    def handle_data(self, data):
        for node in self.open:
            node.texts.append(data)

    @property
    def nodes(self) -> list[Node]:
        """Every element."""

        def within(node):
            return [item for child in node.children for item in (child, *within(child))]

        return within(self.root)

    def named(self, name: str) -> list[Node]:
        """The elements of a name."""
        return self.root.all(name)

    def by_id(self, name: str) -> Node:
        """The one element with an id."""
        (node,) = [node for node in self.nodes if node.attributes.get("id") == name]
        return node
