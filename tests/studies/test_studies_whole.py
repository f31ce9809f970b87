"""The plan of the whole study: every sweep, study and claim has its place, and what is done."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from planted import planted_settings, write_begun

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.corpus.named.places import SOURCE, folder_of
from seq2seq_bottleneck.results.schema import STUDIES
from seq2seq_bottleneck.settings.concerns import NAMED
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.grid import make_grid
from seq2seq_bottleneck.settings.sweep import experiment_names, load_sweep
from seq2seq_bottleneck.studies.catalogue import find_study
from seq2seq_bottleneck.studies.kept import keep
from seq2seq_bottleneck.studies.probing import write_table
from seq2seq_bottleneck.studies.whole import (
    PARTS,
    REAL,
    SIDE,
    asked_runs,
    is_here,
    parts_named,
    studies_left,
)

BY_NAME = {part.name: part for part in PARTS}


def test_every_sweep_has_a_part_but_those_that_are_an_arm_of_another():
    named = [part.sweep for part in PARTS if part.sweep]
    assert set(named) | {"real_vindication"} <= set(experiment_names())
    assert set(experiment_names()) - set(named) - {"real_vindication"} == {
        "failure_pattern", "real_failure_pattern",
    }  # fmt: skip
    for arm in ("failure_pattern", "real_failure_pattern"):
        pair = load_sweep(arm.replace("failure_pattern", "vindication"))
        (cell,) = make_grid(load_sweep(arm)).cells
        assert cell.settings in {each.settings for each in make_grid(pair).cells}


def test_every_part_has_a_folder_of_its_own_named_by_its_sweep():
    names = [part.name for part in (*PARTS, *REAL)]
    assert len(names) == len(set(names))
    assert {part.name for part in PARTS if part.name != part.sweep} == {"bench"}


def test_every_study_is_in_exactly_one_part():
    assert Counter(study for part in PARTS for study in part.studies) == dict.fromkeys(STUDIES, 1)


def test_every_claim_has_the_part_that_makes_what_decides_it():
    for claim in CLAIMS:
        part = BY_NAME[claim.home]
        assert not claim.study or claim.study in part.studies, claim.id
        assert not claim.makes.startswith("sweep") or part.sweep == claim.makes.split()[1]


def test_c12_is_decided_by_the_part_that_trains_both_arms_twice_as_long():
    (c12,) = [claim for claim in CLAIMS if claim.id == "C12"]

    def trained(name):
        cells = make_grid(load_sweep(name)).cells
        return {(each.value("model.attention"), each.value("training.updates")) for each in cells}

    twice = {("none", 4_000), ("additive", 4_000)}
    assert [name for name in BY_NAME if name != "bench" and twice <= trained(name)] == [c12.home]


def test_the_seeds_are_those_that_were_asked_for():
    seeds = {part.name: part.seeds for part in PARTS}
    assert {name for name, count in seeds.items() if count == 1} == {*SIDE, "bench"}
    assert seeds["vindication"] == 5
    assert {seeds[name] for name in ("context_size", "controls", "capacity")} == {3}
    assert [part.name for part in PARTS if part.side] == list(SIDE)


def test_there_is_a_part_for_every_named_corpus():
    assert sorted(part.corpus for part in REAL) == sorted(NAMED)
    assert [(part.name, part.seeds) for part in REAL[:3]] == [
        ("real_canada-laws", 2), ("real_multi30k", 1), (f"real_{REAL[2].corpus}", 1),
    ]  # fmt: skip


def test_a_part_on_real_text_is_here_once_that_has_been_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert all(map(is_here, PARTS))
    assert not any(map(is_here, REAL))
    folder_of("multi30k").mkdir(parents=True)
    record = dict.fromkeys(("name", "licence", "citation", "fetched"), "")
    record |= {"pairs": {}, "left_out": {}, "files": {}, "sources": [], "limit": None}
    (folder_of("multi30k") / SOURCE).write_text(json.dumps(record))
    assert [part.name for part in filter(is_here, REAL)] == ["real_multi30k"]
    folder_of("tatoeba").mkdir()
    (folder_of("tatoeba") / SOURCE).write_text("damaged")
    assert [part.name for part in filter(is_here, REAL)] == ["real_multi30k", "real_tatoeba"]


LENGTH = find_study("length")
FOUND = {"words": [1.0]}


def write_rows(folder, *runs):
    """The study's table of the folder, with a row for each of these runs and for their mean."""
    rows = [{"value": 1.0}, *({"run": run, "seed": 1, "value": 1.0} for run in runs)]
    write_table(replace(LENGTH, summarise=lambda _: rows), [], folder)


@pytest.fixture
def put(tmp_path):
    """Two finished runs to which the study ``length`` was put."""
    for name in ("one", "two"):
        write_begun(tmp_path, name, planted_settings("none"), "done")
        keep(tmp_path / "runs" / name, LENGTH, FOUND)
    write_rows(tmp_path, "one", "two")
    return tmp_path


def test_a_study_is_done_when_all_runs_are_measured_and_in_its_table(put):
    assert studies_left(["length", "fit"], put) == ["fit"]
    write_rows(put, "one")
    assert studies_left(["length"], put) == ["length"]


def test_a_study_is_left_where_a_run_is_new_or_was_measured_by_an_older_version(put):
    keep(put / "runs" / "one", replace(LENGTH, version=LENGTH.version - 1), FOUND)
    assert studies_left(["length"], put) == ["length"]
    keep(put / "runs" / "one", LENGTH, FOUND)
    assert studies_left(["length"], put) == []
    write_begun(put, "three", planted_settings("dot"), "done")
    assert studies_left(["length"], put) == ["length"]


def test_a_study_is_put_to_the_first_three_seeds(tmp_path):
    for seed in (5, 1, 4, 2):
        settings = planted_settings("none", seed=seed)
        write_begun(tmp_path, f"seed{seed}", settings, "done")
    write_begun(tmp_path, "other", planted_settings("dot", seed=1), "done")
    names = [run.name for run in asked_runs(LENGTH, tmp_path)]
    assert names == ["other", "seed1", "seed2", "seed4"]
    for name in names:
        keep(tmp_path / "runs" / name, LENGTH, FOUND)
    write_rows(tmp_path, *names)
    assert studies_left(["length"], tmp_path) == []
    keep(tmp_path / "runs" / "seed5", LENGTH, FOUND)
    write_rows(tmp_path, *names, "seed5")
    assert studies_left(["length"], tmp_path) == []


def test_parts_are_found_by_their_names_in_their_order():
    assert [part.name for part in parts_named(["bench", "vindication"])] == ["vindication", "bench"]
    assert [part.name for part in parts_named(["real_multi30k"])] == ["real_multi30k"]
    with pytest.raises(UsageError, match="no part 'multi30k'"):
        parts_named(["multi30k"])


def test_a_study_of_no_runs_is_left(tmp_path):
    assert studies_left(["length"], tmp_path) == ["length"]
