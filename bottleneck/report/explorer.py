"""The explorer's data: example sentences, which of their words each arm kept, and its weights.

Words are judged as by the study ``survival`` and by `bottleneck diagnose` if the corpus' own rules
give the links (`word_reports`). Of other text a bundle has no links, and the words of the reference
are looked for in the output instead (`found_shares`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..corpus.grammar import english_french, word_class
from ..corpus.pair import SentencePair
from ..corpus.subwords import Subwords
from ..corpus.tokens import detokenize, is_word, plain, tokenize
from ..corpus.turned import reverse_pair
from ..corpus.vocabulary import EOS, SPECIAL
from ..questions.word_survival import (
    LOST,
    LinkedReference,
    WordReport,
    found_shares,
    word_reports,
)
from ..results.bundle import Bundle, Example
from ..settings.buckets import bucket_of
from ..settings.concerns import CorpusSettings
from ..tables.comparison import NONE

THOUSAND = 1000
BESIDE = 28
"""Source tokens up to which the maps of two arms stand beside each other on a screen."""
MOST_WEIGHTS = 120_000
"""Of all sentences and arms together: half a megabyte of page at most."""


@dataclass(frozen=True)
class Explored:
    """What the page's script reads, and how many examples had no room."""

    data: dict[str, Any]
    left_out: int

    @property
    def sentences(self) -> int:
        """How many can be chosen."""
        return len(self.data["sentences"])


def explored(bundle: Bundle) -> Explored | None:
    """The examples that all arms of a bundle have, of each arm its first run with any.

    None where there are none.
    """
    runs = _runs(bundle)
    if not runs:
        return None
    common = set.intersection(*(set(held) for _, held in runs))
    places = sorted(common)
    chosen = list(_fitting(places, runs))
    corpus = bundle.settings(runs[0][0]["run"]).corpus
    sentences = [_sentence([held[place] for _, held in runs], corpus) for place in chosen]
    arms = [_arm(row) for row, _ in runs]
    if not sentences:
        return None
    edges = bundle.settings(runs[0][0]["run"]).scoring.lower_edges
    first = _telling(sentences, edges)
    data = {"arms": arms, "sentences": sentences, "first": first, "beside": BESIDE}
    return Explored(data, len(places) - len(chosen))


def _runs(bundle: Bundle) -> list[tuple[dict[str, Any], dict[int, Example]]]:
    """A run an arm, none first, with its examples by place in the test set."""
    examples = bundle.examples()
    rows = bundle.runs.drop_duplicates("run").sort_values(["seed"], kind="stable")
    found = {}
    for row in rows.to_dict("records"):
        held = {one["sentence"]: one for one in examples.get(row["run"], ()) if one["hypothesis"]}
        if held:
            found.setdefault(row["attention"], (row, held))
    return [found[arm] for arm in sorted(found, key=lambda arm: (arm != NONE, arm))]


def _fitting(
    places: Sequence[int], runs: Sequence[tuple[dict[str, Any], dict[int, Example]]]
) -> Iterator[int]:
    """The sentences whose weights have room, in their order: a long one more is left out."""
    room = MOST_WEIGHTS
    for place in places:
        room -= sum(len(row) for _, held in runs for row in held[place]["weights"])
        if room < 0:
            return
        yield place


def _telling(sentences: Sequence[Mapping[str, Any]], edges: tuple[int, ...]) -> int:
    """The place of the sentence to open on: of the longest bucket, with the median of lost words.

    Of those whose maps stand beside each other, so that both arms are seen at once; of all where
    there are none. Lost by the first arm, which is none where there is one; the later of two middle
    ones, the earlier of equals.
    """
    seen = [place for place, one in enumerate(sentences) if len(one["source"]) <= BESIDE]
    buckets = {
        place: bucket_of(sentences[place]["length"], edges)
        for place in seen or range(len(sentences))
    }
    long = [place for place, bucket in buckets.items() if bucket == max(buckets.values())]
    ranked = sorted(long, key=lambda place: _lost(sentences[place]))
    return ranked[len(ranked) // 2]


def _lost(sentence: Mapping[str, Any]) -> int:
    """How many of a sentence's words the first arm lost."""
    return sum(fate == LOST for fate, _ in sentence["arms"][0]["fates"])


def _arm(row: Mapping[str, Any]) -> dict[str, Any]:
    """An arm's name, and which run it is."""
    told = f"context {row['context_size']}, {row['updates']:,} updates, seed {row['seed']}"
    return {"name": row["attention"], "told": told}


def _sentence(examples: Sequence[Example], corpus: CorpusSettings) -> dict[str, Any]:
    """One sentence through every arm; its words are those that are judged."""
    first = examples[0]
    source, reference = _words(first["source"], corpus), first["reference"]
    pair = pair_of(source, reference, corpus)
    outputs = [_words(one["hypothesis"], corpus) for one in examples]
    judged = [_judged(source, reference, pair, output, corpus) for output in outputs]
    text = readable(source) if pair is None else pair.source
    return {
        "text": text,
        "length": len(text.split()),
        "source": first["source"],
        "reference": reference,
        "linked": pair is not None,
        "words": [[one.word, one.word_class, " ".join(one.targets)] for one in judged[0]],
        "arms": list(map(_of_arm, examples, outputs, judged)),
    }


def _of_arm(
    example: Example, output: Sequence[str], judged: Sequence[WordReport]
) -> dict[str, Any]:
    """An arm's output, the fate of every judged word, and the weights in thousandths."""
    return {
        "text": readable(output),
        "output": example["hypothesis"],
        "fates": [[report.fate, " ".join(report.found)] for report in judged],
        "weights": [[round(THOUSAND * weight) for weight in row] for row in example["weights"]],
    }


def _judged(
    source: Sequence[str],
    reference: str,
    pair: SentencePair | None,
    output: Sequence[str],
    corpus: CorpusSettings,
) -> list[WordReport]:
    """The fate of every source word; where no links are known, of the reference's words."""
    target = tuple(map(plain, tokenize(reference)))
    if pair is None:
        return _words_alone(_found(target, output))
    linked = LinkedReference(len(source), target, pair.links)
    classes = [_class(word, corpus) for word in source]
    return _words_alone(word_reports(source, classes, linked, output))


def _words_alone(reports: Sequence[WordReport]) -> list[WordReport]:
    """Without punctuation."""
    return [report for report in reports if is_word(report.word)]


def _found(target: Sequence[str], output: Sequence[str]) -> list[WordReport]:
    """The reference's words themselves: how many of its copies of each the output has."""
    shares = found_shares(target, output).tolist()
    return [
        WordReport(word, "", share, (word,), (word,) if share else ())
        for word, share in zip(target, shares, strict=True)
    ]


def pair_of(source: list[str], reference: str, corpus: CorpusSettings) -> SentencePair | None:
    """The pair with its links as the corpus' rules make it; None where they do not make this one.

    The grammar's tokens are glued as its sentences are.
    """
    if corpus.name == "copy" and source == list(map(plain, tokenize(reference))):
        links = tuple((place, place) for place in range(len(source)))
        return SentencePair(" ".join(source), reference, links)
    if corpus.name != "grammar":
        return None
    grammar = english_french(corpus.lexicon)
    if corpus.reverse_direction:
        pair = grammar.parse(reference)
        return reverse_pair(pair) if pair and _same(pair.target, source) else None
    glued = {plain(token): token for token in grammar.vocabulary()}
    pair = grammar.parse(detokenize([glued.get(word, word) for word in source]))
    return pair if pair and pair.target == reference else None


def _same(text: str, words: Sequence[str]) -> bool:
    return list(map(plain, tokenize(text))) == list(words)


def _class(word: str, corpus: CorpusSettings) -> str:
    """The grammar's class of an English word; empty where it has none."""
    if corpus.name != "grammar" or corpus.reverse_direction:
        return ""
    try:
        return word_class(word)
    except KeyError:
        return ""


def _words(tokens: Sequence[str], corpus: CorpusSettings) -> list[str]:
    """Word tokens without joiners, from tokens as examples show them."""
    own = [token for token in tokens if token != SPECIAL[EOS]]
    if corpus.tokens == "words":
        return own
    return list(map(plain, tokenize(Subwords(b"").text(own))))


def readable(words: Sequence[str]) -> str:
    """Words as text: no space before a comma, full stop or possessive, none behind an elision."""
    return re.sub(r" (?=[,.]|['’]s\b)|(?<=['’]) ", "", " ".join(words))
