"""The sentences that Joey NMT and this package both learn and translate, as files.

The folder holds ``settings.json`` (our settings), ``joey.yaml`` (Joey's), and the grammar's
sentences as tokens with spaces between them: ``train``, ``test``, and ``sorted`` (the test
sentences by their lengths), each ``.en`` and ``.fr``.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from seq2seq_bottleneck.corpus.corpus import Corpus, load_corpus
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.settings.concerns import (
    CorpusSettings,
    ModelSettings,
    TrainingSettings,
)
from seq2seq_bottleneck.settings.run import RunSettings, parse_settings

TEMPLATE = Path(__file__).with_name("joey.yaml")
NEVER = 10**9

MODELS = {"one-way": {"bidirectional": False}, "two-way": {"bidirectional": True}}
"""Our encoders: 256 in one direction, or in each of two (mapped to a context of 256)."""


def make_settings(
    train_pairs: int, test_pairs: int, updates: int, width: int, embedding: int
) -> RunSettings:
    """Grammar sentences of 5 to 50 words; additive attention at the decoder's input."""
    return RunSettings(
        corpus=CorpusSettings(
            train_pairs=train_pairs, test_pairs=test_pairs, min_words=5, max_words=50
        ),
        model=ModelSettings(attention="additive", context_size=width, embedding_size=embedding),
        training=TrainingSettings(updates=updates, warmup_updates=min(200, updates)),
    )


def write_task(folder: Path, settings: RunSettings, logging: int) -> None:
    """All that the processes read; ``logging`` is how often Joey looks at its clock."""
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    (folder / "settings.json").write_text(settings.model_dump_json())
    (folder / "joey.yaml").write_text(joey_settings(folder, settings, logging), "utf8")
    write_pairs(folder / "train", corpus.train)
    write_pairs(folder / "test", corpus.test)
    write_pairs(folder / "sorted", sorted(corpus.test, key=lambda pair: len(tokenize(pair.source))))


def joey_settings(folder: Path, settings: RunSettings, logging: int) -> str:
    """The template filled in: sizes and training as ours."""
    model, training = settings.model, settings.training
    return TEMPLATE.read_text("utf8").format(
        folder=folder,
        embedding=model.embedding_size,
        encoder=model.hidden // 2,
        decoder=model.hidden,
        learning_rate=training.learning_rate,
        warmup=training.warmup_updates,
        clip_norm=training.clip_norm,
        batch_size=training.batch_size,
        logging=logging,
        never=logging * NEVER,
    )


def write_pairs(path: Path, pairs: Sequence[SentencePair]) -> None:
    """One sentence per line."""
    for suffix, side in ((".en", "source"), (".fr", "target")):
        lines = [" ".join(tokenize(getattr(pair, side))) + "\n" for pair in pairs]
        path.with_suffix(suffix).write_text("".join(lines), "utf8")


def read_task(folder: Path) -> tuple[RunSettings, Corpus]:
    """Our settings and the corpus they describe, made anew."""
    settings = parse_settings(json.loads((folder / "settings.json").read_text()))
    return settings, load_corpus(settings.corpus, settings.scoring.lower_edges)


def lines_of(path: Path) -> list[str]:
    """A file's lines."""
    return path.read_text("utf8").splitlines()
