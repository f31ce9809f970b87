"""The corpora that can be had by name: from where, under which licence, after whom.

A hash is given where the file can have no other: those of Multi30k are of the files of one commit.
A zip of a commit is made anew by GitHub and the other hosts publish none: what arrives the first
time is recorded, and a later fetch checks it.
"""

from dataclasses import dataclass

from .download import Remote
from .laws import unpack_laws
from .unpacking import Unpack, unpack_columns, unpack_members, unpack_sides

_MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/"
    "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/"
)
_LAWS_COMMIT = "d6853c4af2ae0b7ab8c205a0e95ee734b9945c31"


@dataclass(frozen=True)
class NamedCorpus:
    """One corpus; ``pairs`` and ``megabytes`` (10^6, to download) are what a person may expect."""

    name: str
    text: str
    pairs: int
    megabytes: float
    licence: str
    citation: str
    remotes: tuple[Remote, ...]
    unpack: Unpack


def _multi30k() -> NamedCorpus:
    """Task 1: captions of images; its test set is that of 2016."""
    hashes = {
        "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
        "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
        "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
        "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
        "test_2016_flickr.en.gz": (
            "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"
        ),
        "test_2016_flickr.fr.gz": (
            "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90"
        ),
    }
    return NamedCorpus(
        name="multi30k",
        text="captions of images (task 1, test 2016)",
        pairs=31_014,
        megabytes=1.3,
        licence="research and education, non-commercial",
        citation="Elliott et al. 2016; French: Elliott et al. 2017",
        remotes=tuple(
            Remote(_MULTI30K + name, known, 20_000_000) for name, known in hashes.items()
        ),
        unpack=unpack_sides(("train", "valid", "test")),
    )


def _tatoeba() -> NamedCorpus:
    return NamedCorpus(
        name="tatoeba",
        text="short everyday sentences",
        pairs=230_000,
        megabytes=8.0,
        licence="CC BY 2.0 FR",
        citation="tatoeba.org, manythings.org",
        remotes=(Remote("https://www.manythings.org/anki/fra-eng.zip", None, 200_000_000),),
        unpack=unpack_columns("fra.txt"),
    )


def _europarl() -> NamedCorpus:
    url = "https://www.statmt.org/europarl/v7/fr-en.tgz"
    return NamedCorpus(
        name="europarl",
        text="debates of the European Parliament (v7)",
        pairs=2_007_723,
        megabytes=194.0,
        licence="no copyright restrictions known",
        citation="Koehn 2005",
        remotes=(Remote(url, None, 1_000_000_000),),
        unpack=unpack_members("europarl-v7.fr-en.en", "europarl-v7.fr-en.fr"),
    )


def _news_commentary() -> NamedCorpus:
    """Version 9, that of WMT 2014, whose test set is ``wmt14``."""
    base = "training/news-commentary-v9.fr-en."
    url = "https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz"
    return NamedCorpus(
        name="news-commentary",
        text="comments on the news (v9, of WMT 2014)",
        pairs=183_251,
        megabytes=80.0,
        licence="research",
        citation="Bojar et al. 2014 (WMT14)",
        remotes=(Remote(url, None, 1_000_000_000),),
        unpack=unpack_members(f"{base}en", f"{base}fr"),
    )


def _canada_laws() -> NamedCorpus:
    """The laws as they stood in July 2026: a commit, so that results can be repeated."""
    url = f"https://github.com/justicecanada/laws-lois-xml/archive/{_LAWS_COMMIT}.zip"
    return NamedCorpus(
        name="canada-laws",
        text="federal acts and regulations",
        pairs=490_000,
        megabytes=130.0,
        licence="Open Government Licence - Canada",
        citation="Justice Canada, laws-lois-xml",
        remotes=(Remote(url, None, 2_000_000_000),),
        unpack=unpack_laws,
    )


CATALOGUE = {
    corpus.name: corpus
    for corpus in (_multi30k(), _tatoeba(), _europarl(), _news_commentary(), _canada_laws())
}
"""Every corpus of ``settings.concerns.NAMED``, by name."""
