"""The data of the page's explorer: example sentences, the words that each arm kept, its weights.

Where the rules of the corpus give a sentence's links, its source words are judged as the question
``survival`` judges them. Of other text the words of the reference are looked for in the output.
"""

import re
from collections.abc import Sequence
from typing import Any

from ..corpus.grammar import english_french
from ..corpus.pair import SentencePair, reverse_pair
from ..corpus.subwords import Subwords
from ..corpus.vocabulary import EOS, SPECIAL, plain, tokenize
from ..questions.word_survival import LinkedReference, word_reports
from ..results.bundle import Bundle, Example
from ..settings.concerns import CorpusSettings
from ..tables.comparison import NONE


def explorer_data(bundle: Bundle) -> dict[str, Any] | None:
    """The examples that all arms of a bundle have, from each arm's first run; None without any."""
    examples, runs = bundle.examples(), {}
    rows = bundle.runs.drop_duplicates("run").sort_values("seed", kind="stable")
    for row in rows.to_dict("records"):
        outputs = (item for item in examples.get(row["run"], ()) if item["hypothesis"])
        if by_index := {item["sentence"]: item for item in outputs}:
            runs.setdefault(row["attention"], (row, by_index))
    arms = [runs[name] for name in sorted(runs, key=lambda name: (name != NONE, name))]
    common = sorted(set.intersection(*(set(by_index) for _, by_index in arms))) if arms else []
    if not common:
        return None
    corpus = bundle.settings(arms[0][0]["run"]).corpus
    facts = "context {context_size}, {updates:,} updates, seed {seed}"
    return {
        "arms": [{"name": row["attention"], "run": facts.format(**row)} for row, _ in arms],
        "sentences": [
            _sentence([by_index[index] for _, by_index in arms], corpus) for index in common
        ],
    }


def _sentence(examples: Sequence[Example], corpus: CorpusSettings) -> dict[str, Any]:
    """A sentence through every arm. Weights are in thousandths, a row for each output token."""
    source, reference = _words(examples[0]["source"], corpus), examples[0]["reference"]
    target = tuple(map(plain, tokenize(reference)))
    pair = find_pair(source, reference, corpus)
    words = source if pair else list(target)
    links = pair.links if pair else tuple((index, index) for index in range(len(target)))
    outputs = [_words(example["hypothesis"], corpus) for example in examples]
    classes, linked = [""] * len(words), LinkedReference(len(words), target, links)
    reports = [
        [report for report in word_reports(words, classes, linked, output)
         if any(map(str.isalnum, report.word))]
        for output in outputs
    ]  # fmt: skip
    return {
        "text": readable(source),
        "source": examples[0]["source"],
        "reference": reference,
        "linked": pair is not None,
        "words": [[report.word, " ".join(report.targets)] for report in reports[0]],
        "arms": [
            {
                "text": readable(output),
                "output": example["hypothesis"],
                "fates": [[report.fate, " ".join(report.found)] for report in arm],
                "weights": [[round(1000 * weight) for weight in row] for row in example["weights"]],
            }
            for example, output, arm in zip(examples, outputs, reports, strict=True)
        ],
    }


def find_pair(source: Sequence[str], reference: str, corpus: CorpusSettings) -> SentencePair | None:
    """The grammar's own pair of these texts, which has links; None if it does not make them."""
    if corpus.name != "grammar":
        return None
    english = reference if corpus.reverse_direction else readable(source)
    pair = english_french(corpus.lexicon).parse(english)
    if pair and corpus.reverse_direction:
        pair = reverse_pair(pair)
    same = pair and [*map(plain, tokenize(pair.source))] == [*source] and pair.target == reference
    return pair if same else None


def _words(tokens: Sequence[str], corpus: CorpusSettings) -> list[str]:
    """Word tokens without joiners, from the tokens of an example."""
    words = [token for token in tokens if token != SPECIAL[EOS]]
    if corpus.tokens == "words":
        return words
    return list(map(plain, tokenize(Subwords(b"").text(words))))


def readable(words: Sequence[str]) -> str:
    """Words as text: no space before a comma, full stop or possessive, none after an elision."""
    return re.sub(r" (?=[,.]|['’]s\b)|(?<=['’]) ", "", " ".join(words))
