"""Derivations of a given sentence: from the left, each symbol at each place once."""

from typing import Any

from .rule import Choice, Rule, Word, is_symbol
from .tables import Rules

# a choice and the derivations of its symbols
Derivation = tuple[Choice, tuple[Any, ...]]
Ends = dict[int, tuple[int, Any]]  # where it may end -> how many derivations, and the first


class Parser:
    """Finds and counts the derivations of sentences, given as tokens."""

    def __init__(self, rules: Rules, start: str) -> None:
        self._rules = rules
        self._start = start
        self._firsts: dict[str, frozenset[str]] = {}
        self._starting: dict[tuple[str, str], tuple[Choice, ...]] = {}

    def parse(self, tokens: list[str]) -> tuple[int, Derivation | None]:
        """The number of derivations and, if there are any, the first."""
        return _Chart(self, tokens).ends(self._start, 0).get(len(tokens), (0, None))

    def starting(self, symbol: str, token: str) -> tuple[Choice, ...]:
        """The choices of a symbol that can begin with this token."""
        key = (symbol, token)
        if key not in self._starting:
            self._starting[key] = tuple(
                choice for choice in self._rules[symbol] if token in self._choice_firsts(choice)
            )
        return self._starting[key]

    def _choice_firsts(self, choice: Choice) -> frozenset[str]:
        first = choice.tokens[0] if isinstance(choice, Word) else choice.parts[0]
        return self._symbol_firsts(first) if is_symbol(first) else frozenset([first])

    def _symbol_firsts(self, symbol: str) -> frozenset[str]:
        if symbol not in self._firsts:
            found = map(self._choice_firsts, self._rules[symbol])
            self._firsts[symbol] = frozenset().union(*found)
        return self._firsts[symbol]


class _Chart:
    """What has been found in one sentence."""

    def __init__(self, parser: Parser, tokens: list[str]) -> None:
        self._parser = parser
        self._tokens = tokens
        self._found: dict[tuple[str, int], Ends] = {}

    def ends(self, symbol: str, place: int) -> Ends:
        """Where a symbol that starts at this place may end."""
        key = (symbol, place)
        if key not in self._found:
            self._found[key] = self._ends(symbol, place)
        return self._found[key]

    def _ends(self, symbol: str, place: int) -> Ends:
        found: Ends = {}
        if place >= len(self._tokens):
            return found
        for choice in self._parser.starting(symbol, self._tokens[place]):
            word = isinstance(choice, Word)
            ends = self._word(place, choice) if word else self._rule(place, choice)
            for end, (count, parts) in ends.items():
                known, first = found.get(end, (0, None))
                found[end] = known + count, first or (choice, parts)
        return found

    def _word(self, place: int, word: Word) -> Ends:
        end = place + len(word.tokens)
        return {end: (1, ())} if tuple(self._tokens[place:end]) == word.tokens else {}

    def _rule(self, place: int, rule: Rule) -> Ends:
        states: Ends = {place: (1, ())}
        for part in rule.parts:
            states = self._symbol(states, part) if is_symbol(part) else self._token(states, part)
        return states

    def _token(self, states: Ends, token: str) -> Ends:
        tokens = self._tokens
        return {
            place + 1: state
            for place, state in states.items()
            if place < len(tokens) and tokens[place] == token
        }

    def _symbol(self, states: Ends, symbol: str) -> Ends:
        after: Ends = {}
        for place, (count, parts) in states.items():
            for end, (more, derivation) in self.ends(symbol, place).items():
                known, first = after.get(end, (0, None))
                after[end] = known + count * more, first or (*parts, derivation)
        return after
