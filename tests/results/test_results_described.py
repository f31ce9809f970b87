"""What a bundle or a store says of its runs, mended by hand into what it cannot be: one line."""

import json
import shutil

import pytest
from planted import write_planted

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.runs.stored import arms
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.pages import make_page


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("once")
    write_planted(folder, {"none": [0.5] * 5, "additive": [0.1] * 5}, 1, keep=frozenset({7, 15}))
    return folder


@pytest.fixture
def bundle(once, tmp_path):
    return shutil.copytree(once, tmp_path / "b", ignore=shutil.ignore_patterns("runs"))


def change(path, edit):
    held = json.loads(path.read_text())
    path.write_text(json.dumps(edit(held) or held))


FAULTS = {
    "a list": lambda held: [held],
    "no runs": lambda held: held.pop("runs") and None,
    "runs are a list": lambda held: held.update(runs=[]),
    "a run is none": lambda held: held["runs"].update(none1x1=None),
    "no settings": lambda held: held["runs"]["none1x1"].pop("settings") and None,
    "a run is gone": lambda held: held["runs"].pop("none1x1") and None,
    "unfinished are a list": lambda held: held.update(unfinished=[]),
    "an unfinished one is none": lambda held: held.update(unfinished={"a": None}),
    "a count is a text": lambda held: held.update(other_versions="many"),
    "a count is no whole number": lambda held: held.update(other_versions=1.0),
    "a count is below zero": lambda held: held.update(other_versions=-1),
    "a share is an object": lambda held: facts(held).update(source_unknown={}),
    "a share is gone": lambda held: facts(held).pop("target_unknown") and None,
    "notes are a number": lambda held: facts(held).update(notes=3),
}


def facts(held):
    return held["runs"]["none1x1"]["environment"]


@pytest.mark.parametrize("edit", FAULTS.values(), ids=FAULTS)
def test_a_bundle_that_is_not_described_is_named(bundle, edit):
    change(bundle / "environment.json", edit)
    with pytest.raises(UserError, match=r"environment\.json"):
        make_page("failure-pattern", load_bundle(bundle))


@pytest.mark.parametrize("edit", [lambda held: [held], lambda _: {"model": 3}, lambda _: 3])
def test_settings_that_are_none_are_named(once, tmp_path, edit):
    out = shutil.copytree(once, tmp_path / "out")
    change(out / "runs" / "none1x1" / "settings.json", edit)
    for read in (arms, load_bundle):
        with pytest.raises(UserError, match=r"settings\.json"):
            read(out)
    with pytest.raises(UserError, match=r"settings\.json"):
        arms(out / "runs" / "none1x1")


def test_a_count_that_is_no_number_is_named(once, tmp_path):
    out = shutil.copytree(once, tmp_path / "out")
    path = out / "runs" / "none1x1" / "sentences.csv"
    head, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([head, ",".join(["1e999"] * len(head.split(","))), *rest, first]))
    with pytest.raises(UserError, match=r"sentences\.csv"):
        load_bundle(out)
