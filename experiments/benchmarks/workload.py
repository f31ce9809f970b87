"""What all programs train on: the same batches, as files.

There are three kinds: random words in sentences of one length (without padding), the batches that
a preset draws from the grammar, and batches of the user's parallel text.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seq2seq_bottleneck.corpus.batches import Batch, encode_pairs, training_batches
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.settings.concerns import ModelSettings, TrainingSettings
from seq2seq_bottleneck.settings.run import RunSettings

ARMS = {
    "none": {"attention": "none", "placement": "input"},
    "additive": {"attention": "additive", "placement": "input"},
    "dot": {"attention": "dot", "placement": "input"},
    "dot-output": {"attention": "dot", "placement": "output"},
}
"""Attention and placement of each arm."""


@dataclass(frozen=True)
class Workload:
    """Batches in the order of training, and the sizes of a model for them.

    ``vocabularies`` are the source's and the target's, special tokens included.
    """

    model: ModelSettings
    training: TrainingSettings
    vocabularies: tuple[int, int]
    batches: tuple[Batch, ...]

    @property
    def target_tokens(self) -> int:
        """The number of real target tokens of all batches, end tokens included."""
        return sum(int(batch.target_lengths.sum()) for batch in self.batches)

    def arm(self, name: str) -> ModelSettings:
        """The model of one arm."""
        return self.model.model_copy(update=ARMS[name])

    def one_of_each_shape(self) -> list[int]:
        """The index of the first batch of every padded shape, for which programs are compiled."""
        first: dict[tuple, int] = {}
        for place, batch in enumerate(self.batches):
            first.setdefault((batch.source.shape, batch.target.shape), place)
        return list(first.values())

    def save(self, folder: Path) -> None:
        """Write ``workload.json`` and ``batches.npz``."""
        settings = {
            "model": self.model.model_dump(),
            "training": self.training.model_dump(),
            "vocabularies": self.vocabularies,
        }
        (folder / "workload.json").write_text(json.dumps(settings))
        arrays = {
            f"{place}.{field}": values
            for place, batch in enumerate(self.batches)
            for field, values in batch._asdict().items()
        }
        np.savez(folder / "batches.npz", **arrays)

    @classmethod
    def load(cls, folder: Path) -> "Workload":
        """Read the files that ``save`` wrote."""
        settings = json.loads((folder / "workload.json").read_text())
        with np.load(folder / "batches.npz") as arrays:  # noqa: TID251 (no objects)
            count = len(arrays.files) // len(Batch._fields)
            batches = tuple(
                Batch(*(arrays[f"{place}.{field}"] for field in Batch._fields))
                for place in range(count)
            )
        return cls(
            ModelSettings(**settings["model"]),
            TrainingSettings(**settings["training"]),
            tuple(settings["vocabularies"]),
            batches,
        )


def constant_rate(training: TrainingSettings, steps: int) -> TrainingSettings:
    """The settings without warm-up and decay, so that both programs use the same Adam."""
    return training.model_copy(
        update={"updates": max(steps, 1), "warmup_updates": 0, "final_learning_rate": 1.0}
    )


def random_words(
    model: ModelSettings, words: int, batch_size: int, length: int, steps: int
) -> Workload:
    """Sentences of ``length`` tokens per side; vocabularies of ``words``, with special tokens."""
    draw = np.random.default_rng(1)
    training = constant_rate(TrainingSettings(batch_size=batch_size), steps)
    batches = tuple(_random_batch(draw, words, batch_size, length) for _ in range(steps))
    return Workload(model, training, (words, words), batches)


def _random_batch(draw: np.random.Generator, words: int, batch_size: int, length: int) -> Batch:
    sides = [draw.integers(UNK + 1, words, (batch_size, length), dtype=np.int32) for _ in range(2)]
    for side in sides:
        side[:, -1] = EOS
    lengths = np.full(batch_size, length, np.int32)
    return Batch(sides[0], lengths, sides[1], lengths)


def stream(settings: RunSettings, steps: int) -> Workload:
    """The first batches of a run with these settings."""
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    training = settings.training
    batches = training_batches(
        encode_pairs(corpus.train, *vocabularies, settings.model.reverse_source),
        training.batch_size,
        training.seed,
        training.shapes,
        training.batch_tokens,
    )
    return Workload(
        settings.model,
        constant_rate(training, steps),
        (len(vocabularies[0]), len(vocabularies[1])),
        tuple(batches.batch(update) for update in range(steps)),
    )


def padding_share(batches: Sequence[Batch]) -> float:
    """The share of padding among source and target positions."""
    places = sum(batch.source.size + batch.target.size for batch in batches)
    real = sum(int(batch.source_lengths.sum() + batch.target_lengths.sum()) for batch in batches)
    return 1 - real / places
