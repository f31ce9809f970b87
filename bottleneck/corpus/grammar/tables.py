"""Exact weights of all lengths, and the tables that sentences of a wanted length are drawn from.

``inside[symbol][n]`` is the probability that a symbol is rewritten as n words. A rewriting is
then drawn given its length, together with how that length is shared among its parts; nothing is
ever rejected. Additions go one by one, in one order, so that the sums, and with them the draws,
are the same under every version of Python.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate
from math import log2

from .rule import Choice, Rule, Word, is_symbol, words_in

Inside = dict[str, list[float]]
Rules = dict[str, tuple[Choice, ...]]


def collect(choices: Iterable[Choice]) -> Rules:
    """The choices of each symbol, in the order they were given."""
    rules: dict[str, list[Choice]] = {}
    for choice in choices:
        rules.setdefault(choice.symbol, []).append(choice)
    return {symbol: tuple(own) for symbol, own in rules.items()}


def reachable(rules: Rules, start: str) -> list[str]:
    """The symbols that occur under the start, each after those it is made of."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(symbol: str) -> None:
        if symbol in seen:
            return
        seen.add(symbol)
        for choice in rules[symbol]:
            if isinstance(choice, Rule):
                for part in filter(is_symbol, choice.parts):
                    visit(part)
        order.append(symbol)

    visit(start)
    return order


def probabilities(rules: Rules) -> dict[Choice, float]:
    """The probability of each choice among those of its symbol."""
    shares: dict[Choice, float] = {}
    for own in rules.values():
        *_, total = accumulate(choice.weight for choice in own)
        shares.update((choice, choice.weight / total) for choice in own)
    return shares


def _convolve(left: list[float], right: list[float], longest: int) -> list[float]:
    """The weights of two parts in a row."""
    whole = [0.0] * (longest + 1)
    filled = [(n, weight) for n, weight in enumerate(right) if weight]
    for n, weight in enumerate(left):
        if weight:
            for more, other in filled:
                if n + more > longest:
                    break
                whole[n + more] += weight * other
    return whole


def _shift(weights: list[float], by: int) -> list[float]:
    return [0.0] * by + weights[: len(weights) - by] if by else weights


def _sequence(parts: tuple[str, ...], inside: Inside, longest: int) -> list[float]:
    """The weights of parts in a row, each length's in one number."""
    whole = [1.0] + [0.0] * longest
    fixed = sum(words_in(part) for part in parts if not is_symbol(part))
    for part in filter(is_symbol, parts):
        whole = _convolve(whole, inside[part], longest)
    return _shift(whole, fixed)


def inside_weights(rules: Rules, order: list[str], longest: int) -> Inside:
    """The weight of each symbol at each length; a rule may end in its own symbol."""
    shares = probabilities(rules)
    inside: Inside = {}
    for symbol in order:
        whole = [0.0] * (longest + 1)
        tails: list[list[float]] = []
        for choice in rules[symbol]:
            share = shares[choice]
            if isinstance(choice, Word):
                whole[sum(map(words_in, choice.tokens))] += share
            elif choice.parts[-1] == symbol:
                start = _sequence(choice.parts[:-1], inside, longest)
                tails.append([share * weight for weight in start])
            else:
                for n, weight in enumerate(_sequence(choice.parts, inside, longest)):
                    whole[n] += share * weight
        for tail in tails:
            _close(whole, tail)
        inside[symbol] = whole
    return inside


def _close(whole: list[float], tail: list[float]) -> None:
    """Add to a symbol's weights those of a rule that ends in the symbol itself."""
    for n in range(1, len(whole)):
        for before in range(1, n):
            whole[n] += tail[before] * whole[n - before]


class Table:
    """The choices of one symbol at one length, filled when first drawn from.

    ``ways`` are the choices with the lengths of their parts; each has its place in ``choices``,
    None until it is first drawn and laid out.
    """

    __slots__ = ("choices", "cumulative", "symbol", "ways", "words")

    def __init__(self, symbol: str, words: int) -> None:
        self.symbol = symbol
        self.words = words
        self.cumulative: list[float] = []
        self.ways: list[tuple[Choice, tuple[int, ...]]] = []
        self.choices: list[tuple | None] = []


class Tables:
    """The tables of a grammar."""

    def __init__(self, rules: Rules, start: str, longest: int) -> None:
        order = reachable(rules, start)
        self.rules = {symbol: rules[symbol] for symbol in order}
        self.inside = inside_weights(self.rules, order, longest)
        self.shares = probabilities(self.rules)
        self.bits = {choice: -log2(share) for choice, share in self.shares.items()}
        self._tables: dict[tuple[str, int], Table] = {}

    def table(self, symbol: str, words: int) -> Table:
        """The table of a symbol at a length, perhaps not yet filled."""
        key = (symbol, words)
        if key not in self._tables:
            self._tables[key] = Table(symbol, words)
        return self._tables[key]

    def fill(self, table: Table) -> None:
        """List the choices of a table, each with its share of the whole length."""
        weights: list[float] = []
        for choice in self.rules[table.symbol]:
            for lengths, weight in self.ways(choice, table.words):
                weights.append(weight)
                table.ways.append((choice, lengths))
        table.choices = [None] * len(weights)
        cumulative = list(accumulate(weights))
        table.cumulative = [weight / cumulative[-1] for weight in cumulative[:-1]]

    def ways(self, choice: Choice, words: int) -> Iterator[tuple[tuple[int, ...], float]]:
        """How a choice can have so many words: lengths of its symbols, and the weight."""
        if isinstance(choice, Word):
            if sum(map(words_in, choice.tokens)) == words:
                yield (), self.shares[choice]
            return
        symbols = [part for part in choice.parts if is_symbol(part)]
        fixed = sum(words_in(part) for part in choice.parts if not is_symbol(part))
        yield from self._splits(symbols, words - fixed, self.shares[choice])

    def _splits(
        self, symbols: list[str], words: int, weight: float
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        """All ways to share words among symbols, each with its weight."""
        if not symbols:
            if words == 0:
                yield (), weight
            return
        first, *others = symbols
        own = self.inside[first]
        if not others:
            if words > 0 and own[words]:
                yield (words,), weight * own[words]
            return
        for length in range(1, words - len(others) + 1):
            if own[length]:
                for more, whole in self._splits(others, words - length, weight * own[length]):
                    yield (length, *more), whole

    def lay_out(self, table: Table, place: int) -> tuple:
        """The choice at this place of a table, kept for the next draw."""
        laid_out = self._laid_out(*table.ways[place])
        table.choices[place] = laid_out
        return laid_out

    def _laid_out(self, choice: Choice, lengths: tuple[int, ...]) -> tuple:
        """A choice as the drawing loop reads it: bits, tokens or steps, and what to build."""
        if isinstance(choice, Word):
            return self.bits[choice], choice.tokens, None, choice.value
        remaining = iter(lengths)
        steps = tuple(
            (self.table(part, next(remaining)), "") if is_symbol(part) else (None, part)
            for part in choice.parts
        )
        return self.bits[choice], (), steps, choice.build
