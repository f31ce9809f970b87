"""Which runs a table takes, which share one, and what its caption says is missing."""

import json
from dataclasses import replace

import pytest
from listed import write_relisted
from planted import write_sizes
from planted_arms import LOW, Store

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.settings.sweep import LONGER
from seq2seq_bottleneck.tables.comparison import where
from seq2seq_bottleneck.tables.pages import make_page

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
    """The one-line message of a refused table."""
    with pytest.raises(UserError) as error:
        page(store, name, *conditions)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("changes", "column", "values"),
    [
        ({"training": {"learning_rate": 1e-5}}, "learning_rate", "1e-05, 0.002"),
        ({"fingerprint": "one"}, "corpus_fingerprint", "one, planted"),
    ],
)
def test_runs_of_merged_folders_that_differ_in_any_setting_or_text_are_refused(
    store, changes, column, values
):
    store.add("none", "none", LOW, **changes).add("additive", "additive", LOW)
    pair = {"nones1": ["none", ""], "additives1": ["additive", "none"]}
    write_relisted(store.folder / "experiments.json", json.dumps({"planted": pair}))
    for name in ("failure-pattern", "vindication", "context-size"):
        start = f"the results hold several values of {column} ({values}), but this table takes "
        assert refused(store, name).startswith(f"{start}one: choose with `--where {column}=")


def test_the_first_pair_is_compared_and_the_rest_is_named(store):
    store.add("uniform", "uniform", LOW)
    both(store).add("dot", "dot", LOW)
    first = page(store)
    assert "against additive" in first.title
    assert "against dot" in page(store, "vindication", "attention=none,dot").title
    alone = page(store, "failure-pattern", "attention=none")
    paired = page(store, "failure_pattern", "attention=none,dot")
    assert alone.frame.equals(paired.frame)
    assert alone.judged == paired.judged
    equal = page(store, "vindication", "attention=none,uniform")
    assert {item.verdict for item in equal.judged} == {"not measured"}
    assert "the finished arms are none" in refused(store, "vindication", "attention=none")
    assert "no arm without attention" in refused(store, "compression", "attention=dot")


def test_arms_without_a_common_seed_are_no_pair(store):
    store.add("none", "none", LOW, 1).add("additive", "additive", LOW, 2)
    assert "; the finished arms are additive, none" in refused(store, "vindication")
    assert page(store, "context-size").frame["gain"].isna().all()


@pytest.mark.slow
def test_twice_the_updates_say_whether_the_schedule_is_long_enough(store):
    both(store)
    assert "twice the training" not in " ".join(page(store).caption)
    longer = {"group": LONGER, "training": {"updates": 20}}
    both(store, name="-x2", **longer)
    gains = [line for line in page(store).caption if "twice the training adds" in line]
    assert [line.split(":")[0] for line in gains] == ["none", "additive"]
    assert all(line.endswith(" BLEU.") and " +0.0" in line for line in gains)


# ``--where``: columns, settings, lists and alternatives; messages about wrong conditions.


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Both arms at three context sizes, two seeds each; one run of none per size names its arm."""
    folder = tmp_path_factory.mktemp("sizes")
    cells = {(size, arm): [0.1] * 5 for size in (8, 16, 32) for arm in ("none", "additive")}
    write_sizes(folder, cells, seeds=2, changes={"hidden_size": 32})
    bundle = Results.open(folder)
    arms = {"none8s2": "a", "none16s2": "a, b", "none32s2": "b"}
    named = bundle.runs["run"].map(arms).fillna("").astype("str")
    return replace(bundle, runs=bundle.runs.assign(arm=named))


def test_columns_settings_lists_and_alternatives(several):
    def sizes(*conditions):
        return sorted(set(where(several, conditions).runs["context_size"]))

    assert sizes() == [8, 16, 32]
    assert sizes("context_size=8, 32") == sizes("context_size=8", "context_size=32") == [8, 32]
    assert sizes("model.context_size = 16") == [16]
    kept = where(several, ["attention=none", "seed=2", "bidirectional=false"])
    assert set(kept.names) == {"none8s2", "none16s2", "none32s2"}


@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        ("contxt_size=8", UsageError, "did you mean 'context_size'"),
        ("context_size", UsageError, "write column=value"),
        ("context_size=small", UserError, "no run with context_size=small; there are 8, 16, 32"),
        ("context_size=64", UserError, "no run with context_size=64; there are 8, 16, 32"),
        ("attention=none,nope", UserError, "no run with attention=nope; there are"),
        ("bidirectional=true", UserError, "there are false"),
    ],
)
def test_a_wrong_condition_is_refused_with_what_there_is(several, condition, error, message):
    with pytest.raises(UserError, match=message) as caught:
        where(several, [condition])
    assert type(caught.value) is error
