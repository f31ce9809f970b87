"""The built-in English-French grammar: draws and parses sentence pairs.

``inside[symbol][n]`` is the probability that a symbol is rewritten as n words. Numbers are added
one by one, so that all versions of Python draw the same.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, reduce
from itertools import accumulate
from math import fsum, log2
from operator import add
from random import Random
from typing import Any

from ..pair import SentencePair
from ..vocabulary import WORDS, tokenize
from .french import join
from .lexicon import Rule, fix_articles
from .rules import START, rules

Derivation = tuple[Rule, Sequence[Any]]  # a rule and the derivations of its symbols
Ends = dict[int, tuple[int, Any]]  # where it may end -> how many derivations, and the first


class Grammar:
    """A synchronous grammar: an English sentence has one derivation and one French translation.

    ``bits`` of a pair is -log2 of its probability among the sentences of its length.
    """

    shortest = 2
    longest = 60

    def __init__(self, lexicon: str = "full") -> None:
        by_symbol: dict[str, list[Rule]] = {}
        for rule in rules(lexicon):
            by_symbol.setdefault(rule.symbol, []).append(rule)
        self._rules: dict[str, list[Rule]] = {}

        def keep(symbol: str) -> None:
            """Keep the rules of a symbol after those of its parts; their weights become shares."""
            *_, total = accumulate(rule.weight for rule in by_symbol[symbol])
            for rule in by_symbol[symbol]:
                rule.weight /= total
                for part in rule.symbols:
                    if part != symbol and part not in self._rules:
                        keep(part)
            self._rules[symbol] = by_symbol[symbol]

        keep(START)
        self._inside = self._inside_weights()
        self._tables: dict[tuple[str, int], tuple[list, list[float]]] = {}

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a pair with this many source words, ``shortest`` to ``longest``."""
        return self._pair(self._derive(START, words, random.random))

    def parse(self, sentence: str) -> SentencePair | None:
        """The pair of an English sentence, or None unless it has exactly one derivation."""
        tokens = tokenize(sentence)
        general = ["a" if token == "an" else token for token in tokens]  # as in the rules
        articled = list(general)
        fix_articles(articled)
        fits = articled == tokens and self.shortest <= len(sentence.split()) <= self.longest
        ends = self._ends(START, 0, general, {}) if fits else {}
        count, derivation = ends.get(len(tokens), (0, None))
        return self._pair(derivation) if count == 1 else None

    def _inside_weights(self) -> dict[str, list[float]]:
        """The weight of each symbol at each length; a rule may end in the symbol it rewrites."""

        def convolve(left: list[float], right: list[float]) -> list[float]:
            whole = [0.0] * len(left)
            for n, weight in enumerate(left):
                if weight:
                    for more, other in enumerate(right[: len(left) - n], n):
                        whole[more] += weight * other
            return whole

        inside: dict[str, list[float]] = {}
        for symbol, choices in self._rules.items():
            nothing = [0.0] * self.longest
            whole, tails = [0.0, *nothing], []
            for rule in choices:
                recursive = rule.symbols[-1:] == (symbol,)
                rows = [inside[part] for part in rule.symbols[: -1 if recursive else None]]
                row = [0.0] * rule.fixed + reduce(convolve, rows, [1.0, *nothing])
                row = [rule.weight * weight for weight in row[: len(whole)]]
                if recursive:
                    tails.append(row)
                else:
                    whole = list(map(add, whole, row))
            for tail in tails:
                for n in range(1, len(whole)):
                    for before in range(1, n):
                        whole[n] += tail[before] * whole[n - before]
            inside[symbol] = whole
        return inside

    def _derive(self, symbol: str, words: int, chance: Callable[[], float]) -> Derivation:
        table = self._tables.get((symbol, words))
        if table is None:
            ways = [
                (rule, lengths, weight)
                for rule in self._rules[symbol]
                for lengths, weight in self._ways(rule.symbols, words - rule.fixed, rule.weight)
            ]
            ladder = list(accumulate(weight for *_, weight in ways))
            table = [way[:2] for way in ways], [step / ladder[-1] for step in ladder[:-1]]
            self._tables[symbol, words] = table
        rule, lengths = table[0][bisect_right(table[1], chance())]
        return rule, [
            self._derive(part, length, chance)
            for part, length in zip(rule.symbols, lengths, strict=True)
        ]

    def _ways(
        self, symbols: Sequence[str], words: int, weight: float
    ) -> Iterator[tuple[tuple[int, ...], float]]:
        """All ways to divide words among symbols: their lengths, and the product of the weights."""
        if not symbols:
            if words == 0:
                yield (), weight
            return
        inside, others = self._inside[symbols[0]], symbols[1:]
        for length in range(1 if others else max(words, 1), words - len(others) + 1):
            if inside[length]:
                for more, whole in self._ways(others, words - length, weight * inside[length]):
                    yield (length, *more), whole

    def _pair(self, derivation: Derivation) -> SentencePair:
        english: list[str] = []
        trace: list[float] = []
        french, origins = join(_build(derivation, english, trace))
        fix_articles(english)
        links = [(source, place) for place, sources in enumerate(origins) for source in sources]
        source = WORDS.text(english)
        bits = fsum(trace) + log2(self._inside[START][len(source.split())])
        return SentencePair(source, WORDS.text(french), tuple(sorted(links)), bits)

    def _ends(
        self, symbol: str, place: int, tokens: list[str], chart: dict[tuple[str, int], Ends]
    ) -> Ends:
        """Where a symbol that starts at this place may end; ``chart`` keeps earlier results."""
        if (symbol, place) in chart:
            return chart[symbol, place]
        ends: Ends = {}
        for rule in self._rules[symbol]:
            states: Ends = {place: (1, ())}
            for part in rule.parts:
                after: Ends = {}
                for start, (count, parts) in states.items():
                    if part not in rule.symbols:
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


def _build(derivation: Derivation, english: list[str], trace: list[float]) -> Any:
    """The French of a derivation; appends its English words and its rules' bits to the lists."""
    rule, derivations = derivation
    trace.append(-log2(rule.weight))
    remaining = iter(derivations)
    values = []
    for part in rule.parts:
        if part in rule.symbols:
            values.append(_build(next(remaining), english, trace))
        else:
            values.append(len(english))
            english.append(part)
    return rule.build(*values)


english_french = cache(Grammar)
"""The grammar with this lexicon, built once."""
