"""The built-in English-French grammar: draws, parses and lists sentence pairs."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from math import fsum, log2
from random import Random
from typing import Any

from ...settings.concerns import Lexicon
from ..pair import SentencePair
from ..tokens import tokenize
from .english import fix_articles
from .noun_rules import noun_rules
from .parse import Derivation, Parser
from .rule import Item, Word, is_symbol
from .sandhi import join, text_of
from .sentence_rules import START, sentence_rules
from .small_lexicon import small
from .tables import Table, Tables, collect
from .verb_rules import verb_rules


class Grammar:
    """A synchronous grammar whose French is a function of its English.

    Every English sentence has one derivation. ``bits`` of a pair is -log2 of its probability
    among the sentences of its length. ValueError where sentences are asked for of other lengths
    than ``shortest`` to ``longest`` words.
    """

    shortest = 2
    longest = 60

    def __init__(self, lexicon: Lexicon = "full") -> None:
        choices = [*noun_rules(), *verb_rules(), *sentence_rules()]
        rules = collect(small(choices) if lexicon == "small" else choices)
        self._tables = Tables(rules, START, self.longest)
        self._parser = Parser(self._tables.rules, START)

    def weight(self, words: int) -> float:
        """The probability that a sentence has so many words, were lengths left free."""
        self._check(words)
        return self._tables.inside[START][words]

    def draw(self, random: Random, words: int) -> SentencePair:
        """One sentence of exactly so many words."""
        self._check(words)
        english: list[str] = []
        trace: list[float] = []
        table = self._tables.table(START, words)
        items = self._expand(table, english, trace, random.random)
        return self._pair(english, items, trace, words)

    def parse(self, sentence: str) -> SentencePair | None:
        """The pair of an English sentence, or None if it is not of this language."""
        words = len(sentence.split())
        tokens = tokenize(sentence)
        _, derivation = self._derivations(tokens)
        if derivation is None or not self.shortest <= words <= self.longest:
            return None
        english: list[str] = []
        trace: list[float] = []
        items = self._build(derivation, english, trace)
        return self._pair(english, items, trace, words)

    def count_derivations(self, sentence: str) -> int:
        """In how many ways the grammar makes this sentence."""
        return self._derivations(tokenize(sentence))[0]

    def sentences(self, words: int) -> Iterator[SentencePair]:
        """Every sentence of so many words; there are many from four words on."""
        self._check(words)
        for derivation in self._enumerate(START, words):
            english: list[str] = []
            trace: list[float] = []
            items = self._build(derivation, english, trace)
            yield self._pair(english, items, trace, words)

    def vocabulary(self) -> tuple[str, ...]:
        """Every English token of the language, sorted."""
        tokens = {"an"}
        for own in self._tables.rules.values():
            for choice in own:
                if isinstance(choice, Word):
                    tokens.update(choice.tokens)
                else:
                    tokens.update(part for part in choice.parts if not is_symbol(part))
        return tuple(sorted(tokens))

    def _check(self, words: int) -> None:
        if not self.shortest <= words <= self.longest:
            raise ValueError(
                f"the grammar has sentences of {self.shortest} to {self.longest} words,"
                f" not of {words}"
            )

    def _derivations(self, tokens: list[str]) -> tuple[int, Derivation | None]:
        """How many derivations, and the first; the rules know "an" as "a"."""
        general = ["a" if token == "an" else token for token in tokens]
        articled = list(general)
        fix_articles(articled)
        return self._parser.parse(general) if articled == tokens else (0, None)

    def _expand(
        self, table: Table, english: list[str], trace: list[float], chance: Callable[[], float]
    ) -> Any:
        """Draw a rewriting of a table's symbol; its English is appended, its value returned."""
        if not table.choices:
            self._tables.fill(table)
        place = bisect_right(table.cumulative, chance())
        bits, tokens, steps, build = table.choices[place] or self._tables.lay_out(table, place)
        trace.append(bits)
        start = len(english)
        if steps is None:
            if len(tokens) == 1:
                english.append(tokens[0])
                return build, (start,)
            english += tokens
            return build, tuple(range(start, len(english)))
        values = []
        for part, token in steps:
            if part is None:
                values.append(len(english))
                english.append(token)
            else:
                values.append(self._expand(part, english, trace, chance))
        return build(*values)

    def _build(self, derivation: Derivation, english: list[str], trace: list[float]) -> Any:
        """The value of a derivation; its English is appended."""
        choice, parts = derivation
        trace.append(self._tables.bits[choice])
        start = len(english)
        if isinstance(choice, Word):
            english += choice.tokens
            return choice.value, tuple(range(start, len(english)))
        values: list[Any] = []
        remaining = iter(parts)
        for part in choice.parts:
            if is_symbol(part):
                values.append(self._build(next(remaining), english, trace))
            else:
                values.append(len(english))
                english.append(part)
        return choice.build(*values)

    def _enumerate(self, symbol: str, words: int) -> Iterator[Derivation]:
        """Every derivation of a symbol with so many words."""
        for choice in self._tables.rules[symbol]:
            for lengths, _ in self._tables.ways(choice, words):
                symbols = () if isinstance(choice, Word) else filter(is_symbol, choice.parts)
                parts = [
                    list(self._enumerate(*part)) for part in zip(symbols, lengths, strict=True)
                ]
                for combined in product(*parts):
                    yield choice, combined

    def _pair(
        self, english: list[str], items: list[Item], trace: list[float], words: int
    ) -> SentencePair:
        fix_articles(english)
        french, origins = join(items)
        links = [(source, place) for place, own in enumerate(origins) for source in own]
        links.sort()
        bits = fsum(trace) + log2(self._tables.inside[START][words])
        return SentencePair(text_of(english), text_of(french), tuple(links), bits)


def english_french(lexicon: Lexicon = "full") -> Grammar:
    """The grammar with this lexicon, built once."""
    return _built(lexicon)


_built = cache(Grammar)
