"""The built-in English-French grammar: draws and parses sentence pairs.

``inside[symbol][n]`` is the probability that a symbol is rewritten as n words. Numbers are added
one by one, so that all versions of Python draw the same.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from math import fsum, log2
from operator import add
from random import Random
from typing import Any

from ..pair import SentencePair
from ..vocabulary import JOINER, WORDS, tokenize
from .french import join
from .lexicon import Rule
from .rules import rules


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
        self._inside: dict[str, list[float]] = {}
        self._tables: dict[tuple[str, int], tuple[list, list[float]]] = {}
        self._keep("Sentence", by_symbol)

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a pair with this many source words, ``shortest`` to ``longest``."""
        return self._pair(self._derive("Sentence", words, random.random))

    def parse(self, sentence: str) -> SentencePair | None:
        """The pair of an English sentence, or None unless it has exactly one derivation."""
        tokens = tokenize(sentence)
        if not self.shortest <= len(sentence.split()) <= self.longest:
            return None
        general = ["a" if token == "an" else token for token in tokens]  # as in the rules
        count, derivation = self._ends("Sentence", 0, general, {}).get(len(tokens), (0, None))
        pair = self._pair(derivation) if count == 1 else None
        return pair if pair and tokenize(pair.source) == tokens else None

    def _keep(self, symbol: str, by_symbol: dict[str, list[Rule]]) -> None:
        """Keep the rules of a symbol after those of its parts; their weights become shares.

        Also weighs the symbol at each length; a rule may end in the symbol that it rewrites.
        """
        *_, total = accumulate(rule.weight for rule in by_symbol[symbol])
        whole, tails = [0.0] * (self.longest + 1), []
        for rule in by_symbol[symbol]:
            rule.weight /= total
            rule.symbols = tuple(part for part in rule.parts if part[0].isupper())
            tokens = sum(not part.startswith(JOINER) for part in rule.parts)
            rule.fixed = tokens - len(rule.symbols)
            recursive = rule.symbols[-1:] == (symbol,)
            row = [1.0, *[0.0] * self.longest]
            for part in rule.symbols[: -1 if recursive else None]:
                if part not in self._inside:
                    self._keep(part, by_symbol)
                product = [0.0] * len(row)
                for n, weight in enumerate(row):
                    if weight:
                        for more, other in enumerate(self._inside[part][: len(row) - n], n):
                            product[more] += weight * other
                row = product
            shifted = [0.0] * rule.fixed + row
            row = [rule.weight * weight for weight in shifted[: len(whole)]]
            if recursive:
                tails.append(row)
            else:
                whole = list(map(add, whole, row))
        for tail in tails:
            for n in range(1, len(whole)):
                for before in range(1, n):
                    whole[n] += tail[before] * whole[n - before]
        self._rules[symbol], self._inside[symbol] = by_symbol[symbol], whole

    def _derive(self, symbol: str, words: int, chance: Callable[[], float]) -> tuple[Rule, list]:
        """A rule, drawn with its probability, and the derivations of its symbols."""
        table = self._tables.get((symbol, words))
        if table is None:
            ways = []
            for rule in self._rules[symbol]:
                # All ways to divide words among symbols: lengths, words left, product of weights.
                divided = [((), words - rule.fixed, rule.weight)]
                for place, part in enumerate(rule.symbols, start=1):
                    others, inside = len(rule.symbols) - place, self._inside[part]
                    divided = [
                        ((*lengths, length), left - length, weight * inside[length])
                        for lengths, left, weight in divided
                        for length in range(1 if others else max(left, 1), left - others + 1)
                        if inside[length]
                    ]
                ways += [(rule, lengths, weight) for lengths, left, weight in divided if left == 0]
            ladder = list(accumulate(weight for *_, weight in ways))
            table = [way[:2] for way in ways], [step / ladder[-1] for step in ladder[:-1]]
            self._tables[symbol, words] = table
        rule, lengths = table[0][bisect_right(table[1], chance())]
        return rule, [
            self._derive(part, length, chance)
            for part, length in zip(rule.symbols, lengths, strict=True)
        ]

    def _pair(self, derivation: tuple[Rule, Sequence]) -> SentencePair:
        english: list[str] = []
        trace: list[float] = []
        french, origins = join(_build(derivation, english, trace))
        for place, following in enumerate(english[1:]):
            vowel = following.startswith(("a", "e", "i", "o", "u", "honest", "hour"))
            if english[place] == "a" and vowel and not following.startswith(("univers", "useful")):
                english[place] = "an"
        links = [(source, place) for place, sources in enumerate(origins) for source in sources]
        source = WORDS.text(english)
        bits = fsum(trace) + log2(self._inside["Sentence"][len(source.split())])
        return SentencePair(source, WORDS.text(french), tuple(sorted(links)), bits)

    def _ends(
        self, symbol: str, place: int, tokens: list[str], chart: dict[tuple[str, int], dict]
    ) -> dict[int, tuple[int, Any]]:
        """Where a symbol that starts at this place may end; ``chart`` keeps earlier results.

        Each end has the number of derivations, and the first of them.
        """
        if (symbol, place) in chart:
            return chart[symbol, place]
        ends: dict[int, tuple[int, Any]] = {}
        for rule in self._rules[symbol]:
            states = {place: (1, ())}
            for part in rule.parts:
                after = {}
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


def _build(derivation: tuple[Rule, Sequence], english: list[str], trace: list[float]) -> Any:
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
