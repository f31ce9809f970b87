"""The figures of runs: their numbers are the tables', what is drawn can be read; and as files."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from listed import write_relisted
from matplotlib.colors import to_hex
from planted import (
    planted_settings,
    sentences,
    translations,
    write_planted,
    write_run,
    write_sizes,
)
from planted_arms import HIGH, LOW, with_controls
from planted_logs import BUCKETS, loss, write_log, write_older_log
from planted_probes import plant

from seq2seq_bottleneck.cli import main
from seq2seq_bottleneck.figures.draw import ATTENTION
from seq2seq_bottleneck.figures.plot import drawn_buckets
from seq2seq_bottleneck.figures.registry import BASELINE, image, make_figure
from seq2seq_bottleneck.lecture.slides import L_FAIL, L_VIND
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import finished_runs
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.pages import make_page
from seq2seq_bottleneck.tables.run_tables import arms, run_data

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
RUNS = ["none1x1", "additive1x1", "none2x1", "additive2x1"]
REVERSED = "reversed source"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    write_planted(folder, ARMS)
    return folder


@pytest.fixture(scope="module")
def controls(tmp_path_factory):
    """Both arms and uniform weights; the source reversed without attention; two seeds each."""
    return with_controls(tmp_path_factory.mktemp("controls"), seeds=(1, 2)).write()


@pytest.fixture
def logged(tmp_path):
    """A store of two arms and two seeds with their logs."""
    write_planted(tmp_path, ARMS)
    for number, name in enumerate(RUNS):
        write_log(tmp_path / "runs" / name, number)
    return tmp_path


def note(figure):
    """The text below a figure."""
    return " ".join(figure.texts[-1].get_text().split())


def places_of(figure):
    """The categories of a figure's panels, from the left, without their counts."""
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    return [label.partition("\n")[0] for label in labels]


def test_bleu_has_the_tables_numbers_seeds_and_the_slides_numbers(bundle):
    figure, data = make_figure("bleu", bundle)
    table = run_data("vindication", [compare(Results.open(bundle))])
    for arm, column in (("none", "none"), ("additive", "attention")):
        kinds = dict(list(data[data["arm"] == arm].groupby("kind")))
        for end, name in (("value", ""), ("low", "_low"), ("high", "_high")):
            assert list(kinds["mean"][end]) == list(table[f"bleu_{column}{name}"])
        assert list(kinds["mean"]["n"]) == list(table["n"])
        seeds = kinds["seed"].groupby("x", sort=False)["value"].mean().to_numpy()
        assert seeds == pytest.approx(kinds["mean"]["value"].to_numpy())
        assert list(kinds["slide"]["value"]) == [getattr(row, column) for row in L_VIND.values()]
    labels = [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()]
    assert labels[-2:] == ["none, slide", "attention, slide"]


def test_bleu_of_one_arm_is_next_to_the_failure_pattern(bundle):
    _, data = make_figure("bleu", bundle, where=["attention=none"])
    assert set(data["arm"]) == {"none"}
    printed = data.loc[data["kind"] == "slide", "value"]
    assert list(printed) == [row.bleu for row in L_FAIL.values()]


def test_a_bucket_too_small_for_a_verdict_is_left_out_and_named(tmp_path):
    """Two sentences of 31-40 words were a whole panel of Multi30k's arms."""
    few = sentences()[:-10]  # two are left of the longest
    runs = [
        write_run(tmp_path, arm, planted_settings(arm), translations(few, ARMS[arm], [1]), few)
        for arm in ARMS
    ]
    write_bundle(runs, tmp_path)
    for name, kind, drawn in (("bleu", "x", 4), ("arms", "panel", 2)):
        figure, data = make_figure(name, tmp_path)
        assert data[kind].nunique() == drawn
        assert "41+" not in " ".join(data[kind])
        assert "Left out: 41+ (n = 2)." in note(figure)


def test_arms_have_the_tables_numbers_of_the_shortest_and_the_longest_bucket(controls):
    _, data = make_figure("arms", controls)
    table = arms(Results.open(controls)).set_index(["arm", "bucket"])
    means, seeds = (data[data["kind"] == kind] for kind in ("mean", "seed"))
    assert len(means) == 2 * 4
    assert len(seeds) == 2 * len(means)
    for row in means.to_dict("records"):
        name = row["arm"] if row["x"] == FORWARD else f"{row['arm']} {row['x']}"
        expected = table.loc[(name, row["panel"].removesuffix(" source words"))]
        for end, column in (("value", "bleu"), ("low", "bleu_low"), ("high", "bleu_high")):
            assert row[end] == expected[column]
        assert row["n"] == expected["n"] == 12
    averaged = seeds.groupby(["panel", "x", "arm"], sort=False)["value"].mean()
    assert averaged.to_numpy() == pytest.approx(means["value"].to_numpy())


def test_a_place_is_what_was_changed_and_each_of_its_arms_has_its_look(controls):
    figure, data = make_figure("arms", controls)
    assert places_of(figure) == [BASELINE, REVERSED]
    assert [axes.get_title() for axes in figure.axes] == ["5-10 source words", "41+ source words"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert all("n = 12 sentences" in axes.get_xlabel() for axes in figure.axes)
    names = ["none", "additive", "uniform"]
    assert list(data["arm"].unique()) == names
    legend = figure.subfigs[0].legends[0]
    assert [text.get_text() for text in legend.get_texts()] == names
    for axes in figure.axes:
        lines = [bars.lines[0] for bars in axes.containers]
        colours = [to_hex(line.get_color()).upper() for line in lines]
        assert colours == [ATTENTION[arm] for arm in names]
        assert [line.get_marker() for line in lines] == ["o", "s", "X"]
        assert [list(line.get_xdata()) for line in lines] == [[0, 1], [0], [0]]
    figure.draw_without_rendering()
    for part in ("within a panel", "95 %", "Corpus", "updates", "seed 1, 2"):
        assert part in note(figure)


def test_where_attention_alone_differs_one_filled_bucket_is_one_panel(tmp_path):
    arms = {"none": LOW, "additive": HIGH, "dot": HIGH}
    write_planted(tmp_path, arms, seeds=1, keep=frozenset({15}))
    figure, data = make_figure("arms", tmp_path)
    assert [axes.get_title() for axes in figure.axes] == ["11-20 source words"]
    assert places_of(figure) == list(data["x"].unique()) == ["none", "additive", "dot"]


def test_learning_has_a_panel_a_bucket_and_a_line_that_is_the_mean_over_seeds(logged, tmp_path):
    figure, data = make_figure("learning", logged)
    titles = [f"{bucket} source words" for bucket in BUCKETS[:-1]]
    assert [axes.get_title() for axes in figure.axes] == titles  # the last one is empty
    means = data[data["kind"] == "mean"]
    assert len(means) == 2 * 2 * 4
    for row in means.to_dict("records"):
        place, update = titles.index(row["panel"]), int(row["x"])
        known = [loss(update, place, n) for n, run in enumerate(RUNS) if run.startswith(row["arm"])]
        half = 1.96 * 0.05
        mean = np.mean(known)
        expected = mean, mean - half, mean + half
        assert [row[end] for end in ("value", "low", "high")] == pytest.approx(expected)
        assert row["n"] == 20
        seeds = data[(data["kind"] == "seed") & (data["arm"] == row["arm"])]
        seeds = seeds[(seeds["panel"] == row["panel"]) & (seeds["x"] == row["x"])]
        assert list(seeds["value"]) == pytest.approx(known)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert all("n = 20 sentences" in axes.get_xlabel() for axes in figure.axes)
    write_bundle(finished_runs(logged), tmp_path / "bundle")
    assert make_figure("learning", tmp_path / "bundle")[1].equals(data)


def test_runs_that_did_not_log_their_losses_are_refused(logged):
    for run in RUNS:
        write_older_log(logged / "runs" / run)
    with pytest.raises(UserError, match=r"^[^\n]*did not log .* this version .*--force[^\n]*$"):
        make_figure("learning", logged)


def example(sentence, words):
    weights = [[1.0 / words] * words, [1.0] + [0.0] * (words - 1)]
    return {
        "sentence": sentence, "source": [f"s{place}" for place in range(words)],
        "reference": "a b", "hypothesis": ["a", "b"], "weights": weights,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lengths", "drawn"), [((3, 5), [1, 2]), ((60, 20, 5, 70), [3, 2]), ((60, 70), [1])]
)
def test_attention_is_of_the_shortest_example_and_the_longest_with_room(lengths, drawn, tmp_path):
    write_planted(tmp_path, ARMS, seeds=1)
    with pytest.raises(UserError, match="no run with attention and examples"):
        make_figure("attention", tmp_path)
    examples = [example(number, words) for number, words in enumerate(lengths, 1)]
    for run in (tmp_path / "runs").iterdir():
        write_relisted(run / "examples.json", json.dumps(examples))
    figure, data = make_figure("attention", tmp_path)
    assert set(data["run"]) == {"additive1x1"}
    assert list(data["sentence"].unique()) == drawn
    for axes, sentence in zip(figure.axes, drawn, strict=False):
        words = lengths[sentence - 1]
        weights = data.loc[data["sentence"] == sentence, "weight"]
        assert list(weights) == [1 / words] * words + [1.0] + [0.0] * (words - 1)
        assert axes.images[0].get_array().shape == (2, words)
    counted = f"n = {len(drawn)} sentence{'s' * (len(drawn) > 1)} of one run"
    assert f"{counted}: additive; grammar; 10 training pairs; context 32; 10 up" in note(figure)


# Over context sizes: compression, and the map of context size and length.

SIZES, LENGTHS_OF = (8, 16, 32), (7, 15, 25, 35, 50)
NONE = {(size, "none"): [0.007 * 16 * n / size for n in LENGTHS_OF] for size in SIZES}
CELLS = NONE | {(size, "additive"): [0.05] * 5 for size in (8, 32)}
"""With attention one context size was not run."""
ENDS = {"value": "", "low": "_low", "high": "_high"}


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    write_sizes(folder, CELLS, seeds=2, changes={"hidden_size": 32})
    return folder


def rows_with(data, arm, kind="mean"):
    return data[(data["arm"] == arm) & (data["kind"] == kind)]


def test_compression_has_the_tables_numbers_of_both_arms_and_the_slides(several):
    _, data = make_figure("compression", several)
    frame = make_page("context-size", Results.open(several)).frame
    for arm, column in (("none", "bleu_none"), ("additive", "bleu_attention")):
        means, table = rows_with(data, arm), frame[frame[column].notna()]
        assert len(means) == len(table) == 5 * (3 if arm == "none" else 2)
        for drawn, known in zip(means.to_dict("records"), table.to_dict("records"), strict=True):
            assert drawn["control"] == f"context {known['context_size']}"
            assert drawn["note"] == f"{known['bucket']} source words"
            assert float(drawn["x"]) == pytest.approx(known["compression_ratio"], rel=1e-5)
            for end, name in ENDS.items():
                assert drawn[end] == known[f"{column}{name}"]
            assert drawn["n"] == known["n"] == 12
        seeds = rows_with(data, arm, "seed").groupby(["control", "x"], sort=False)["value"].mean()
        assert seeds.to_numpy() == pytest.approx(means["value"].to_numpy())
    slide = data[data["kind"] == "slide"]
    assert slide[["x", "arm", "value"]].to_numpy().tolist() == [
        ["2", "none", 35.2], ["5", "none", 28.5], ["10", "none", 18.7],
        ["15", "none", 12.4], ["20", "none", 8.1],
    ]  # fmt: skip


def test_compression_has_a_marker_for_each_context_size_and_says_what_c1_does(several):
    figure, _ = make_figure("compression", several)
    verdict = make_page("compression", Results.open(several)).judged[0]
    text = figure.texts[-1].get_text().replace("\n", " ")
    assert f"{verdict.value:.3f} [{verdict.low:.3f}, {verdict.high:.3f}]; " in text
    assert f"(C1: {verdict.verdict}): " in text
    markers = []
    for axes, steps in zip(figure.axes, (3, 2), strict=True):
        markers.append({bars.lines[0].get_marker() for bars in axes.containers})
        assert len(markers[-1]) == steps
    labels = [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()]
    assert labels[:3] == [f"context {size}" for size in SIZES]
    assert markers[1] < markers[0]  # a context size has one marker, with attention and without
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_the_map_has_the_tables_numbers_and_blanks(several):
    figure, data = make_figure("context-length", several)
    frame = make_page("context-size", Results.open(several)).frame
    panels = list(data.groupby("panel", sort=False))
    columns = ("bleu_none", "bleu_attention", "gain")
    for axes, (panel, rows), column in zip(figure.axes, panels, columns, strict=True):
        assert axes.get_title() == panel
        for end, name in ENDS.items():
            pd.testing.assert_series_equal(
                rows[end].reset_index(drop=True), frame[f"{column}{name}"], check_names=False
            )
        image = axes.images[0].get_array()
        assert image.shape == (3, 5)
        np.testing.assert_array_equal(image.filled(np.nan).ravel(), frame[column])
        form = "{:+.1f}" if column == "gain" else "{:.1f}"
        values = frame[column].dropna()
        written = [text.get_text().partition("\n")[0] for text in axes.texts]
        assert written == [form.format(value) for value in values]
        assert axes.get_ylim() == (-0.5, 2.5)  # the largest context on top
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["8", "16", "32"]
    assert figure.axes[0].get_xticklabels()[0].get_text() == "5-10\nn 12"
    blank = data[(data["context_size"] == 16) & (data["panel"] != "Without attention")]
    assert blank["value"].isna().all()
    none, attention, gain = (axes.images[0].norm for axes in figure.axes)
    assert none is attention
    assert (none.vmin, none.vmax) == (0.0, data.loc[data["arm"] != "", "value"].max())
    assert gain.vmin <= 0 <= gain.vmax
    figure.draw_without_rendering()  # no number touches the edges of its cell
    for axes in figure.axes:
        cell = axes.get_window_extent().width / axes.images[0].get_array().shape[1]
        assert max(text.get_window_extent().width for text in axes.texts) < cell


@pytest.mark.parametrize("name", ["compression", "context-length"])
def test_one_arm_has_one_panel_and_without_the_arm_without_attention_there_is_none(several, name):
    figure, _ = make_figure(name, several, where=["attention=none"])
    assert [axes.get_title() for axes in figure.axes] == ["Without attention"]
    with pytest.raises(UserError, match="no arm without attention"):
        make_figure(name, several, where=["attention=additive"])


# As files.

BEGINS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("ending", BEGINS)
def test_equal_data_give_equal_bytes_in_each_format(ending, tmp_path):
    plant(tmp_path, "length")
    first, again = (image(make_figure("length", tmp_path)[0], ending) for _ in range(2))
    assert first.startswith(BEGINS[ending])
    assert first == again


def test_the_numbers_lie_beside_the_figure(tmp_path, capsys):
    plant(tmp_path, "length")
    made = tmp_path / "slides" / "how long.SVG"
    assert main.run(["plot", "length", "--results", str(tmp_path), "-o", str(made)]) == 0
    assert capsys.readouterr().out == f"{made}: its numbers are in {made.with_suffix('.csv')}\n"
    assert made.read_bytes().startswith(b"<?xml")
    with made.with_suffix(".csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    _, data = make_figure("length", tmp_path)
    assert [float(row["value"]) for row in rows] == pytest.approx(list(data["value"]), rel=1e-5)
    assert [row["kind"] for row in rows] == list(data["kind"])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["length", "-o", "a.jpg"], 2, "'a.jpg': the name of a figure ends in .png, .svg, .pdf"),
        (["survivals"], 2, "did you mean 'survival'?"),
        (["length", "--where", "seed=1"], 2, "--where chooses runs"),
    ]
)  # fmt: skip
def test_errors_name_the_way_out_and_leave_no_file(
    arguments, code, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main.run(["plot", *arguments, "--results", str(tmp_path)]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_all_buckets_are_drawn_where_under_two_are_large_enough():
    assert drawn_buckets(["a", "b", "c"], [9, 10, 11]) == (["b", "c"], "Left out: a (n = 9).")
    assert drawn_buckets(["a", "b", "c"], [9, 0, 11]) == (["a", "c"], "")
