"""A process in which Joey NMT learns the task's sentences and translates the test set.

``{"do": "train", "steps": n}`` goes on training with Joey's own loop, ``{"do": "learn"}`` trains
to the end and keeps the weights, ``{"do": "decode", "beam": k, "batch": n, "order": "test"}``
translates with Joey's own ``predict``.
"""

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("TQDM_DISABLE", "1")

import torch
from joeynmt.config import load_config, parse_global_args, set_validation_args
from joeynmt.prediction import predict, prepare
from joeynmt.training import TrainManager
from orders import Answer, serve
from translation_task import read_task


class TimedManager(TrainManager):
    """Joey's trainer, which also notes the clock and the tokens wherever it logs."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **named)
        self.marks: list[tuple[float, int]] = []

    def _log_scores(self, *arguments: Any) -> None:
        super()._log_scores(*arguments)
        self.marks.append((time.perf_counter(), self.stats.total_tokens))


class Joey:
    """One model, its training, its searches."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.args = parse_global_args(load_config(folder / "joey.yaml"), mode="train")
        self.args.model_dir.mkdir(exist_ok=True)
        model, self.train_data, self.dev_data, _ = prepare(self.args, rank=0, mode="train")
        self.parameters = sum(each.numel() for each in model.parameters())
        self.manager = TimedManager(
            rank=0,
            model=model,
            model_dir=self.args.model_dir,
            device=self.args.device,
            autocast=self.args.autocast,
            seed=self.args.seed,
            train_args=self.args.train,
            dev_args=set_validation_args(self.args.test),
        )
        self.prepared: tuple | None = None

    def train(self, steps: int, folder: str = "joey-scratch") -> Answer:
        """Target tokens and seconds between the first and the last of Joey's own log lines.

        So the first few updates, in which its data loader starts, are not counted. Joey writes a
        checkpoint whenever it stops.
        """
        manager = self.manager
        manager.marks, manager.stats.is_max_update = [], False
        manager.model_dir = self.folder / folder
        manager.model_dir.mkdir(exist_ok=True)
        manager.args = manager.args._replace(max_updates=manager.stats.steps + steps)
        manager.train_and_validate(self.train_data, self.dev_data)
        (start, before), (end, after) = manager.marks[0], manager.marks[-1]
        return {"tokens": after - before, "seconds": end - start}

    def learn(self) -> Answer:
        """The whole training, whose checkpoint is the one to translate with."""
        settings, _ = read_task(self.folder)
        return self.train(settings.training.updates, self.args.model_dir.name)

    def decode(self, beam: int, batch: int, order: str) -> Answer:
        """The translations of the test set, in its order or from the shortest to the longest."""
        model, sets = self._prepared()
        testing = self.args.test._replace(beam_size=beam, batch_size=batch)
        start = time.perf_counter()
        _, _, texts, *_ = predict(
            model, sets[order], self.args.device, n_gpu=0, args=testing, autocast=self.args.autocast
        )
        return {"seconds": time.perf_counter() - start, "texts": texts}

    def _prepared(self) -> tuple:
        """The model as kept, and the test sentences in both orders."""
        if self.prepared is None:
            args = parse_global_args(load_config(self.folder / "joey.yaml"), mode="test")
            model, _, by_length, test = prepare(args, rank=0, mode="test")
            self.prepared = model, {"test": test, "sorted": by_length}
        return self.prepared


def main() -> None:
    """Get ready, then answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("threads", type=int)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(given.threads)
    joey = Joey(given.folder)
    serve(
        {"parameters": joey.parameters, "batch": joey.args.test.batch_size},
        {"train": joey.train, "learn": joey.learn, "decode": joey.decode},
    )


if __name__ == "__main__":
    main()
