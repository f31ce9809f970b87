"""A process in which this package learns the task's sentences and translates the test set.

Told what to do as ``joey_worker.py`` is.
"""

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
from orders import Answer, serve
from translation_task import MODELS, read_task

from seq2seq_bottleneck.corpus.batches import (
    encode_pairs,
    evaluation_batches,
    restore,
    training_batches,
)
from seq2seq_bottleneck.decoding.search import Search, make_search
from seq2seq_bottleneck.model.parts import Stack, parts_of
from seq2seq_bottleneck.model.translator import count_parameters, create
from seq2seq_bottleneck.runs.checkpoint import read_weights, save_weights
from seq2seq_bottleneck.runs.evaluation import EVALUATION_BATCH
from seq2seq_bottleneck.runs.run import use_cache
from seq2seq_bottleneck.settings.concerns import DecodingSettings
from seq2seq_bottleneck.training.step import initial_state, make_update


class Ours:
    """One model, its training, its searches."""

    def __init__(self, folder: Path, name: str):
        settings, self.corpus = read_task(folder)
        self.settings = settings.changed(model=MODELS[name])
        self.file = folder / f"{name}.safetensors"
        vocabularies = self.corpus.source_vocabulary, self.corpus.target_vocabulary
        self.encode = partial(encode_pairs, source_vocabulary=vocabularies[0],
                              target_vocabulary=vocabularies[1])  # fmt: skip
        training = self.settings.training
        self.graph, weights = create(self.settings.model, *map(len, vocabularies), training.seed)
        self.parameters = count_parameters(weights)
        self.state = initial_state(weights, training)
        self.update = make_update(self.graph, training, Stack(1, parts_of(training.batch_size)))
        self.stream = training_batches(
            self.encode(self.corpus.train), training.batch_size, training.seed, training.shapes
        )
        self.searches: dict[int, Search] = {}
        self.done = 0

    def compile(self) -> None:
        """One update of every padded shape, whose result is forgotten."""
        for held, size in zip(self.stream.classes, self.stream.batch_sizes, strict=True):
            self.update(self.state, held.take(np.resize(np.arange(len(held.source)), size)))

    def train(self, steps: int) -> Answer:
        """Target tokens of so many updates, and the seconds they took."""
        start, tokens, losses = time.perf_counter(), 0, []
        for _ in range(steps):
            batch = self.stream.batch(self.done)
            self.state, loss = self.update(self.state, batch)
            tokens += int(batch.target_lengths.sum())
            losses.append(loss)
            self.done += 1
        loss = float(losses[-1])  # waits for all of them
        return {"tokens": tokens, "seconds": time.perf_counter() - start, "loss": loss}

    def learn(self) -> Answer:
        """The whole training; the weights are kept."""
        answer = self.train(self.settings.training.updates)
        save_weights(self.file, self.state.weights)
        return answer

    def decode(self, beam: int, batch: int, order: str) -> Answer:  # noqa: ARG002
        """The test set's translations; our batches are made by length whatever the order.

        From source text to tokens of the translation, as Joey's time is taken.
        """
        weights = read_weights(self.file.read_bytes(), self.state.weights)
        search = self._search(beam)
        start = time.perf_counter()
        batches = evaluation_batches(self.encode(self.corpus.test), batch)
        found = [search(weights, held.batch.source, held.batch.source_lengths) for held in batches]
        rows = restore([np.asarray(output.tokens) for output in found], batches)
        words = [self.corpus.target_vocabulary.decode(row.tolist()) for row in rows]
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "texts": [" ".join(each) for each in words]}

    def _search(self, beam: int) -> Search:
        """Compiled once for each beam and shape."""
        if beam not in self.searches:
            self.searches[beam] = make_search(self.graph, DecodingSettings(beam_size=beam))
        return self.searches[beam]


def main() -> None:
    """Get ready, then answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", choices=MODELS)
    given = parser.parse_args()
    use_cache()
    ours = Ours(given.folder, given.model)
    ours.compile()
    ready = {"parameters": ours.parameters, "batch": EVALUATION_BATCH}
    serve(ready, {"train": ours.train, "learn": ours.learn, "decode": ours.decode})


if __name__ == "__main__":
    main()
