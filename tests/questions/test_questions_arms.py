"""Which runs form an arm, its name, and the order of arms."""

from pathlib import Path

import numpy as np

from seq2seq_bottleneck.questions.arms import arms_of
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.settings.run import resolve


def _run(*assignments):
    return Probed(Path("run"), resolve("lecture", assignments), {"n": np.zeros(1)})


def test_seeds_are_one_arm_in_their_order():
    (arm,) = arms_of([_run(f"training.seed={seed}") for seed in (3, 1, 2)])
    assert arm.name == "additive"
    assert [run.settings.training.seed for run in arm.runs] == [1, 2, 3]


def test_an_arm_is_called_by_every_setting_in_which_the_arms_differ():
    none = "model.attention=none"
    runs = [_run(), _run(none, "training.updates=4000"), _run(none)]
    assert [arm.name for arm in arms_of(runs)] == [
        "none updates=2000",
        "none updates=4000",
        "additive updates=2000",
    ]
