"""What an audit looks at: the slides, and what is handed in from outside."""

from dataclasses import dataclass, replace

from .grid import Grid
from .slides import SLIDES, Slides
from .trained import ArmOutputs, ArmSteps


@dataclass(frozen=True)
class Alignment:
    """Gold links of a sentence pair, as places of its whitespace-separated words."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]

    def of(self, place: int) -> list[int]:
        """The target places that a source word is linked to."""
        return sorted(target for source, target in set(self.links) if source == place)

    @property
    def phrases(self) -> list[tuple[str, str]]:
        """Each linked source word and its target words, in lower case."""
        return [
            (word.lower(), " ".join(self.target[target] for target in self.of(place)).lower())
            for place, word in enumerate(self.source)
            if self.of(place)
        ]

    @property
    def crossings(self) -> list[tuple[str, str]]:
        """Pairs of source words whose translations stand the other way round."""
        linked = [place for place in range(len(self.source)) if self.of(place)]
        return [
            (self.source[first], self.source[second])
            for first in linked
            for second in linked
            if first < second and min(self.of(first)) > max(self.of(second))
        ]

    @property
    def one_to_many(self) -> list[str]:
        """Source words with several target words."""
        return [word for place, word in enumerate(self.source) if len(self.of(place)) > 1]


@dataclass(frozen=True)
class Exponent:
    """How attention's seconds grow with the length: t = constant x length^value, 95 % interval.

    Both sides are as long. ``folder`` holds the benchmark, for a reader who is to be told.
    """

    arm: str
    value: float
    low: float
    high: float
    folder: str = ""

    @property
    def a_step(self) -> "Exponent":
        """The same seconds over the decoder's steps, which are as many as the length."""
        return replace(self, value=self.value - 1, low=self.low - 1, high=self.high - 1)


@dataclass(frozen=True)
class Evidence:
    """The slides; L16's gold alignment; L15's measured exponent; what trained runs hand in.

    The last are L10's learned weights, and what each arm says of L17 and of L-SHORT.
    """

    alignment: Alignment
    cost: Exponent | None = None
    learned: Grid | None = None
    slides: Slides = SLIDES
    first: tuple[ArmSteps, ...] = ()
    short: tuple[ArmOutputs, ...] = ()
