"""The built-in English-French grammar: draws, parses and lists sentence pairs.

``inside[symbol][n]`` is the probability that a symbol is rewritten as n words. A rewriting is
drawn given its length, together with how that length is shared among its parts; nothing is ever
rejected. Additions go one by one, in one order, so that the sums, and with them the draws, are the
same under every version of Python.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from itertools import accumulate, product
from math import fsum, log2
from random import Random
from typing import Any

from ...settings.concerns import Lexicon
from ..pair import SentencePair
from ..tokens import JOINER, tokenize
from .french import Item, join, same, text_of
from .lexicon import Rule, fix_articles
from .rules import START, rules

Derivation = tuple[Rule, tuple[Any, ...]]  # a rule and the derivations of its symbols
Ends = dict[int, tuple[int, Any]]  # where it may end -> how many derivations, and the first


def _is_symbol(part: str) -> bool:
    return part[0].isupper()


def _symbols(rule: Rule) -> list[str]:
    return [part for part in rule.parts if _is_symbol(part)]


def _fixed_words(rule: Rule) -> int:
    """How many words a rule's tokens add; one that is glued to the word before adds none."""
    return sum(not part.startswith(JOINER) for part in rule.parts if not _is_symbol(part))


class Grammar:
    """A synchronous grammar whose French is a function of its English.

    Every English sentence has one derivation. ``bits`` of a pair is -log2 of its probability
    among the sentences of its length. ValueError where sentences are asked for of other lengths
    than ``shortest`` to ``longest`` words.
    """

    shortest = 2
    longest = 60

    def __init__(self, lexicon: Lexicon = "full") -> None:
        self._rules = _reachable(rules(lexicon))
        self._shares: dict[Rule, float] = {}
        for choices in self._rules.values():
            *_, total = accumulate(rule.weight for rule in choices)
            self._shares.update((rule, rule.weight / total) for rule in choices)
        self._inside = self._inside_weights()
        self._tables: dict[tuple[str, int], _Table] = {}
        self._beginnings: dict[tuple[str, str], tuple[Rule, ...]] = {}

    def weight(self, words: int) -> float:
        """The probability that a sentence has so many words, were lengths left free."""
        self._check(words)
        return self._inside[START][words]

    def draw(self, random: Random, words: int) -> SentencePair:
        """One sentence of exactly so many words."""
        self._check(words)
        english: list[str] = []
        trace: list[float] = []
        items = self._expand(self._table(START, words), english, trace, random.random)
        return self._pair(english, items, trace, words)

    def parse(self, sentence: str) -> SentencePair | None:
        """The pair of an English sentence, or None if it is not of this language."""
        words = len(sentence.split())
        _, derivation = self._derivations(sentence)
        if derivation is None or not self.shortest <= words <= self.longest:
            return None
        return self._built(derivation, words)

    def count_derivations(self, sentence: str) -> int:
        """In how many ways the grammar makes this sentence."""
        return self._derivations(sentence)[0]

    def sentences(self, words: int) -> Iterator[SentencePair]:
        """Every sentence of so many words; there are many from four words on."""
        self._check(words)
        for derivation in self._enumerate(START, words):
            yield self._built(derivation, words)

    def vocabulary(self) -> tuple[str, ...]:
        """Every English token of the language, sorted."""
        parts = {part for rule in self._shares for part in rule.parts}
        return tuple(sorted({"an", *(part for part in parts if not _is_symbol(part))}))

    def _check(self, words: int) -> None:
        if not self.shortest <= words <= self.longest:
            raise ValueError(
                f"the grammar has sentences of {self.shortest} to {self.longest} words,"
                f" not of {words}"
            )

    def _inside_weights(self) -> dict[str, list[float]]:
        """The weight of each symbol at each length; a rule may end in its own symbol."""
        inside: dict[str, list[float]] = {}
        for symbol, choices in self._rules.items():
            whole = [0.0] * (self.longest + 1)
            tails: list[list[float]] = []
            for rule in choices:
                share, fixed, parts = self._shares[rule], _fixed_words(rule), _symbols(rule)
                if not parts:
                    whole[fixed] += share
                    continue
                recursive = parts[-1] == symbol
                rows = [inside[part] for part in (parts[:-1] if recursive else parts)]
                row = [0.0] * fixed + reduce(_convolve, rows)[: len(whole) - fixed]
                if recursive:
                    tails.append([share * weight for weight in row])
                else:
                    for n, weight in enumerate(row):
                        whole[n] += share * weight
            for tail in tails:
                for n in range(1, len(whole)):
                    for before in range(1, n):
                        whole[n] += tail[before] * whole[n - before]
            inside[symbol] = whole
        return inside

    def _table(self, symbol: str, words: int) -> "_Table":
        key = (symbol, words)
        if key not in self._tables:
            self._tables[key] = _Table(symbol, words)
        return self._tables[key]

    def _fill(self, table: "_Table") -> None:
        """List the ways of a table, each with its share of the whole length."""
        weights: list[float] = []
        for rule in self._rules[table.symbol]:
            for lengths, weight in self._ways(rule, table.words):
                weights.append(weight)
                table.ways.append((rule, lengths))
        table.choices = [None] * len(weights)
        cumulative = list(accumulate(weights))
        table.cumulative = [weight / cumulative[-1] for weight in cumulative[:-1]]

    def _ways(self, rule: Rule, words: int) -> Iterator[tuple[tuple[int, ...], float]]:
        """How a rule can have so many words: the lengths of its symbols, and the weight."""
        return self._splits(_symbols(rule), words - _fixed_words(rule), self._shares[rule])

    def _splits(
        self, symbols: list[str], words: int, weight: float
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        """All ways to share words among symbols, each with its weight."""
        if not symbols:
            if words == 0:
                yield (), weight
            return
        first, *others = symbols
        inside = self._inside[first]
        for length in range(1 if others else max(words, 1), words - len(others) + 1):
            if inside[length]:
                whole = weight * inside[length]
                for more, product_of in self._splits(others, words - length, whole):
                    yield (length, *more), product_of

    def _lay_out(self, table: "_Table", index: int) -> tuple:
        """A way of a table as ``_expand`` reads it: bits, tokens or steps, build.

        A word has tokens and no steps; a rule that passes on its only part has no build.
        """
        rule, lengths = table.ways[index]
        remaining = iter(lengths)
        steps = [
            (self._table(part, next(remaining)), "") if _is_symbol(part) else (None, part)
            for part in rule.parts
        ]
        way = (
            -log2(self._shares[rule]),
            () if lengths else rule.parts,
            steps[0][0] if rule.build is same else steps,
            None if rule.build is same else rule.build,
        )
        table.choices[index] = way
        return way

    def _expand(
        self, table: "_Table", english: list[str], trace: list[float], chance: Callable[[], float]
    ) -> Any:
        """Draw a rewriting of a table's symbol; append its English, return its French."""
        while True:
            if not table.choices:
                self._fill(table)
            index = bisect_right(table.cumulative, chance())
            bits, tokens, steps, build = table.choices[index] or self._lay_out(table, index)
            trace.append(bits)
            if build is not None:
                break
            table = steps
        if tokens:
            start = len(english)
            english += tokens
            return build(start) if len(tokens) == 1 else build(*range(start, len(english)))
        values = []
        for part, token in steps:
            if part is None:
                values.append(len(english))
                english.append(token)
            else:
                values.append(self._expand(part, english, trace, chance))
        return build(*values)

    def _built(self, derivation: Derivation, words: int) -> SentencePair:
        """The pair of a derivation of so many words."""
        english: list[str] = []
        trace: list[float] = []

        def build(derivation: Derivation) -> Any:
            rule, derivations = derivation
            trace.append(-log2(self._shares[rule]))
            remaining = iter(derivations)
            values = []
            for part in rule.parts:
                if _is_symbol(part):
                    values.append(build(next(remaining)))
                else:
                    values.append(len(english))
                    english.append(part)
            return rule.build(*values)

        return self._pair(english, build(derivation), trace, words)

    def _enumerate(self, symbol: str, words: int) -> Iterator[Derivation]:
        """Every derivation of a symbol with so many words."""
        for rule in self._rules[symbol]:
            for lengths, _ in self._ways(rule, words):
                pairs = zip(_symbols(rule), lengths, strict=True)
                for derivations in product(*[list(self._enumerate(*pair)) for pair in pairs]):
                    yield rule, derivations

    def _pair(
        self, english: list[str], items: list[Item], trace: list[float], words: int
    ) -> SentencePair:
        fix_articles(english)
        french, origins = join(items)
        links = [(source, place) for place, sources in enumerate(origins) for source in sources]
        links.sort()
        bits = fsum(trace) + log2(self._inside[START][words])
        return SentencePair(text_of(english), text_of(french), tuple(links), bits)

    def _derivations(self, sentence: str) -> tuple[int, Derivation | None]:
        """How many derivations, and the first; the rules know "an" as "a"."""
        tokens = tokenize(sentence)
        general = ["a" if token == "an" else token for token in tokens]
        articled = list(general)
        fix_articles(articled)
        if articled != tokens:
            return 0, None
        return self._ends(START, 0, general, {}).get(len(tokens), (0, None))

    def _ends(
        self, symbol: str, place: int, tokens: list[str], chart: dict[tuple[str, int], Ends]
    ) -> Ends:
        """Where a symbol that starts at this place may end; the chart has what is known."""
        if (symbol, place) in chart:
            return chart[symbol, place]
        ends: Ends = {}
        for rule in self._starting(symbol, tokens[place]) if place < len(tokens) else ():
            states: Ends = {place: (1, ())}
            for part in rule.parts:
                after: Ends = {}
                for start, (count, parts) in states.items():
                    if not _is_symbol(part):
                        if tokens[start : start + 1] == [part]:
                            after[start + 1] = count, parts
                        continue
                    for end, (more, derivation) in self._ends(part, start, tokens, chart).items():
                        known, first = after.get(end, (0, None))
                        after[end] = known + count * more, first or (*parts, derivation)
                states = after
            for end, (count, parts) in states.items():
                known, first = ends.get(end, (0, None))
                ends[end] = known + count, first or (rule, parts)
        chart[symbol, place] = ends
        return ends

    def _starting(self, symbol: str, token: str) -> tuple[Rule, ...]:
        """The rules of a symbol that can begin with this token."""
        key = (symbol, token)
        if key not in self._beginnings:
            self._beginnings[key] = tuple(
                rule
                for rule in self._rules[symbol]
                if token in self._firsts.get(rule.parts[0], rule.parts[:1])
            )
        return self._beginnings[key]

    @cached_property
    def _firsts(self) -> dict[str, set[str]]:
        """The tokens that a symbol can begin with."""
        firsts: dict[str, set[str]] = {}
        for symbol, choices in self._rules.items():
            firsts[symbol] = set().union(
                *(firsts.get(rule.parts[0], rule.parts[:1]) for rule in choices)
            )
        return firsts


@dataclass(slots=True, eq=False)
class _Table:
    """The ways to rewrite a symbol as so many words, listed when it is first drawn from.

    ``ways`` are rules with the lengths of their symbols; each has its place in ``choices``, None
    until it is first drawn and laid out.
    """

    symbol: str
    words: int
    cumulative: list[float] = field(default_factory=list)
    ways: list[tuple[Rule, tuple[int, ...]]] = field(default_factory=list)
    choices: list[tuple | None] = field(default_factory=list)


def _reachable(choices: list[Rule]) -> dict[str, list[Rule]]:
    """The rules of each symbol that occurs under the start, each after those it is made of."""
    by_symbol: dict[str, list[Rule]] = {}
    for rule in choices:
        by_symbol.setdefault(rule.symbol, []).append(rule)
    visited: set[str] = set()
    result: dict[str, list[Rule]] = {}

    def visit(symbol: str) -> None:
        visited.add(symbol)
        for rule in by_symbol[symbol]:
            for part in _symbols(rule):
                if part not in visited:
                    visit(part)
        result[symbol] = by_symbol[symbol]

    visit(START)
    return result


def _convolve(left: list[float], right: list[float]) -> list[float]:
    """The weights of two parts in a row."""
    whole = [0.0] * len(left)
    filled = [(n, weight) for n, weight in enumerate(right) if weight]
    for n, weight in enumerate(left):
        if weight:
            for more, other in filled:
                if n + more >= len(whole):
                    break
                whole[n + more] += weight * other
    return whole


def english_french(lexicon: Lexicon = "full") -> Grammar:
    """The grammar with this lexicon, built once."""
    return _grammar(lexicon)


_grammar = cache(Grammar)
