"""What may stand in one table, and what its caption says is missing."""

import json

import numpy as np
import pytest
from listed import write_relisted
from planted import planted_settings, write_begun
from planted_arms import LOW, Store

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import TABLES
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.sweep import LONGER
from seq2seq_bottleneck.tables.comparison import runs_text
from seq2seq_bottleneck.tables.pages import make_page
from seq2seq_bottleneck.tables.selection import where

SHARES = {"none": LOW, "additive": [0.1] * 5}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def both(store, seed=1, name="", **changes):
    """A run of each arm, with the same changes."""
    for arm, shares in SHARES.items():
        store.add(f"{arm}{name}", arm, shares, seed, **changes)
    return store


def page(store, name="vindication", *conditions):
    return make_page(name, where(Results.open(store.folder), conditions))


def refused(store, name, *conditions):
    """The message of a table that is refused, in one line."""
    with pytest.raises(UserError) as error:
        page(store, name, *conditions)
    assert "\n" not in str(error.value)
    return str(error.value)


def several(column, values, choice):
    return (
        f"the results hold several values of {column} ({values}), this table takes one: "
        f"choose with `--where {column}={choice}`"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "column", "values"),
    [
        ({"training": {"learning_rate": 1e-5}}, "learning_rate", "1e-05, 0.002"),
        ({"training": {"batch_tokens": 900}}, "batch_tokens", "900, none"),
        ({"corpus": {"train_pairs": 5}}, "asked_train_pairs", "5, 400"),
        ({"model": {"residual": True}}, "residual", "false, true"),
        ({"scoring": {"resamples": 50}}, "resamples", "50, 200"),
        ({"fingerprint": "one"}, "corpus_fingerprint", "one, planted"),
    ],
)
def test_arms_that_differ_in_any_setting_or_text_are_refused(store, changes, column, values):
    store.add("none", "none", LOW, **changes).add("additive", "additive", LOW)
    base, arm = "none", "additive"
    experiments = {"planted": {"nones1": [base, ""], "additives1": [arm, base]}}
    write_relisted(store.folder / "experiments.json", json.dumps(experiments))
    for name in ("failure-pattern", "vindication", "context-size"):
        assert refused(store, name).startswith(several(column, values, "")[:-1])


def test_seeds_of_an_arm_that_differ_in_a_setting_are_refused(store):
    """As of two folders that were merged."""
    both(store).add("none", "none", LOW, 2, training={"clip_norm": 2.0})
    runs = {"nones1": ["none", ""], "nones2": ["none", ""], "additives1": ["additive", "none"]}
    write_relisted(store.folder / "experiments.json", json.dumps({"planted": runs}))
    assert refused(store, "arms") == several("clip_norm", "1, 2", "1")
    caption = page(store, "vindication", "clip_norm=1").caption
    assert any(line.startswith("One seed (1): nothing is known") for line in caption)


def test_a_table_is_of_one_experiment(store):
    both(store).add("dot", "dot", LOW)
    members = {"nones1": ["none", ""], "additives1": ["additive", "none"]}
    experiments = {"first": members, "second": members | {"dots1": ["dot", "none"]}}
    write_relisted(store.folder / "experiments.json", json.dumps(experiments))
    for name in TABLES:
        line = "the results hold several experiments (first, second): choose with "
        assert refused(store, name) == f"{line}`--where experiment=first`"
        assert len(page(store, name, "experiment=first").frame) in (5, 10)
    arms = page(store, "arms", "experiment=second").frame["arm"]
    assert list(dict.fromkeys(arms)) == ["none", "additive", "dot"]
    write_relisted(store.folder / "experiments.json", "{}")
    assert "these runs belong to no experiment: run the command" in refused(store, "arms")


def test_runs_of_two_context_sizes_are_no_pair(store):
    both(store, model={"context_size": 16})
    both(store, name="x", model={"context_size": 32})
    for name in ("failure-pattern", "vindication"):
        message = refused(store, name)
        assert "with several arms with attention: there are additive context_size=16, " in message
        assert "; context 16; " in page(store, name, "context_size=16").run


@pytest.mark.slow
def test_widths_follow_the_context_in_all_runs_or_are_one(store):
    """A curve over context sizes is not to be one over other sizes as well (C1)."""
    for size in (8, 16, 32):
        both(store, name=str(size), model={"context_size": size})
    assert any("hidden_size 8, 16, 32, " in line for line in page(store, "compression").caption)
    store.add("wide", "none", LOW, 2, model={"context_size": 8, "hidden_size": 9})
    for name in ("compression", "context-size"):
        assert refused(store, name).startswith("the results hold several values of hidden_size (")


def test_one_attention_is_compared_and_the_failure_pattern_needs_none(store):
    both(store).add("dot", "dot", LOW)
    lines = page(store, "failure-pattern").caption
    assert any(line.startswith("none: 1,000 parameters; ") for line in lines)
    assert "there are additive, dot, none; choose two with" in refused(store, "vindication")
    assert "choose with `--where attention=none,additive`" in refused(store, "context-size")
    assert "dot" in page(store, "vindication", "attention=none,dot").title
    alone = page(store, "failure-pattern", "attention=none")
    paired = page(store, "failure_pattern", "attention=none,dot")
    assert alone.frame.equals(paired.frame)
    assert alone.judged == paired.judged
    assert "no arm with attention" in refused(store, "vindication", "attention=none")


def test_arms_without_a_common_seed_are_no_pair(store):
    store.add("none", "none", LOW, 1).add("additive", "additive", LOW, 2)
    assert "with no arm with attention of its seeds: there" in refused(store, "vindication")
    sizes = page(store, "context-size")
    assert sizes.frame["gain"].isna().all()
    assert any(line.endswith("seed: 1 run: additive, seed 2.") for line in sizes.caption)


def test_an_arm_that_did_not_end_is_counted(store):
    store.add("none", "none", LOW)
    reason = "the loss was no longer finite"
    write_begun(store.folder, "wild", planted_settings("additive"), "diverged", reason)
    message = refused(store, "vindication")
    assert "1 more did not end" in message
    assert "1 run is without a result" in " ".join(page(store, "context-size").caption)


@pytest.mark.slow
def test_gains_are_of_common_seeds_and_attention_may_be_missing(store):
    for size in (16, 32):
        widths = {"context_size": size, "hidden_size": 32, "attention_size": 8}
        both(store, name=str(size), model=widths)
        store.add(f"none{size}", "none", LOW, 2, model=widths)
    store.add("lone", "additive", LOW, model=widths | {"context_size": 8})
    sizes = page(store, "context-size")
    (left,) = [line for line in sizes.caption if line.startswith("Left out")]
    assert "3 runs: " in left
    assert "none context_size=16, none context_size=32, seed 2" in left
    assert "additive context_size=8, seed 1" in left
    assert sizes.frame.equals(page(store, "context-size", "seed=1").frame)
    lone = page(store, "context-size", "run=none16s1,none32s1,additive32s1").frame
    blank = lone.set_index("context_size")["gain"].isna().groupby(level=0).all()
    assert blank.to_dict() == {16: True, 32: False}
    text = "\n".join(page(store, "compression").caption)
    assert "Left out" not in text


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ({}, ""),
        ({"none": [1]}, "1 run: none, seed 1"),
        ({"none": [2, 1], "dot": [1, 2]}, "4 runs: none, dot, seed 1, 2"),
        ({"none": [1], "dot": [9, 1]}, "3 runs: none, seed 1; dot, seed 1, 9"),
        ({"none": range(1, 21)}, f"20 runs: none, seed {', '.join(map(str, range(1, 21)))}"),
        ({"none": range(1, 22)}, "21 runs: none, 21 seeds from 1 to 21"),
        (
            dict.fromkeys(["none", "dot"], range(5000, 0, -2)),
            "5,000 runs: none, dot, 2,500 seeds from 2 to 5000",
        ),
    ],
)
def test_arms_of_the_same_seeds_share_them_and_many_are_counted(seeds, text):
    assert runs_text([(arm, seed) for arm, known in seeds.items() for seed in known]) == text


@pytest.mark.slow
def test_twice_the_updates_and_nothing_else_say_whether_the_schedule_is_long_enough(store):
    def schedule():
        caption = page(store, "failure-pattern").caption
        return next(line for line in caption if line.startswith("Schedule"))

    both(store)
    both(store, seed=2)
    assert "not shown to be long enough" in schedule()
    assert "still falling at the end: none, additive" in schedule()
    # Of one seed, against the same seed: without any change it is long enough.
    both(store, name="-x2", group=LONGER, training={"updates": 20})
    assert schedule().startswith("Schedule: long enough; twice the updates (seed 1) move no ")
    assert f"bucket: none {'+0.0 ' * 4}+0.0; additive {'+0.0 ' * 4}+0.0." in schedule()


def test_a_doubled_schedule_that_moves_a_bucket_is_named(store):
    both(store).add("none-x2", "none", [0.0] * 5, group=LONGER, training={"updates": 20})
    longer = {"group": LONGER, "training": {"updates": 20}}
    store.add("additive-x2", "additive", SHARES["additive"], **longer)
    caption = page(store, "failure-pattern").caption
    verdict, added = next(x for x in caption if x.startswith("Schedule")).split(". Twice the ")
    assert verdict.startswith("Schedule: not long enough")
    assert "none 41+" in verdict
    assert "additive" not in verdict
    none, attention = added.rstrip(".").split(": ")[1].split("; ")
    assert (np.array(none.split()[1:], float) > 0).all()
    assert attention == f"additive {'+0.0 ' * 4}+0.0"
