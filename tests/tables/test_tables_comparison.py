"""Which runs stand in one table, and what its caption says is missing."""

import json

import pandas as pd
import pytest
from listed import write_relisted
from planted import planted_settings, write_begun
from planted_arms import LOW, Store

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import TABLES
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.sweep import LONGER
from seq2seq_bottleneck.tables.comparison import describe
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


def declare(store, **experiments):
    write_relisted(store.folder / "experiments.json", json.dumps(experiments))


def line_of(page, start):
    return next((line for line in page.caption if line.startswith(start)), "")


PAIR = {"nones1": ["none", ""], "additives1": ["additive", "none"]}


@pytest.mark.parametrize(
    ("changes", "column", "values"),
    [
        ({"training": {"learning_rate": 1e-5}}, "learning_rate", "1e-05, 0.002"),
        ({"training": {"batch_tokens": 900}}, "batch_tokens", "900, none"),
        ({"fingerprint": "one"}, "corpus_fingerprint", "one, planted"),
    ],
)
def test_runs_of_merged_folders_that_differ_in_any_setting_or_text_are_refused(
    store, changes, column, values
):
    store.add("none", "none", LOW, **changes).add("additive", "additive", LOW)
    declare(store, planted=PAIR)
    for name in ("failure-pattern", "vindication", "context-size"):
        start = f"the results hold several values of {column} ({values}), this table takes one: "
        assert refused(store, name).startswith(f"{start}choose with `--where {column}=")


def test_a_table_is_of_one_experiment(store):
    both(store).add("dot", "dot", LOW)
    declare(store, first=PAIR, second=PAIR | {"dots1": ["dot", "none"]})
    for name in TABLES:
        line = "the results hold several experiments (first, second): choose with "
        assert refused(store, name) == f"{line}`--where experiment=first`"
        assert len(page(store, name, "experiment=first").frame) in (5, 10)
    arms = page(store, "arms", "experiment=second").frame["arm"]
    assert list(dict.fromkeys(arms)) == ["none", "additive", "dot"]
    declare(store)
    assert "these runs belong to no experiment: run the command" in refused(store, "arms")


def test_the_first_pair_is_compared_and_the_rest_is_named(store):
    store.add("uniform", "uniform", LOW)
    both(store).add("dot", "dot", LOW)
    first = page(store)
    assert "against additive" in first.title
    assert "2 runs: uniform, dot, seed 1" in line_of(first, "Left out")
    assert "against dot" in page(store, "vindication", "attention=none,dot").title
    alone = page(store, "failure-pattern", "attention=none")
    paired = page(store, "failure_pattern", "attention=none,dot")
    assert alone.frame.equals(paired.frame)
    assert alone.judged == paired.judged
    message = refused(store, "vindication", "attention=none")
    assert message.endswith("its baseline without, of one seed: there are none")
    assert "no arm without attention" in refused(store, "compression", "attention=dot")


@pytest.mark.slow
def test_a_curve_over_context_sizes_is_of_nothing_else(store):
    """Widths follow the context in all runs or are one (C1)."""
    for size in (8, 16, 32):
        both(store, name=str(size), model={"context_size": size})
    assert page(store, "compression").frame["context_size"].nunique() == 3
    store.add("wide", "none", LOW, 2, model={"context_size": 8, "hidden_size": 9})
    for name in ("compression", "context-size"):
        assert page(store, name).frame["context_size"].unique().tolist() == [8]


@pytest.mark.slow
def test_gains_are_of_common_seeds(store):
    for size in (16, 32):
        both(store, name=str(size), model={"context_size": size})
        store.add(f"none{size}", "none", LOW, 2, model={"context_size": size})
    sizes = page(store, "context-size")
    names = "none context_size=16, none context_size=32, seed 2"
    assert f"2 runs: {names}" in line_of(sizes, "Left out")
    assert sizes.frame.equals(page(store, "context-size", "seed=1").frame)


def test_arms_without_a_common_seed_are_no_pair(store):
    store.add("none", "none", LOW, 1).add("additive", "additive", LOW, 2)
    assert "of one seed: there are additive, none" in refused(store, "vindication")
    sizes = page(store, "context-size")
    assert sizes.frame["gain"].isna().all()
    assert line_of(sizes, "Left out").endswith(": 1 run: additive, seed 2.")


def test_an_arm_that_did_not_end_is_counted(store):
    store.add("none", "none", LOW)
    reason = "the loss was no longer finite"
    write_begun(store.folder, "wild", planted_settings("additive"), "diverged", reason)
    assert "1 more did not end" in refused(store, "vindication")
    assert "1 run is without a result" in " ".join(page(store, "context-size").caption)


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ({}, ""),
        ({"none": [2, 1], "dot": [1, 2]}, "4 runs: none, dot, seeds 1, 2"),
        ({"a, b": [1], "dot": [9, 1]}, "3 runs: 'a, b', seed 1; dot, seeds 1, 9"),
        ({"none": range(1, 22)}, "21 runs: none, 21 seeds from 1 to 21"),
    ],
)
def test_arms_of_the_same_seeds_share_them_and_many_are_counted(seeds, text):
    rows = [(arm, seed, f"{arm}{seed}") for arm, known in seeds.items() for seed in known]
    assert describe(pd.DataFrame(rows, columns=["arm", "seed", "run"])) == text


@pytest.mark.slow
def test_twice_the_updates_say_whether_the_schedule_is_long_enough(store):
    def schedule():
        return line_of(page(store, "failure-pattern"), "Schedule")

    both(store)
    both(store, seed=2)
    assert "not shown to be long enough" in schedule()
    # Of one seed, against the same seed: without any change it is long enough.
    longer = {"group": LONGER, "training": {"updates": 20}}
    both(store, name="-x2", **longer)
    assert schedule().startswith("Schedule: long enough; twice the updates move no bucket ")
    assert f": none {'+0.0 ' * 4}+0.0; additive {'+0.0 ' * 4}+0.0." in schedule()
    store.add("none-x2", "none", [0.0] * 5, 2, **longer)
    assert "Schedule: not long enough; twice the updates move none 5-10" in schedule()
