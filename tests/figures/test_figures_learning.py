"""The learning curves by bucket: the logs' numbers, and what is said where there are none."""

import numpy as np
import pytest
from planted import write_planted
from planted_logs import BUCKETS, loss, write_log, write_older_log

from seq2seq_bottleneck.figures.registry import make_figure
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.settings.errors import UserError

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
RUNS = ["none1x1", "additive1x1", "none2x1", "additive2x1"]


@pytest.fixture
def folder(tmp_path):
    """A store of two arms and two seeds with their logs."""
    write_planted(tmp_path, ARMS)
    for number, run in enumerate(RUNS):
        write_log(tmp_path / "runs" / run, number)
    return tmp_path


def test_a_panel_is_a_bucket_and_a_line_the_mean_over_seeds(folder):
    figure, data = make_figure("learning", folder)
    titles = [f"{bucket} source words" for bucket in BUCKETS[:-1]]
    assert [axes.get_title() for axes in figure.axes] == titles  # the last one is empty
    means = data[data["kind"] == "mean"]
    assert len(means) == 2 * 2 * 4
    for row in means.to_dict("records"):
        place, update = titles.index(row["panel"]), int(row["x"])
        own = [loss(update, place, n) for n, run in enumerate(RUNS) if run.startswith(row["arm"])]
        assert row["value"] == pytest.approx(np.mean(own))
        assert (row["low"], row["high"]) == pytest.approx(
            (np.mean(own) - 1.96 * 0.05, np.mean(own) + 1.96 * 0.05)
        )
        assert row["n"] == 20
        seeds = data[(data["kind"] == "seed") & (data["arm"] == row["arm"])]
        seeds = seeds[(seeds["panel"] == row["panel"]) & (seeds["x"] == row["x"])]
        assert list(seeds["value"]) == pytest.approx(own)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert all("n = 20 sentences" in axes.get_xlabel() for axes in figure.axes)


def test_a_bundle_shows_the_same(folder, tmp_path):
    bundle = tmp_path / "bundle"
    write_bundle(finished_runs(folder), bundle, {})
    assert make_figure("learning", bundle)[1].equals(make_figure("learning", folder)[1])


def test_runs_that_did_not_log_it_are_told(folder):
    write_older_log(folder / "runs" / "none2x1")
    figure, data = make_figure("learning", folder)
    assert "Of 1 run there is no such log." in figure.texts[-1].get_text().replace("\n", " ")
    means = data[(data["kind"] == "mean") & (data["arm"] == "none")]
    assert means["value"].iloc[0] == pytest.approx(loss(5, 0, 0))
    for run in RUNS:
        write_older_log(folder / "runs" / run)
    with pytest.raises(UserError, match=r"did not log .* this version .*--force") as caught:
        make_figure("learning", folder)
    assert "\n" not in str(caught.value)


def test_a_validation_that_one_seed_did_not_log_has_no_mean(folder):
    """Resumed from a checkpoint of an older version: the first ones are missing."""
    write_log(folder / "runs" / "none2x1", 2, updates=(10,))
    _, data = make_figure("learning", folder)
    assert set(data.loc[data["arm"] == "none", "x"]) == {"10"}
    assert set(data.loc[data["arm"] == "additive", "x"]) == {"5", "10"}


def test_of_one_sentence_there_is_no_interval(folder):
    for number, run in enumerate(RUNS):
        write_log(folder / "runs" / run, number, standard_error=None, sentences=1)
    figure, data = make_figure("learning", folder)
    assert data.loc[data["kind"] == "mean", ["low", "high"]].isna().all(axis=None)
    figure.draw_without_rendering()


def test_one_arm_alone_is_drawn(folder):
    _, data = make_figure("learning", folder, where=["attention=none"])
    assert set(data["arm"]) == {"none"}
