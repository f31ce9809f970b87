"""Sentence pairs from the consolidated acts and regulations of Canada, English and French.

Both languages of a document are XML of the same structure. A text element's path names, from the
root down, each element by its tag and its label ("a" for "(a)" and "a)"), a definition by its
terms in both languages, and what has no label by its place among its like and their number.
Paths that are unique in both files and the same pair their texts.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from zipfile import ZipFile

from ...settings.errors import UserError
from .archives import Limits, open_zip, reading, refused
from .places import NOTHING_KEPT
from .unpacking import Built
from .writing import pair_writer

LIMITS = Limits(members=60_000, unpacked=3_000_000_000)

LARGEST = 50_000_000
"""Bytes of a document at most; the longest act has 12 million."""

TEXTS = frozenset({"Text", "MarginalNote", "TitleText", "LongTitle"})
TERMS = {"en": "DefinedTermEn", "fr": "DefinedTermFr"}
OTHER = {"en": "fr", "fr": "en"}
SHORTEST, LONGEST = 3, 50
"""English words of a pair; the French has at least half and at most twice as many."""
DEEPEST = 100
"""Elements inside each other at most; acts come to 30."""
PARTS = 100
"""Documents in so many parts by a hash of their name: one is for testing, one for validation."""

FOLDERS = {"eng/acts/": "fra/lois/", "eng/regulations/": "fra/reglements/"}
RENAMED = (("SOR-", "DORS-"), ("SI-", "TR-"), ("C.R.C.,_c._", "C.R.C.,_ch._"))


class _NoDoctype(TreeBuilder):
    """Builds the tree of a document that declares nothing: no entity can be expanded."""

    def doctype(self, name: str, *_: object) -> NoReturn:
        """Stop before what is declared is read."""
        raise _DoctypeError(name)


class _DoctypeError(Exception):
    """A document with a DOCTYPE."""


def unpack_laws(paths: Sequence[Path], folder: Path) -> Built:
    """Write the three splits from a zip of the repository; a pair is kept where it comes first.

    Raises UserError for an archive that is damaged, refused or without text to train on.
    """
    archive = paths[0]
    seen: set[tuple[str, str]] = set()
    left_out: Counter[str] = Counter()
    with reading(archive), open_zip(archive, LIMITS) as held, ExitStack() as open_files:
        names = ("train", "valid", "test")
        writers = {name: open_files.enter_context(pair_writer(folder, name)) for name in names}
        for english, french in documents(held.namelist()):
            pairs = _read_document(held, english, french)
            left_out["documents that are not well-formed XML"] += pairs is None
            for pair in pairs or ():
                left_out["pairs that came before"] += pair in seen
                if pair not in seen:
                    seen.add(pair)
                    writers[split_of(Path(english).stem)].write(*pair)
    counts = {name: writer.count for name, writer in writers.items() if writer.count}
    if "train" not in counts:
        raise UserError(
            f"{archive.name!r} holds no act or regulation in both languages; {NOTHING_KEPT}"
        )
    return Built(counts, {why: count for why, count in left_out.items() if count})


def documents(names: list[str]) -> Iterator[tuple[str, str]]:
    """English and French file of every document that has both, by name."""
    known = frozenset(names)
    for name in sorted(known):
        root, _, path = name.partition("/")
        for ours, theirs in FOLDERS.items():
            stem = path.removeprefix(ours)
            if stem != path and stem.endswith(".xml"):
                french = f"{root}/{theirs}{french_name(stem)}"
                if french in known:
                    yield name, french


def french_name(english: str) -> str:
    """The name of a document's French file: SOR-96-433 is DORS-96-433."""
    for ours, theirs in RENAMED:
        if english.startswith(ours):
            return theirs + english.removeprefix(ours)
    return english


def split_of(document: str) -> str:
    """The split of all of a document's pairs, by a hash of its name."""
    part = int.from_bytes(sha256(document.encode()).digest()[:8], "big") % PARTS
    return {0: "test", 1: "valid"}.get(part, "train")


def _read_document(held: ZipFile, english: str, french: str) -> list[tuple[str, str]] | None:
    """The pairs of a document, None where one of its files is not well-formed."""
    if max(held.getinfo(name).file_size for name in (english, french)) > LARGEST:
        raise refused(english, "is larger than any act, or its French is")
    try:
        ours, theirs = parse(held.read(english)), parse(held.read(french))
    except ParseError:
        return None
    except _DoctypeError:
        raise refused(english, "has a DOCTYPE or its French has, as no act does") from None
    return pairs_of(ours, theirs)


def parse(document: bytes) -> Element:
    """The root of a document. Raises ParseError; stops at a DOCTYPE, before any entity."""
    parser = XMLParser(target=_NoDoctype())
    try:
        parser.feed(document)
        root = parser.close()
    except (LookupError, ValueError):  # an encoding that no one knows, or of several bytes
        raise ParseError("an encoding that cannot be read") from None
    if not isinstance(root, Element):
        raise ParseError("no element")
    return root


def pairs_of(english: Element, french: Element) -> list[tuple[str, str]]:
    """Texts under the same path, in the order of the English file, that look like translations."""
    ours, theirs = unique_texts(english, "en"), unique_texts(french, "fr")
    pairs = ((text, theirs[path]) for path, text in ours.items() if path in theirs)
    return [(text, other) for text, other in pairs if fits(text, other)]


def fits(english: str, french: str) -> bool:
    """Whether lengths allow that one translates the other, and they are not the same string."""
    words, others = len(english.split()), len(french.split())
    in_range = SHORTEST <= words <= LONGEST and words <= 2 * others and others <= 2 * words
    return in_range and english != french


def unique_texts(root: Element, language: str) -> dict[str, str]:
    """The texts of a document by path, without those whose path another has too."""
    found: dict[str, str] = {}
    again: set[str] = set()
    waiting = [(root, root.tag, 0)]
    while waiting:
        element, path, depth = waiting.pop()
        if element.tag in TEXTS and element.find("Repealed") is not None:
            continue  # it says no more than that
        if element.tag in TEXTS:
            if path in found:
                again.add(path)
            found[path] = text_of(element, language)
        elif len(element) and depth < DEEPEST:
            inside = [(child, f"{path}/{step}", depth + 1) for step, child in steps(element)]
            waiting += reversed(inside)
    return {path: text for path, text in found.items() if path not in again}


def steps(parent: Element) -> Iterator[tuple[str, Element]]:
    """The children of an element, each with its step of a path."""
    named = [(child, label_of(child)) for child in parent]
    like = Counter(child.tag for child, label in named if not label)
    place: Counter[str] = Counter()
    for child, label in named:
        if not label:
            place[child.tag] += 1
            label = f"{place[child.tag]}/{like[child.tag]}"
        yield f"{child.tag}[{label}]", child


def label_of(element: Element) -> str:
    """What both languages call an element: its label, or the terms that it defines."""
    label = element.find("Label")
    if label is not None:
        words = "".join(label.itertext()).casefold().split()
        return re.sub(r"[^\w.]", "", words[-1]) if words else ""
    if element.tag == "Definition":
        terms = (next(element.iter(TERMS[side]), None) for side in ("en", "fr"))
        return "|".join(folded("".join(term.itertext())) for term in terms if term is not None)
    return ""


def folded(text: str) -> str:
    """Text with single spaces and without differences of case."""
    return " ".join(text.casefold().split())


def text_of(element: Element, language: str) -> str:
    """An element's text without what stands in it in the other language, as definitions have it."""
    other = TERMS[OTHER[language]]
    if next(element.iter(other), None) is None:
        return " ".join("".join(element.itertext()).split())
    text = " ".join("".join(_pieces_without(element, other)).split())
    return re.sub(r"\s*\(\s*\)", "", text)


def _pieces_without(element: Element, tag: str) -> Iterator[str]:
    """An element's text in pieces, without that of elements of this tag."""
    waiting: list[Element | str] = [element]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            yield piece
            continue
        inside: list[Element | str] = [piece.text or ""]
        for child in piece:
            inside += [*([] if child.tag == tag else [child]), child.tail or ""]
        waiting += reversed(inside)
