"""Weights and checkpoints: what is read is what was written, for the run that asks, or nothing."""

import json

import jax
import numpy as np
import pytest
from executing import executed, smoke
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from seq2seq_bottleneck.corpus.batches import EncodedPairs, training_batches
from seq2seq_bottleneck.model.parts import Stack
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.results.folders import CHECKPOINT
from seq2seq_bottleneck.runs.checkpoint import (
    FORMAT,
    CheckpointError,
    Checkpoints,
    digest,
    join,
    read_checkpoint,
    read_weights,
    save_weights,
    to_bytes,
)
from seq2seq_bottleneck.runs.store import RunFolder
from seq2seq_bottleneck.settings.concerns import ModelSettings, TrainingSettings
from seq2seq_bottleneck.training.loop import Learner, Progress, Snapshot, Trained
from seq2seq_bottleneck.training.step import initial_state


@pytest.mark.slow
def test_weights_come_back_the_same(tmp_path):
    settings = ModelSettings(embedding_size=5, context_size=6, hidden_size=7, bidirectional=True)
    weights, other = (create(settings, 11, 13, seed=seed)[1] for seed in (1, 2))
    save_weights(tmp_path / "w.safetensors", weights)
    back = read_weights((tmp_path / "w.safetensors").read_bytes(), other)
    leaves = [jax.tree.leaves(tree) for tree in (weights, back, other)]
    assert all(np.array_equal(written, read) for written, read, _ in zip(*leaves, strict=True))
    assert not all(np.array_equal(read, fresh) for _, read, fresh in zip(*leaves, strict=True))


def learner(seed=1, average_last=0.0, optimizer="adam", **model):
    sizes = {"embedding_size": 3, "context_size": 4} | model
    _, weights = create(ModelSettings(**sizes), 7, 8, seed)
    batches = training_batches(EncodedPairs([[4, 3]] * 4, [[4, 3]] * 4), 2, seed)
    settings = TrainingSettings(seed=seed, average_last=average_last, optimizer=optimizer)
    return Learner(weights, settings, batches)


def snapshot(*learners):
    """A stack as it may stand in mid-training; one seed has diverged."""
    states = [initial_state(item.weights, item.settings) for item in learners]
    states = [
        state._replace(mean=jax.tree.map(lambda leaf: leaf / 3, state.mean)) for state in states
    ]
    bucket = {"sentences": 3, "tokens": 9, "nats": 0.1 + 0.7, "standard_error": None}
    log = [Progress(20, 90, 1.5, 10.0, 3.0, 0.1 + 0.2, {"5-10": bucket, "11+": bucket})]
    trained = [
        Trained(item.weights, best_update=seed, valid_loss=0.1 * seed, log=log, target_tokens=seed)
        for seed, item in enumerate(learners, 1)
    ]
    trained[-1].status, trained[-1].reason, trained[-1].valid_loss = "diverged", "too far", np.inf
    losses = [np.arange(len(learners)) / 3 + update for update in range(2)]
    return Snapshot(Stack(len(learners)).join(states), trained, losses)


def assert_same(first, second):
    """All arrays, their types, and what is no array."""
    arrays = [
        jax.tree.leaves((item.state, item.losses, [trained.weights for trained in item.trained]))
        for item in (first, second)
    ]
    for a, b in zip(*arrays, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    facts = [
        [vars(trained) | {"weights": None} for trained in item.trained] for item in (first, second)
    ]
    assert facts[0] == facts[1]


def write(folder, content):
    """The folder of a run, with the snapshot as its checkpoint."""
    (folder / "one").mkdir(exist_ok=True)
    (folder / "one" / CHECKPOINT).write_bytes(to_bytes(content))
    return folder / "one"


@pytest.mark.slow
@pytest.mark.parametrize(("average_last", "optimizer"), [(0.0, "adam"), (0.5, "muon")])
def test_what_is_read_is_what_was_written_and_seeds_make_up_their_stack_again(
    tmp_path, average_last, optimizer
):
    learners = [learner(seed, average_last, optimizer) for seed in (1, 2, 3)]
    whole = snapshot(*learners)
    assert (whole.state.mean is not None) == (average_last > 0)
    folders = [tmp_path / name for name in ("one", "two", "three")]
    Checkpoints(folders).keep(whole)
    fresh = learner(5, average_last, optimizer)
    parts = [read_checkpoint(folder, fresh) for folder in folders]
    for place, part in enumerate(parts):
        assert_same(part, whole.part(place))
    assert_same(join(parts), whole)
    assert_same(join(parts[:1]), parts[0])
    assert read_checkpoint(tmp_path / "none", fresh) is None


def older(content: bytes) -> bytes:
    """A checkpoint of an earlier format, whole."""
    text, arrays = json.dumps({"format": FORMAT - 1}), load(content)
    return save(arrays, metadata={"facts": text, "digest": digest(text, arrays)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: save(load(content)), "cannot be read"),  # no metadata at all
        (lambda content: content[:-1], "cannot be read"),
        (lambda _: b"", "cannot be read"),
        (older, "format"),
    ],
)
def test_a_file_that_is_no_whole_checkpoint_is_refused(tmp_path, spoil, words):
    folder = write(tmp_path, snapshot(learner()))
    (folder / CHECKPOINT).write_bytes(spoil((folder / CHECKPOINT).read_bytes()))
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(folder, learner())


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The folder of a run with a checkpoint, its bytes, and what it holds."""
    content = snapshot(learner())
    folder = write(tmp_path_factory.mktemp("kept"), content)
    return folder, (folder / CHECKPOINT).read_bytes(), content


@pytest.mark.exhaustive(sample="session")
@settings(max_examples=150, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_flipped_bit_is_noticed_wherever_it_is(kept, share, bit):
    folder, content, whole = kept
    place = int(share * len(content))
    flipped = content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
    (folder / CHECKPOINT).write_bytes(flipped)
    try:
        assert_same(read_checkpoint(folder, learner()), whole)
    except CheckpointError as error:
        assert str(error).startswith("cannot be read ("), error  # noqa: PT017


@pytest.mark.exhaustive(sample="session")
def test_a_run_with_a_useless_checkpoint_says_so_and_begins_anew(tmp_path):
    settings = smoke("training.updates=20")
    folder = RunFolder(tmp_path, executed(tmp_path, settings)[-1]["run"])
    weights = (folder.path / "weights.safetensors").read_bytes()
    folder.write_status("running")
    (folder.path / CHECKPOINT).write_bytes(save({"0": np.zeros(1)}))
    events = executed(tmp_path, settings)
    phases = " ".join(event["phase"] for event in events)
    assert "going on from update 0, without its checkpoint, which cannot be read" in phases
    assert events[-1]["phase"] == "done"
    assert (folder.path / "weights.safetensors").read_bytes() == weights
