"""A few hundred made-up runs: the tables are those of each run alone, and memory stays small."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[2] / "experiments" / "benchmarks"))

from load import measure
from many_runs import Size, write_store

from seq2seq_bottleneck.figures.registry import make_figure, write_figure
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.scoring.bleu import bleu
from seq2seq_bottleneck.scoring.bootstrap import draw
from seq2seq_bottleneck.settings.concerns import Buckets
from seq2seq_bottleneck.tables.comparison import compare, seeds_text
from seq2seq_bottleneck.tables.pages import make_page

MORE = 60
"""MB that 300 runs may take above 30; as data frames their sentences alone would be 95."""


def by_hand(store, arm, size, place):
    """The arm's mean BLEU of a bucket and its resamples, from each run's CSV file by itself."""
    values, draws = [], []
    for run in (store / "runs").iterdir():
        if f'"attention": "{arm}"' not in (run / "settings.json").read_text():
            continue
        frame = pd.read_csv(run / "sentences.csv")
        inside = Buckets((5, 11, 21, 31, 41)).assign(frame["source_words"].to_numpy()) == place
        counts = frame.loc[inside, list(BLEU_COLUMNS)].to_numpy()
        weights = draw(len(counts), size.resamples, seed=1, bucket=place)
        values.append(float(bleu(counts.sum(axis=0))))
        draws.append(bleu(weights @ counts))
    assert len(values) == size.seeds
    return np.mean(values), np.mean(draws, axis=0)


@pytest.mark.slow
def test_the_mean_over_many_seeds_is_that_of_each_run_alone(tmp_path):
    size = Size(1, 12, sentences=150, resamples=40)
    store = tmp_path / "store"
    write_bundle(write_store(store, size), tmp_path / "bundle", {})
    for folder in (store, tmp_path / "bundle"):
        for arm in compare(load_bundle(folder)).arms:
            for place in (0, 4):
                value, draws = by_hand(store, arm.name, size, place)
                assert arm.estimates[place].value == pytest.approx(value, abs=1e-9)
                assert arm.estimates[place].draws == pytest.approx(draws, abs=1e-9)


@pytest.mark.exhaustive
def test_a_figure_of_hundreds_of_seeds_has_room_for_them(tmp_path):
    write_store(tmp_path, Size(1, 1200, sentences=40, resamples=20))
    figure, data = make_figure("bleu", tmp_path)
    write_figure(figure, data, tmp_path / "bleu.png")
    assert (tmp_path / "bleu.png").stat().st_size > 10_000


def test_many_seeds_are_named_by_their_ranges():
    assert seeds_text([4]) == "seed 4"
    assert seeds_text(range(5, 1205)) == "1,200 seeds from 5 to 1204"


def peak(results):
    """MB that `claims` takes at most."""
    found = measure(["claims", "--results", str(results)])
    assert found["exit"] == 0
    return found["peak_mb"]


@pytest.mark.exhaustive
def test_three_hundred_runs_need_little_memory_and_say_the_same_from_bundle_and_store(tmp_path):
    for name, seeds in (("few", 5), ("many", 50)):
        write_store(tmp_path / name, Size(3, seeds))
        write_bundle(finished_runs(tmp_path / name), tmp_path / name / "bundle", {})
    store, bundle = tmp_path / "many", tmp_path / "many" / "bundle"
    for table in ("context-size", "compression"):
        frames = [make_page(table, load_bundle(folder)).frame for folder in (store, bundle)]
        pd.testing.assert_frame_equal(*frames, check_exact=True)
    few = peak(tmp_path / "few" / "bundle")
    assert peak(bundle) - few < 2 * MORE
