"""What is measured: arms, and sizes of which one is varied at a time from a common base."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import get_args

from ..corpus.vocabulary import UNK
from ..results.cost import VARIED
from ..settings.concerns import ModelSettings
from ..settings.errors import UsageError, did_you_mean

OUTPUT = "-output"
"""Behind the name of an arm in Luong's placement."""
NONE = "none"

ATTENTIONS = get_args(ModelSettings.model_fields["attention"].annotation)
ARM_NAMES = tuple(f"{name}{behind}" for behind in ("", OUTPUT) for name in ATTENTIONS)


@dataclass(frozen=True)
class Arm:
    """One attention in one placement."""

    attention: str
    placement: str

    @property
    def name(self) -> str:
        """``dot``, or ``dot-output``."""
        return self.attention + (OUTPUT if self.placement == "output" else "")

    @property
    def baseline(self) -> str:
        """Name of the arm without attention in the same placement."""
        return Arm(NONE, self.placement).name


@dataclass(frozen=True)
class Sizes:
    """Tokens a side (end token included), context and hidden size, sentences, words.

    Words are those of either vocabulary, special tokens among them; each has ``embedding_size``
    numbers.
    """

    length: int = 30
    context_size: int = 256
    batch_size: int = 64
    vocabulary: int = 2_000
    embedding_size: int = 100

    def model(self, arm: Arm) -> ModelSettings:
        """The lecture's model at these sizes."""
        return ModelSettings(
            attention=arm.attention,
            placement=arm.placement,
            embedding_size=self.embedding_size,
            context_size=self.context_size,
        )


BASE = Sizes()
"""What all quantities but one are held at."""

LEAST = {"length": 1, "context_size": 1, "batch_size": 1, "vocabulary": UNK + 2}
"""Least sizes; of the vocabulary one word beside the special tokens."""

SHORT_NAMES = {"context": "context_size", "batch": "batch_size"}
"""What ``--vary`` calls some quantities."""

Variation = Mapping[str, tuple[int, ...]]
"""The sizes that each varied quantity takes."""

DEFAULT: Variation = {
    "length": (10, 20, 30, 50, 70, 100, 140, 200),
    "context_size": (64, 128, 256, 512, 1024),
    "batch_size": (16, 32, 64, 128, 256),
    "vocabulary": (500, 2_000, 8_000, 32_000),
}
QUICK: Variation = {
    "length": (10, 30, 90),
    "context_size": (64, 256),
    "batch_size": (16, 64),
    "vocabulary": (500, 2_000),
}

DEFAULT_ARMS = ("none", "additive", "dot", "none-output", "dot-output")
QUICK_ARMS = ("none", "additive", "dot")


@dataclass(frozen=True)
class Point:
    """Sizes that are measured once, and the quantities in whose variation they stand."""

    sizes: Sizes
    varied: tuple[str, ...]

    @property
    def name(self) -> str:
        """``length 50``; of the base ``base``."""
        changed = {name: size for name, size in asdict(self.sizes).items() if size != _base(name)}
        return ", ".join(f"{name} {size:,}" for name, size in changed.items()) or "base"


def _base(name: str) -> int:
    return getattr(BASE, name)


def points(variation: Variation) -> list[Point]:
    """Every distinct set of sizes once, in the order of the variation."""
    found: dict[Sizes, tuple[str, ...]] = {}
    for name, sizes in variation.items():
        for size in sizes:
            held = replace(BASE, **{name: size})
            found[held] = (*found.get(held, ()), name)
    return [Point(*each) for each in found.items()]


def parse_arms(text: str) -> list[Arm]:
    """``additive,dot-output`` as arms, each behind the arm without attention that it is held to.

    Raises UsageError for a name that is none, or for no name.
    """
    arms: dict[str, Arm] = {}
    for name in _words(text):
        if name not in ARM_NAMES:
            raise UsageError(f"--arms: unknown arm {name!r}{did_you_mean(name, ARM_NAMES)}")
        arm = Arm(name.removesuffix(OUTPUT), "output" if name.endswith(OUTPUT) else "input")
        arms.setdefault(arm.baseline, Arm(NONE, arm.placement))
        arms[arm.name] = arm
    if not arms:
        raise UsageError(f"--arms: name at least one of {', '.join(ARM_NAMES)}")
    return list(arms.values())


def parse_variation(text: str, default: Variation) -> Variation:
    """``length=10,20,context``: sizes behind an equals sign, else those of the default.

    Raises UsageError for another quantity, and for a size that is none or is below `LEAST`.
    """
    found: dict[str, list[int]] = {}
    name = ""
    for word in _words(text):
        head, equals, size = word.partition("=")
        if equals or not _is_number(word):
            name = _quantity(head.strip())
            found[name] = [] if equals else list(default[name])
        if equals or _is_number(word):
            found.setdefault(name, []).append(_size(name, size if equals else word))
    if not found:
        raise UsageError(f"--vary: name at least one of {', '.join(_names())}")
    return {name: tuple(sorted(set(sizes))) for name, sizes in found.items()}


def _words(text: str) -> Sequence[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _is_number(word: str) -> bool:
    return word.removeprefix("-").replace("_", "").replace(".", "").isdecimal()


def _names() -> list[str]:
    short = {name: given for given, name in SHORT_NAMES.items()}
    return [short.get(name, name) for name in VARIED]


def _quantity(name: str) -> str:
    """The full name of what is varied."""
    full = SHORT_NAMES.get(name, name)
    if full not in VARIED:
        raise UsageError(f"--vary: unknown quantity {name!r}{did_you_mean(name, _names())}")
    return full


def _size(name: str, text: str) -> int:
    """A size of a quantity, which must be named before it."""
    if not name:
        raise UsageError(f"--vary: {text!r} belongs to nothing; write length={text}")
    plain = text.strip().replace("_", "")
    if not plain.isdecimal() or int(plain) < LEAST[name]:
        raise UsageError(f"--vary: {name}={text.strip()}: give whole numbers from {LEAST[name]} up")
    return int(plain)
