"""The figures over context sizes: compression, and the map of context size and length."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb
from planted import LENGTHS, write_planted, write_sizes

from seq2seq_bottleneck.figures.registry import make_figure
from seq2seq_bottleneck.figures.style import ATTENTION
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.pages import make_page

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


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """One context size, no sentence of the second bucket."""
    folder = tmp_path_factory.mktemp("single")
    arms = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.05] * 5}
    write_planted(folder, arms, keep=frozenset(LENGTHS) - {15})
    return folder


def rows_of(data, arm, kind="mean"):
    return data[(data["arm"] == arm) & (data["kind"] == kind)]


def test_compression_has_the_tables_numbers_of_both_arms_and_the_slides(several):
    _, data = make_figure("compression", several)
    frame = make_page("context-size", load_bundle(several)).frame
    for arm, column in (("none", "bleu_none"), ("additive", "bleu_attention")):
        means, table = rows_of(data, arm), frame[frame[column].notna()]
        assert len(means) == len(table) == 5 * (3 if arm == "none" else 2)
        for drawn, known in zip(means.to_dict("records"), table.to_dict("records"), strict=True):
            assert drawn["control"] == f"context {known['context_size']}"
            assert drawn["note"] == f"{known['bucket']} source words"
            assert float(drawn["x"]) == pytest.approx(known["compression_ratio"], rel=1e-5)
            for end, name in ENDS.items():
                assert drawn[end] == known[f"{column}{name}"]
            assert drawn["n"] == known["n"] == 12
        seeds = rows_of(data, arm, "seed").groupby(["control", "x"], sort=False)["value"].mean()
        assert seeds.to_numpy() == pytest.approx(means["value"].to_numpy())
    slide = data[data["kind"] == "slide"]
    assert slide[["x", "arm", "value"]].to_numpy().tolist() == [
        ["2", "none", 35.2], ["5", "none", 28.5], ["10", "none", 18.7],
        ["15", "none", 12.4], ["20", "none", 8.1],
    ]  # fmt: skip


def test_compression_has_a_shade_and_a_marker_for_each_context_size_and_says_what_c1_does(several):
    figure, _ = make_figure("compression", several)
    verdict = make_page("compression", load_bundle(several)).judged[0]
    text = figure.texts[-1].get_text().replace("\n", " ")
    assert f"{verdict.value:.3f} [{verdict.low:.3f}, {verdict.high:.3f}]; " in text
    assert f"(C1: {verdict.verdict}): " in text
    markers = []
    for axes, steps in zip(figure.axes, (3, 2), strict=True):
        lines = [bars.lines[0] for bars in axes.containers]
        markers.append({line.get_marker() for line in lines})
        assert len(markers[-1]) == steps
        assert all(np.diff([sum(to_rgb(line.get_color())) for line in lines]) < -0.1)
    labels = [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()]
    assert labels[:3] == [f"context {size}" for size in SIZES]
    assert markers[1] < markers[0]  # a context size has one marker, with attention and without
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_compression_of_one_context_size_says_that_it_decides_nothing(single):
    figure, data = make_figure("compression", single)
    assert set(data["control"]) == {"context 32", ""}
    assert len(rows_of(data, "none")) == len(rows_of(data, "additive")) == 4
    assert "(C1: not measured): two context sizes" in figure.texts[-1].get_text()
    colour = figure.axes[0].containers[0].lines[0].get_color()
    assert to_hex(colour).upper() == ATTENTION["none"]


def test_the_map_has_the_tables_numbers_and_blanks(several):
    figure, data = make_figure("context-length", several)
    frame = make_page("context-size", load_bundle(several)).frame
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
        written = [text.get_text() for text in axes.texts]
        assert written[::2] == [form.format(value) for value in values]
        assert len(written) == 2 * len(values)
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
        assert max(text.get_window_extent().width for text in axes.texts) < 0.85 * cell


@pytest.mark.parametrize("name", ["compression", "context-length"])
def test_one_arm_has_one_panel_and_without_the_arm_without_attention_there_is_none(several, name):
    figure, _ = make_figure(name, several, where=["attention=none"])
    assert [axes.get_title() for axes in figure.axes] == ["Without attention"]
    with pytest.raises(UserError, match="none"):
        make_figure(name, several, where=["attention=additive"])
