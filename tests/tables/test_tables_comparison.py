"""What may stand in one table: arms that differ in attention alone, and seeds that both have."""

import pytest
from planted import planted_settings, sentences, write_begun, write_run
from planted_arms import LOW, Store

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.names import TABLES
from seq2seq_bottleneck.tables.pages import make_page
from seq2seq_bottleneck.tables.selection import where

SHARES = {"none": LOW, "additive": [0.1] * 5}
COMPARING = [name for name in TABLES if name != "arms"]
"""The tables that compare arms; the other has whatever there is."""
PAIRED = ("failure-pattern", "vindication")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def both(store, seed=1, name="", **changes):
    """A run of each arm, with the same changes."""
    for arm, shares in SHARES.items():
        store.add(f"{arm}{name}", arm, shares, seed, **changes)
    return store


def page(store, name="vindication", *conditions):
    return make_page(name, where(load_bundle(store.folder), conditions))


def refused(store, name, *conditions):
    """The message of a table that is refused, in one line."""
    with pytest.raises(UserError) as error:
        page(store, name, *conditions)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ({"training": {"learning_rate": 1e-5}}, "learning_rate (additive 0.002, none 1e-05)"),
        ({"training": {"batch_tokens": 900}}, "batch_tokens (additive none, none 900)"),
        ({"corpus": {"train_pairs": 5}}, "asked_train_pairs (additive 400, none 5)"),
        ({"decoding": {"cap_factor": 3.0}}, "cap_factor (additive 2, none 3)"),
        ({"model": {"residual": True}}, "residual (additive false, none true)"),
        ({"scoring": {"resamples": 50}}, "resamples (additive 200, none 50)"),
    ],
)
def test_arms_that_differ_in_any_setting_are_refused(store, changes, values):
    store.add("none", "none", LOW, **changes).add("additive", "additive", LOW)
    for name in (*PAIRED, "context-size"):
        message = refused(store, name)
        assert f"the arms differ in more than attention: in {values}" in message
        assert f"--where {values.split()[0]}=" in message


def test_every_table_names_a_setting_that_differs_between_seeds(store):
    both(store).add("none", "none", LOW, 2, training={"clip_norm": 2.0})
    for name in COMPARING:
        message = refused(store, name)
        assert "several values of clip_norm (1, 2)" in message
        assert "choose with `--where clip_norm=1`" in message
    assert "One seed (1): nothing is known" in "\n".join(
        page(store, "vindication", "clip_norm=1").caption
    )


def test_arms_with_other_text_are_refused_though_their_settings_are_the_same(store):
    store.add("none", "none", LOW, fingerprint="one")
    store.add("additive", "additive", LOW, fingerprint="other")
    message = refused(store, "vindication")
    assert "several values of corpus_fingerprint (one, other)" in message
    assert "--where corpus_fingerprint=" in message
    assert refused(store, "vindication", "corpus_fingerprint=one,other") == message
    assert page(store, "compression").frame["bleu"].notna().all()


def test_the_user_may_choose_a_difference_between_the_arms_and_the_caption_names_it(store):
    """As for the control "none with as many parameters" (C10)."""
    store.add("none", "none", LOW, model={"hidden_size": 33})
    store.add("additive", "additive", LOW, model={"hidden_size": 32})
    assert "--where hidden_size=32,33" in refused(store, "vindication")
    for chosen in (["hidden_size=32,33"], ["hidden_size=32", "model.hidden_size=33"]):
        text = "\n".join(page(store, "vindication", *chosen).caption)
        assert "differ in more than attention, as chosen: hidden_size additive 32, none 33." in text
        assert "the score has" not in text
    store.add("mixed", "none", LOW, 2, model={"hidden_size": 32})
    message = refused(store, "vindication", "hidden_size=32,33")
    assert "several values of hidden_size (32, 33)" in message


@pytest.mark.slow
def test_runs_of_two_context_sizes_are_no_pair_even_if_their_updates_differ(store):
    """As preset smoke and then quick in one folder: which of them is meant is the user's to say."""
    both(store, model={"context_size": 16})
    both(store, name="x", model={"context_size": 32}, training={"updates": 20})
    for name in PAIRED:
        assert refused(store, name) == (
            "the results hold several values of context_size (16, 32), this table takes one: "
            "choose with `--where context_size=16`"
        )
        for size in (16, 32):
            chosen = page(store, name, f"context_size={size}")
            assert f"context {size}" in "\n".join(chosen.caption)


@pytest.mark.slow
def test_widths_follow_the_context_in_all_runs_or_are_one(store):
    """A curve over context sizes is not to be one over other sizes as well (C1)."""
    for size in (8, 16, 32):
        both(store, name=str(size), model={"context_size": size})
    assert any("hidden 8 / 16 / 32" in line for line in page(store, "compression").caption)
    store.add("wide", "none", LOW, 2, model={"context_size": 8, "hidden_size": 9})
    for name in ("compression", "context-size"):
        assert refused(store, name) == (
            "the results hold several values of hidden_size (8, 9, 16, 32), this table takes one: "
            "choose with `--where hidden_size=8`"
        )
    assert len(page(store, "compression", "hidden_size=16").frame) == 5


def test_other_test_sentences_are_refused(store):
    store.add("none", "none", LOW)
    settings = planted_settings("none", model={"context_size": 64, "hidden_size": 32})
    settings = settings.changed(model={"attention_size": 32})
    short = [text for text in sentences() if len(text.split()) < 40]
    write_run(store.folder, "short", settings, short, short)
    assert "tested on different sentences" in refused(store, "compression", "context_size=32,64")


def test_one_attention_is_compared_and_the_failure_pattern_needs_none(store):
    both(store).add("dot", "dot", LOW)
    assert "Parameters: none 1,000." in page(store, "failure-pattern").caption
    for name in ("vindication", "context-size"):
        assert "choose with `--where attention=none,additive`" in refused(store, name)
    assert "dot" in page(store, "vindication", "attention=none,dot").title
    alone = page(store, "failure-pattern", "attention=none")
    paired = page(store, "failure_pattern", "attention=none,dot")
    assert alone.frame.equals(paired.frame)
    assert alone.judged == paired.judged
    assert "hold the arms none" in refused(store, "vindication", "attention=none")


def test_arms_without_a_common_seed_are_no_pair(store):
    store.add("none", "none", LOW, 1).add("additive", "additive", LOW, 2)
    message = refused(store, "vindication")
    assert "additive seed 2, none seed 1 have no seed in common" in message
    sizes = page(store, "context-size")
    assert sizes.frame["gain"].isna().all()
    assert "the other arm lacks that seed: additive seed 2" in "\n".join(sizes.caption)


def test_a_missing_arm_that_did_not_end_is_named(store):
    store.add("none", "none", LOW)
    reason = "the loss was no longer finite"
    write_begun(store.folder, "wild", planted_settings("additive"), "diverged", reason)
    message = refused(store, "vindication")
    assert "hold the arms none: " in message
    assert "1 more did not end" in message
    named = f"additive context 32 seed 1 (diverged: {reason})"
    assert named in "\n".join(page(store, "context-size").caption)


@pytest.mark.slow
def test_gains_are_of_common_seeds_and_attention_may_be_missing(store):
    for size in (16, 32):
        widths = {"context_size": size, "hidden_size": 32, "attention_size": 8}
        both(store, name=str(size), model=widths)
        store.add(f"none{size}", "none", LOW, 2, model=widths)
    store.add("lone", "additive", LOW, model=widths | {"context_size": 8})
    sizes = page(store, "context-size")
    left = "context 16 none seed 2; context 32 none seed 2"
    assert f"Left out, because the other arm lacks that seed: {left}." in sizes.caption
    assert "Left out: context 8 (no run without attention)." in sizes.caption
    assert sizes.frame.equals(page(store, "context-size", "seed=1").frame)
    lone = page(store, "context-size", "run=none16s1,none32s1,additive32s1").frame
    blank = lone.set_index("context_size")["gain"].isna().groupby(level=0).all()
    assert blank.to_dict() == {16: True, 32: False}
    text = "\n".join(page(store, "compression").caption)
    assert "none, seed 2" in text
    assert "Left out" not in text
