"""What may stand in one table: arms that differ in attention alone, and seeds that both have."""

import pytest
from planted import planted_settings, sentences, translations, write_begun, write_run

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION
from seq2seq_bottleneck.tables.pages import TABLES, make_page
from seq2seq_bottleneck.tables.selection import where

SHARES = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1] * 5}
COMPARING = [name for name in TABLES if name != "arms"]
"""The tables that compare arms; the other shows whatever there is."""
FINITE = "the loss was no longer finite"


def add(folder, arm, seed=1, name="", facts=None, **changes):
    """A finished run of an arm; returns its name."""
    settings = planted_settings(arm, seed, **changes)
    texts = translations(sentences(), SHARES[arm], [seed, len(arm)])
    name = name or f"{arm}{settings.model.context_size}s{seed}"
    write_run(folder, name, settings, texts, sentences(), **(facts or {}))
    return name


def caption(folder, name="vindication", *conditions):
    return "\n".join(make_page(name, where(load_bundle(folder), conditions)).caption)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ({"training": {"learning_rate": 1e-5}}, "learning_rate (additive 0.002, none 1e-05)"),
        ({"training": {"batch_size": 8}}, "batch_size (additive 32, none 8)"),
        ({"training": {"batch_tokens": 900}}, "batch_tokens (additive none, none 900)"),
        ({"corpus": {"train_pairs": 5}}, "asked_train_pairs (additive 400, none 5)"),
        ({"corpus": {"seed": 2}}, "corpus_seed (additive 1, none 2)"),
        ({"decoding": {"cap_factor": 3.0}}, "cap_factor (additive 2, none 3)"),
        ({"model": {"residual": True}}, "residual (additive false, none true)"),
        ({"scoring": {"resamples": 50}}, "resamples (additive 200, none 50)"),
    ],
)
def test_arms_that_differ_in_any_setting_are_refused(tmp_path, changes, values):
    add(tmp_path, "none", **changes)
    add(tmp_path, "additive")
    for name in ("failure-pattern", "vindication", "context-size"):
        with pytest.raises(UserError) as error:
            make_page(name, load_bundle(tmp_path))
        assert f"the arms differ in more than attention: in {values}" in str(error.value)
        assert f"--where {values.split()[0]}=" in str(error.value)
        assert "\n" not in str(error.value)


def test_every_table_names_a_setting_that_differs_between_seeds(tmp_path):
    add(tmp_path, "none", 1)
    add(tmp_path, "additive", 1)
    add(tmp_path, "none", 2, training={"clip_norm": 2.0})
    for name in COMPARING:
        with pytest.raises(UserError) as error:
            make_page(name, load_bundle(tmp_path))
        assert "clip_norm (1, 2)" in str(error.value)
        assert "choose with `--where clip_norm=1`" in str(error.value)
    assert "One seed (1): nothing is known" in caption(tmp_path, "vindication", "clip_norm=1")


def test_arms_with_other_text_are_refused_though_their_settings_are_the_same(tmp_path):
    add(tmp_path, "none", facts={"fingerprint": "one"})
    add(tmp_path, "additive", facts={"fingerprint": "other"})
    with pytest.raises(UserError, match=r"corpus_fingerprint .*--where corpus_fingerprint="):
        make_page("vindication", load_bundle(tmp_path))
    allowed = where(load_bundle(tmp_path), ["corpus_fingerprint=one,other"])
    with pytest.raises(UserError, match="differ in their text"):
        make_page("vindication", allowed)
    assert make_page("compression", load_bundle(tmp_path)).frame["bleu"].notna().all()


def test_the_user_may_choose_a_difference_between_the_arms_and_the_caption_tells_it(tmp_path):
    """As for the control "none with as many parameters" (C10)."""
    add(tmp_path, "none", model={"hidden_size": 33})
    add(tmp_path, "additive", model={"hidden_size": 32})
    with pytest.raises(UserError, match="--where hidden_size=32,33"):
        make_page("vindication", load_bundle(tmp_path))
    for chosen in (["hidden_size=32,33"], ["hidden_size=32", "model.hidden_size=33"]):
        text = caption(tmp_path, "vindication", *chosen)
        assert "differ in more than attention, as chosen: hidden_size additive 32, none 33." in text
        assert "the score has" not in text
    add(tmp_path, "none", 2, "mixed", model={"hidden_size": 32})
    with pytest.raises(UserError, match=r"several values of hidden_size \(32, 33\)"):
        make_page("vindication", where(load_bundle(tmp_path), ["hidden_size=32,33"]))


def test_a_setting_that_is_not_set_can_be_chosen(tmp_path):
    add(tmp_path, "none", 1, "first")
    add(tmp_path, "none", 2, "second", training={"batch_tokens": 900})
    bundle = load_bundle(tmp_path)
    assert set(where(bundle, ["batch_tokens=none"]).runs["run"]) == {"first"}
    assert set(where(bundle, ["batch_tokens=900,none"]).runs["run"]) == {"first", "second"}


@pytest.mark.slow
@pytest.mark.parametrize("size", [16, 32])
def test_runs_of_two_setups_are_no_table_though_their_updates_would_tell_them_apart(tmp_path, size):
    """As preset smoke and then quick in one folder: which of them is meant is the user's to say."""
    for arm in SHARES:
        add(tmp_path, arm, model={"context_size": 16})
        add(tmp_path, arm, name=f"{arm}x2", model={"context_size": 32}, training={"updates": 20})
    for name in ("failure-pattern", "vindication"):
        with pytest.raises(UserError, match=r"context_size \(16, 32\).*--where context_size=16"):
            caption(tmp_path, name)
    assert f"context {size}" in caption(tmp_path, "vindication", f"context_size={size}")


@pytest.mark.slow
def test_twice_the_updates_and_nothing_else_tell_of_the_schedule(tmp_path):
    for arm in SHARES:
        add(tmp_path, arm)
        add(tmp_path, arm, name=f"{arm}x3", training={"updates": 30})
    assert "not shown to be long enough" in caption(tmp_path)
    assert "Left out: 2 runs of more updates." in caption(tmp_path)
    for arm in SHARES:
        add(tmp_path, arm, name=f"{arm}x2", training={"updates": 20})
    assert "Schedule: long enough; twice the updates (seed 1)" in caption(tmp_path)


@pytest.mark.slow
def test_gains_are_of_common_seeds_and_the_others_are_named(tmp_path):
    for size in (16, 32):
        for arm, seeds in (("none", (1, 2)), ("additive", (1,))):
            for seed in seeds:
                add(tmp_path, arm, seed, model={"context_size": size, "hidden_size": 32})
    settings = planted_settings("additive", 2, model={"context_size": 32, "hidden_size": 32})
    write_begun(tmp_path, "wild", settings, "diverged", FINITE)
    text = caption(tmp_path, "context-size")
    seeds = "context 16 none seed 2; context 32 none seed 2"
    assert f"Left out, because the other arm lacks that seed: {seeds}." in text
    wild = f"additive context 32 seed 2 (diverged: {FINITE})"
    assert f"Without a result, and not in this table: {wild}." in text
    one = where(load_bundle(tmp_path), ["seed=1"])
    pairs = make_page("context-size", load_bundle(tmp_path)).frame
    assert pairs.equals(make_page("context-size", one).frame)
    alone = make_page("compression", load_bundle(tmp_path))
    assert "none, seed 2" in "\n".join(alone.caption)
    assert "Left out" not in "\n".join(alone.caption)
    text = caption(tmp_path, "vindication", "context_size=32")
    assert "Left out, because the other arm lacks that seed: none seed 2." in text
    assert wild in text


def test_only_runs_that_would_belong_to_the_table_are_named(tmp_path):
    for arm in SHARES:
        add(tmp_path, arm)
    for name, seed, changes in (
        ("same", 2, {}),
        ("other", 3, {"training": {"learning_rate": 1.0}}),
        ("longer", 4, {"training": {"updates": 20}}),
        ("wider", 5, {"model": {"context_size": 64}}),
    ):
        write_begun(tmp_path, name, planted_settings("none", seed, **changes), "diverged", FINITE)
    write_begun(tmp_path, "dot", planted_settings("dot", 6), "failed", "Traceback\nKeyError: 3")
    assert f"not in this table: none context 32 seed 2 (diverged: {FINITE})." in caption(tmp_path)
    assert "not in this table" not in caption(tmp_path, "vindication", "seed=1")
    spanned = caption(tmp_path, "context-size")
    assert "seed 2 (diverged" in spanned
    assert "context 64 seed 5 (diverged" in spanned
    assert "seed 3" not in spanned


@pytest.mark.slow
def test_a_run_that_was_stopped_before_it_said_what_it_is_is_named(tmp_path):
    for arm in SHARES:
        add(tmp_path, arm)
    begun = write_begun(tmp_path, "0123", planted_settings("none", 2))
    (begun / "settings.json").unlink()
    for name in COMPARING:
        assert "not in this table: run 0123 (not ended)." in caption(tmp_path, name)


def test_arms_without_a_common_seed_are_no_pair(tmp_path):
    add(tmp_path, "none", 1)
    add(tmp_path, "additive", 2)
    with pytest.raises(UserError, match="additive seed 2, none seed 1 have no seed in common"):
        make_page("vindication", load_bundle(tmp_path))
    page = make_page("context-size", load_bundle(tmp_path))
    assert page.frame["gain"].isna().all()
    assert "the other arm lacks that seed: additive seed 2" in "\n".join(page.caption).replace(
        "context 32 ", ""
    )


def test_a_missing_arm_that_did_not_end_is_hinted_at(tmp_path):
    add(tmp_path, "none")
    write_begun(tmp_path, "wild", planted_settings("additive"), "diverged", FINITE)
    with pytest.raises(UserError, match=r"hold the arms none: .*1 more did not end"):
        make_page("vindication", load_bundle(tmp_path))
    assert f"additive context 32 seed 1 (diverged: {FINITE})" in caption(tmp_path, "context-size")


@pytest.mark.slow
def test_runs_of_another_version_are_counted_under_every_table(tmp_path):
    for arm in SHARES:
        add(tmp_path, arm)
    add(tmp_path, "none", 2, facts={"schema": SCHEMA_VERSION + 1})
    for name in COMPARING:
        assert "1 run is left out: made by another version" in caption(tmp_path, name)


@pytest.mark.slow
def test_the_caption_says_what_else_comes_with_shorter_training_sentences(tmp_path):
    for arm in SHARES:
        add(tmp_path, arm, corpus={"train_max_words": 20})
    said = "Trained on sentences of at most 20 words: the vocabulary is theirs"
    for name in COMPARING:
        assert said in caption(tmp_path, name)
