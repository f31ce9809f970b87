"""Many updates a dispatch: what single ones give, in fewer dispatches."""

from itertools import islice

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_training import StopsAfter, copies, settings_of, translator, validation

from seq2seq_bottleneck.corpus.batches import training_batches
from seq2seq_bottleneck.training import device
from seq2seq_bottleneck.training.device import (
    LARGEST,
    make_plan,
    make_program,
    updates_together,
)
from seq2seq_bottleneck.training.loop import (
    Learner,
    dispatches,
    train,
    updates_done,
    validation_updates,
)
from seq2seq_bottleneck.training.stack import Stack
from seq2seq_bottleneck.training.step import TrainState

pytestmark = pytest.mark.exhaustive(sample="session")

UPDATES = 47
PAIRS = copies(90, longest=12)


def stream(seed=1):
    """Batches of several shapes, the number of their sentences too; an epoch has about ten."""
    return training_batches(PAIRS, 4, seed, groups=2, batch_tokens=60)


def learners(*seeds, **changes):
    found = []
    for seed in seeds:
        graph, weights = translator(seed, dropout=0.1)
        settings = settings_of(
            **{"seed": seed, "updates": UPDATES, "validations": 3, "learning_rate": 0.02, **changes}
        )
        found.append(Learner(weights, settings, stream(seed)))
    return graph, found


def silent(place, progress):
    """A report to nobody."""


def trained(together, *seeds, keeper=None, resumed=None, **changes):
    graph, members = learners(*seeds, **changes)
    return train(graph, members, validation(), silent, keeper, resumed, together)


def arrays(end):
    """All that training leaves, the best weights included."""
    return jax.tree.leaves((end.state, [each.weights for each in end.trained]))


def logged(end):
    """Losses, validation's too, and tokens; no times."""
    return [
        [(at.update, at.loss, at.valid_loss) for at in each.log]
        + [(each.best_update, each.valid_loss, each.target_tokens)]
        for each in end.trained
    ]


def close(one, other):
    for leaf, expected in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_allclose(leaf, expected, rtol=1e-5, atol=1e-7)
    for mine, expected in zip(logged(one), logged(other), strict=True):
        np.testing.assert_allclose(
            np.array(mine, np.float64), np.array(expected, np.float64), rtol=1e-6
        )


@pytest.fixture(scope="module")
def singly():
    return trained(1, 5)


@pytest.fixture(scope="module")
def stacked():
    return trained(7, 3, 8)


def test_the_batches_are_of_several_shapes_and_sizes():
    """What the tests below rest on."""
    assert len(set(stream().shapes)) == len(set(stream().batch_sizes)) == 2
    assert stream().updates_per_epoch < UPDATES / 2


@pytest.mark.parametrize(("together", "dispatched"), [(7, 9), (20, 5)])
def test_updates_together_are_those_of_single_dispatches(singly, monkeypatch, together, dispatched):
    """Fewer calls, cut where training is looked at: after 16, 20, 31, 40 and 47 updates."""
    calls, programs = [], []

    def counted(*given):
        programs.append(make_program(*given))
        return lambda *arguments: calls.append(1) or programs[0](*arguments)

    monkeypatch.setattr(device, "make_program", counted)
    close(trained(together, 5), singly)
    assert len(calls) == dispatched
    assert programs[0]._cache_size() == 1  # whatever the number of updates


def test_seeds_and_updates_together(stacked):
    close(stacked, trained(1, 3, 8))


def padded(batch, rows, lengths):
    """Both sides in one shape for all batches, and the true lengths."""
    sides = [
        np.pad(ids, ((0, rows - len(ids)), (0, length - ids.shape[1])))
        for ids, length in zip((batch.source, batch.target), lengths, strict=True)
    ]
    sums = batch.source_lengths.sum(), batch.target_lengths.sum()
    return *sides, np.array(sums)


@pytest.mark.parametrize("seeds", [(4,), (4, 2)])
def test_a_dispatch_trains_on_the_batches_of_single_updates(seeds):
    """Each "update" writes its batch down; no padding of the plan is ever seen."""
    batches, together = [stream(seed) for seed in seeds], 9
    axes = () if len(seeds) == 1 else (len(seeds),)
    rows, longest = max(batches[0].batch_sizes), np.max(batches[0].shapes, axis=0)
    shapes = [(rows, longest[0]), (rows, longest[1]), (2,)]

    def write_down(state, batch):
        number, (source, target, sums) = state.update, state.weights
        held = [
            side.at[number, ..., : ids.shape[-2], : ids.shape[-1]].set(ids)
            for side, ids in ((source, batch.source), (target, batch.target))
        ]
        lengths = [jnp.sum(each, axis=-1) for each in (batch.source_lengths, batch.target_lengths)]
        written = [*held, sums.at[number].set(jnp.stack(lengths, axis=-1))]
        return state._replace(weights=written, update=number + 1), jnp.zeros(axes)

    program = make_program(write_down, Stack(len(seeds)), batches[0].batch_sizes, together)
    numbers = range(6, 6 + together)
    empty = [jnp.zeros((together, *axes, *shape), jnp.int32) for shape in shapes]
    plan = make_plan(batches, numbers, together)
    state = TrainState(empty, (), jnp.int32(0), jnp.zeros(2, jnp.uint32))
    written = program(state, batches[0].classes, plan, together)[0].weights
    assert len({stream().place(number).shape for number in numbers}) > 1
    for found, shape, part in zip(written, shapes, range(3), strict=True):
        expected = [
            [padded(each.batch(n), rows, longest)[part] for each in batches] for n in numbers
        ]
        np.testing.assert_array_equal(found, np.reshape(expected, (together, *axes, *shape)))


def test_a_resumed_training_gives_the_same_bits(stacked):
    """Stopped between two reports: the losses since the last one are kept too."""
    keeper = StopsAfter(2)
    with pytest.raises(KeyboardInterrupt):
        trained(7, 3, 8, keeper=keeper)
    assert updates_done(keeper.held.state) == len(keeper.held.losses) == 14
    resumed = trained(7, 3, 8, resumed=keeper.held)
    assert all(map(np.array_equal, arrays(resumed), arrays(stacked)))
    assert logged(resumed) == logged(stacked)


@pytest.mark.parametrize("together", [1, 2, 7, 20, 1000])
def test_dispatches_cover_every_update_once_and_stop_where_training_is_looked_at(together):
    for updates in (1, 19, 20, 61):
        settings = settings_of(updates=updates, validations=4)
        looks = {*range(20, updates, 20), *validation_updates(settings)}
        for done in (0, 5, updates - 1, updates):
            cut = list(dispatches(done, settings, together))
            assert [number for part in cut for number in part] == list(range(done, updates))
            assert all(1 <= len(part) <= together for part in cut)
            assert all(look not in part[1:] for part in cut for look in looks)


def test_dispatches_of_very_many_updates_cost_no_memory():
    settings = settings_of(updates=2**31 - 1, validations=2)
    assert list(islice(dispatches(0, settings, 20), 3)) == [
        range(20 * n, 20 * n + 20) for n in range(3)
    ]


def test_divergence_is_noticed_and_harms_no_other_seed(stacked):
    graph, members = learners(3, 8)
    spoilt = jax.tree.map(lambda leaf: leaf * jnp.nan, members[1].weights)
    hurt = [members[0], members[1]._replace(weights=spoilt)]
    found = train(graph, hurt, validation(), silent, together=7).trained
    assert [each.status for each in found] == ["done", "diverged"]
    assert found[1].log == []
    unharmed, expected = (jax.tree.leaves(each[0].weights) for each in (found, stacked.trained))
    assert all(map(np.array_equal, unharmed, expected))


def test_a_core_takes_single_updates_and_a_large_corpus_too():
    small = stream()
    assert updates_together(None, small) == 1
    assert updates_together(12, small) == 12
    (first, *_), sizes = small.classes, small.batch_sizes
    rows = LARGEST // first.source.nbytes * len(first.source) + 1
    # A view: as large in bytes, without taking them.
    huge = first._replace(source=np.broadcast_to(first.source[:1], (rows, first.source.shape[1])))
    assert updates_together(12, type(small)((huge,), sizes[:1], 1)) == 1
