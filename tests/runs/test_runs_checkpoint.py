"""Checkpoints: what is read is what was written, for the run that asks, or nothing at all."""

import json
from contextlib import suppress

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from seq2seq_bottleneck.corpus.batches import EncodedPairs, training_batches
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.checkpoint import StopRequest, join, read_checkpoint, to_bytes
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.runs.stacked import (
    BROKEN,
    CHECKPOINT,
    FORMAT,
    MARK,
    CheckpointError,
    begin_stack,
    member_digest,
    part_of,
    take_part,
)
from seq2seq_bottleneck.runs.store import RunFolder
from seq2seq_bottleneck.settings.concerns import ModelSettings, TrainingSettings
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.training.loop import Learner, Progress, Snapshot, Trained
from seq2seq_bottleneck.training.stack import Stack
from seq2seq_bottleneck.training.step import initial_state

NAMES = ["one", "two", "three"]


def learner(seed=1, average_last=0.0, optimizer="adam", **model):
    sizes = {"embedding_size": 3, "context_size": 4} | model
    _, weights = create(ModelSettings(**sizes), 7, 8, seed)
    batches = training_batches(EncodedPairs([[4, 3]] * 4, [[4, 3]] * 4), 2, seed)
    settings = TrainingSettings(seed=seed, average_last=average_last, optimizer=optimizer)
    return Learner(weights, settings, batches)


def snapshot(*learners):
    """A stack as it may stand in mid-training; one seed has diverged."""
    stack = Stack(len(learners))
    states = [initial_state(each.weights, each.settings) for each in learners]
    states = [
        state._replace(mean=jax.tree.map(lambda leaf: leaf / 3, state.mean)) for state in states
    ]
    found = {"sentences": 3, "tokens": 9, "nats": 0.1 + 0.7, "standard_error": None}
    log = [Progress(20, 90, 1.5, 10.0, 3.0, 0.1 + 0.2, {"5-10": found, "11+": found})]
    trained = [
        Trained(each.weights, best_update=seed, valid_loss=0.1 * seed, log=log, target_tokens=seed)
        for seed, each in enumerate(learners, 1)
    ]
    trained[-1].status, trained[-1].reason, trained[-1].valid_loss = "diverged", "too far", np.inf
    losses = [np.arange(len(learners)) / 3 + update for update in range(2)]
    return Snapshot(stack.join(states), trained, losses)


def same(one, other):
    pairs = zip(jax.tree.leaves(one.state), jax.tree.leaves(other.state), strict=True)
    assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)
    for mine, theirs in zip(one.trained, other.trained, strict=True):
        weights = zip(jax.tree.leaves(mine.weights), jax.tree.leaves(theirs.weights), strict=True)
        assert all(np.array_equal(a, b) for a, b in weights)
        assert (mine.log, mine.valid_loss, mine.reason) == (
            theirs.log,
            theirs.valid_loss,
            theirs.reason,
        )
    assert [each.tolist() for each in one.losses] == [each.tolist() for each in other.losses]


OPTIMIZED = pytest.mark.parametrize(
    ("average_last", "optimizer"), [(0.0, "adam"), (0.5, "adam"), (0.5, "muon")]
)


@pytest.mark.slow
@OPTIMIZED
def test_what_is_read_is_what_was_written(tmp_path, average_last, optimizer):
    held = snapshot(learner(1, average_last, optimizer))
    assert (held.state.mean is not None) == (average_last > 0)
    (tmp_path / CHECKPOINT).write_bytes(to_bytes(held, ["one"]))
    same(read_checkpoint(tmp_path / CHECKPOINT, "one", learner(5, average_last, optimizer)), held)
    assert read_checkpoint(tmp_path / "none", "one", learner()) is None


@pytest.mark.slow
@OPTIMIZED
def test_the_parts_of_a_stack_are_its_seeds_own_and_make_it_up_again(
    tmp_path, average_last, optimizer
):
    learners = [learner(seed, average_last, optimizer) for seed in (1, 2, 3)]
    held = snapshot(*learners)
    folders = [tmp_path / name for name in NAMES]
    begin_stack(folders).write_bytes(to_bytes(held, NAMES))
    parts = []
    for place, folder in enumerate(folders):
        assert take_part(folder) == ""
        assert (folder / CHECKPOINT).read_bytes() == to_bytes(held.part(place), [NAMES[place]])
        parts.append(read_checkpoint(folder / CHECKPOINT, NAMES[place], learners[0]))
    same(join(parts), held)
    same(join(parts[:1]), parts[0])
    assert list(tmp_path.glob(".*")) == []


def changed(content: bytes, tensors=(), facts=None) -> bytes:
    """A checkpoint with some arrays and facts replaced."""
    size = int.from_bytes(content[:8], "little")
    held = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["facts"])
    held |= facts or {}
    arrays = load(content) | dict(tensors)
    own = {"members": held["members"], "losses": [each[:1] for each in held["losses"]]}
    own |= {"trained": held["trained"][:1]}
    held["digests"] = [member_digest(arrays, own)]  # as if it had been written so
    return save(arrays, metadata={"facts": json.dumps(held)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: save(load(content)), "cannot be read"),  # no metadata at all
        (lambda content: save(load(content), metadata={"facts": "[]"}), "cannot be read"),
        (lambda content: content[:-1], "cannot be read"),
        (lambda _: b"", "cannot be read"),
        (lambda content: changed(content, facts={"format": FORMAT - 1}), "format"),
        (lambda content: changed(content, facts={"members": ["two"]}), "of run two"),
        (lambda content: changed(content, facts={"trained": []}), "cannot be read"),
        (lambda content: changed(content, facts={"trained": [{}]}), "cannot be read"),
        (lambda content: changed(content, facts={"losses": [[1.0, 2.0]]}), "losses"),
        (lambda content: changed(content, {"state.0": np.zeros(3, np.float32)}), "arrays"),
        (lambda content: changed(content, {"state.99": np.zeros(3, np.float32)}), "arrays"),
        (
            lambda content: changed(content, {"state.0": load(content)["state.0"].astype("f8")}),
            "arrays",
        ),
    ],
)
def test_a_file_that_is_no_whole_checkpoint_of_this_run_is_refused(tmp_path, spoil, words):
    path = tmp_path / CHECKPOINT
    path.write_bytes(spoil(to_bytes(snapshot(learner()), ["one"])))
    with pytest.raises(CheckpointError, match=words):
        read_checkpoint(path, "one", learner())


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A checkpoint of one run and one of a stack of two, and what they hold."""
    folder = tmp_path_factory.mktemp("kept")
    alone, both = snapshot(learner()), snapshot(learner(1), learner(2))
    (folder / "alone").write_bytes(to_bytes(alone, ["one"]))
    (folder / "both").write_bytes(to_bytes(both, NAMES[:2]))
    return folder, alone


def flipped(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


@pytest.mark.exhaustive(sample="session")
@settings(max_examples=150, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_flipped_bit_is_noticed_wherever_it_is(kept, share, bit):
    folder, held = kept
    content = (folder / "alone").read_bytes()
    (folder / "damaged").write_bytes(flipped(content, int(share * len(content)), bit))
    try:
        same(read_checkpoint(folder / "damaged", "one", learner()), held)
    except CheckpointError as error:
        assert str(error).startswith(("cannot be read (", "is of ")), error  # noqa: PT017


@pytest.mark.exhaustive(sample="session")
@settings(max_examples=150, deadline=None)
@given(share=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_flipped_bit_in_a_stack_is_noticed_by_the_member_that_it_is_of(kept, share, bit):
    folder, _ = kept
    content = (folder / "both").read_bytes()
    (folder / "damaged").write_bytes(flipped(content, int(share * len(content)), bit))
    for name in NAMES[:2]:
        whole = part_of(folder / "both", name)
        with suppress(CheckpointError, *BROKEN):
            assert part_of(folder / "damaged", name) == whole


@pytest.mark.slow
def test_every_byte_of_a_checkpoints_arrays_counts(kept):
    """Not one is taken without a word, as all were before there were digests."""
    folder, _ = kept
    content = (folder / "alone").read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    for place in range(begin, len(content), 97):
        (folder / "damaged").write_bytes(flipped(content, place, 3))
        with pytest.raises(CheckpointError, match="does not match its checksum"):
            read_checkpoint(folder / "damaged", "one", learner())


@pytest.mark.parametrize(
    "mark", ["", "{", "[]", '{"file": 3}', '{"file": "../x.stack.safetensors", "members": ["a"]}']
)
def test_a_mark_that_cannot_be_read_is_told_and_taken_off(tmp_path, mark):
    outside = tmp_path / "x.stack.safetensors"
    outside.write_bytes(b"")
    folder = tmp_path / "store" / "a"
    folder.mkdir(parents=True)
    (folder / MARK).write_text(mark)
    assert take_part(folder) == f"the stack's checkpoint, for its {MARK} names none"
    assert take_part(folder) == ""
    assert outside.exists()


def test_a_log_of_an_older_version_is_gone_on_with(tmp_path):
    """Its reports have no buckets, and nothing else about them has changed."""
    path, content = tmp_path / CHECKPOINT, to_bytes(snapshot(learner()), ["one"])
    size = int.from_bytes(content[:8], "little")
    held = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["facts"])["trained"]
    for report in held[0]["log"]:
        assert report.pop("valid_buckets")
    path.write_bytes(changed(content, facts={"trained": held}))
    log = read_checkpoint(path, "one", learner()).trained[0].log
    assert log == [Progress(20, 90, 1.5, 10.0, 3.0, valid_loss=0.1 + 0.2)]


@pytest.mark.slow
def test_the_checkpoint_of_another_model_is_refused(tmp_path):
    path = tmp_path / CHECKPOINT
    path.write_bytes(to_bytes(snapshot(learner()), ["one"]))
    with pytest.raises(CheckpointError, match="arrays"):
        read_checkpoint(path, "one", learner(context_size=5))


def test_a_checkpoint_without_the_mean_that_a_run_needs_is_refused(tmp_path):
    path = tmp_path / CHECKPOINT
    path.write_bytes(to_bytes(snapshot(learner()), ["one"]))
    with pytest.raises(CheckpointError, match="arrays"):
        read_checkpoint(path, "one", learner(average_last=0.5))


def test_a_stack_that_does_not_hold_a_run_has_no_part_of_it(tmp_path):
    file = tmp_path / "stack"
    file.write_bytes(to_bytes(snapshot(learner(1), learner(2)), NAMES[:2]))
    with pytest.raises(ValueError, match="three"):
        part_of(file, "three")


@pytest.mark.exhaustive(sample="session")
def test_a_run_with_a_useless_checkpoint_says_so_and_begins_anew(tmp_path):
    settings = resolve("smoke", ["corpus.name=copy", "corpus.copy_words=20", "training.updates=20"])
    events = []
    go = (lambda _, event: events.append(event)), StopRequest()
    execute([settings], tmp_path, *go)
    folder = RunFolder(tmp_path, events[-1]["run"])
    scores = (folder.path / "weights.safetensors").read_bytes()

    folder.write_status("running")
    (folder.path / CHECKPOINT).write_bytes(save({"0": np.zeros(1)}))
    events.clear()
    execute([settings], tmp_path, *go)
    assert "going on from update 0, without its checkpoint, which cannot be read" in " ".join(
        event["phase"] for event in events
    )
    assert events[-1]["phase"] == "done"
    assert (folder.path / "weights.safetensors").read_bytes() == scores
