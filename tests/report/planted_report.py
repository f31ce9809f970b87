"""Made-up bundles for the page: two arms, examples, one study; and one full of markup."""

import gzip
import json
import shutil
from itertools import product
from pathlib import Path

from listed import relist, write_relisted
from planted import planted_settings, sentences, translations, write_planted, write_run
from planted_probes import plant

from seq2seq_bottleneck.corpus.vocabulary import tokenize, without_joiner
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import STORE

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
BUCKETS = ("5-10", "11-20", "21-30", "31-40", "41+")
LENGTH_RATIO = {"none": 0.9375, "additive": 1.0625}

SCRIPT = "<script>document.title='owned'</script>"
CLOSING = "</script><img/src=x:y onerror=document.title='owned'>"
QUOTES = "\"'><b>&amp;"
CONTROLS = "a\x00b\x1b[2J\x9f"
SEPARATORS = "a\u2028b\u2029c"

SOURCE = ["the", "cat", "sat", "</s>"]
PAIR = ("the cat sat", "le chat s'est assis")
"""A sentence of the grammar, and its translation."""


def write_results(folder: Path, seeds: int = 1) -> Path:
    """A bundle with two arms, an example of the grammar and the study ``length``."""
    write_planted(folder, ARMS, seeds=seeds)
    _write_examples(folder, [_example(0, SOURCE, PAIR[1], ["le￭", "chat", "est", "assis"])])
    write_length(folder)
    return folder


def write_hostile(folder: Path) -> Path:
    """The same for a user's text; its words, file names and settings are markup."""
    references = sentences()
    corpus = {"name": "files", "source": f"{SCRIPT}.en", "target": f"{QUOTES}.fr"}
    for arm, shares in ARMS.items():
        settings = planted_settings(arm, corpus=corpus)
        texts = translations(references, shares, [1, len(arm)])
        notes = [SCRIPT, CLOSING, CONTROLS]
        write_run(folder, f"{arm}1", settings, texts, references, notes=notes)
    words = [SCRIPT, CLOSING, QUOTES, SEPARATORS, "</s>"]
    reference = " ".join([SCRIPT, CLOSING, QUOTES])
    _write_examples(
        folder, [_example(0, words, reference, [*tokenize(f"{CLOSING} {QUOTES}"), "</s>"])]
    )
    write_bundle(Results.open(folder), folder)
    return folder


def without_store(folder: Path) -> Path:
    """The bundle without its store, as other people get it."""
    shutil.rmtree(folder / STORE)
    return folder


def write_length(folder: Path) -> None:
    """The study ``length``, with values that no other table has."""
    rows, names = [], ("length_ratio", "empty", "unfinished", "repeating", "repeating_references")
    for (arm, ratio), bucket, measure in product(LENGTH_RATIO.items(), BUCKETS, names):
        value = ratio if measure == "length_ratio" else 0.0
        row = {"arm": arm, "attention": arm, "placement": "input", "context_size": 256,
               "corpus": "grammar", "updates": 10, "bucket": bucket, "measure": measure, "n": 120,
               "value": value, "low": value - 0.01, "high": value + 0.01}  # fmt: skip
        rows += [row, row | {"run": f"{arm}1x1", "seed": 1, "low": "", "high": ""}]
    plant(folder, "length", rows)


def _write_examples(folder: Path, examples: list[dict]) -> None:
    """Write the same examples for every run, in the store and in the bundle."""
    runs = sorted((folder / STORE).iterdir())
    for run in runs:
        write_relisted(run / "examples.json", json.dumps(examples))
    by_run = {run.name: examples for run in runs}
    (folder / "examples.json.gz").write_bytes(gzip.compress(json.dumps(by_run).encode(), mtime=0))
    relist(folder / "examples.json.gz")


def _example(place: int, source: list[str], reference: str, hypothesis: list[str]) -> dict:
    """Each output word looks at one source word, the last at two."""
    output = [without_joiner(word) for word in hypothesis]
    weights = [[float(row % len(source) == column) for column in range(len(source))]
               for row in range(len(output))]  # fmt: skip
    weights[-1] = [0.25] * 2 + [0.5] * (len(source) > 2) + [0.0] * (len(source) - 3)
    return {
        "sentence": place, "source": source, "reference": reference, "hypothesis": output,
        "weights": weights
    }  # fmt: skip
