"""Every corpus that can be named, and whether it is on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...settings.errors import UserError
from .catalogue import CATALOGUE, NamedCorpus
from .places import folder_of, read_source

_OURS = "MIT"


@dataclass(frozen=True)
class Listed:
    """One corpus; ``pairs`` and ``megabytes`` (to download) None where there is no such number.

    Of what is on this machine ``pairs`` is exact and ``fetched`` its date; of the rest it is about
    what a fetch will bring.
    """

    name: str
    text: str
    pairs: int | None
    megabytes: float | None
    licence: str
    citation: str
    here: bool
    fetched: str | None
    folder: str | None
    sources: tuple[str, ...]


def listed() -> list[Listed]:
    """The built-in corpora, then those that can be fetched."""
    return [
        _built_in("grammar", "sentences of a grammar, with word alignment and bits"),
        _built_in("copy", "random words, to be repeated"),
        *map(_listed, CATALOGUE.values()),
    ]


def _built_in(name: str, text: str) -> Listed:
    return Listed(name, text, None, None, _OURS, "this program", True, None, None, ())


def _listed(corpus: NamedCorpus) -> Listed:
    try:
        held = read_source(corpus.name)
    except UserError:  # damaged: it cannot be read, which is what counts here
        held = None
    pairs = corpus.pairs if held is None else sum(held["pairs"].values())
    return Listed(
        name=corpus.name,
        text=corpus.text,
        pairs=pairs,
        megabytes=corpus.megabytes,
        licence=corpus.licence,
        citation=corpus.citation,
        here=held is not None,
        fetched=None if held is None else held["fetched"],
        folder=None if held is None else str(folder_of(corpus.name)),
        sources=tuple(remote.url for remote in corpus.remotes),
    )


def summary(held: Mapping[str, Any]) -> list[str]:
    """What a fetch brought, in lines: counts, hashes that no one vouches for, licence, citation."""
    names = {"train": "training", "valid": "validation", "test": "test"}
    counts = [f"{count:,} {names[split]}" for split, count in held["pairs"].items()]
    unknown = [each for each in held["sources"] if not each["known"]]
    return [
        f"{held['name']}: {', '.join(counts)} pairs in {folder_of(held['name'])}",
        *(f"left out: {count:,} {why}" for why, count in held["left_out"].items()),
        *(f"sha256 of {each['url']}: {each['sha256']} (recorded)" for each in unknown),
        f"licence: {held['licence']}; cite: {held['citation']}",
    ]
