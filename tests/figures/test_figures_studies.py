"""What the figures of studies show is what the studies' tables hold, and how arms look."""

import pytest
from matplotlib.colors import to_hex
from planted_probes import plant, rows_of

from seq2seq_bottleneck.figures.draw import ATTENTION, line_of, marks
from seq2seq_bottleneck.figures.registry import FIGURES, make_figure, study_plot
from seq2seq_bottleneck.results.schema import STUDIES
from seq2seq_bottleneck.settings.errors import UsageError, UserError

PERCENT = {"survival", "alignment", "embeddings"}


@pytest.mark.parametrize("study", STUDIES)
def test_each_drawn_number_is_in_the_studys_table(study, tmp_path):
    assert study in FIGURES
    data = study_plot(study, plant(tmp_path, study)).data
    scales = {100 if study in PERCENT else 1, 100}
    known = {round(scale * row["value"], 6): row for scale in scales for row in rows_of(study)}
    drawn = data[data["kind"] != "slide"]
    assert len(drawn) > 6
    for row in drawn.to_dict("records"):
        source = known[round(row["value"], 6)]
        assert row["arm"] in (source["arm"], "")
        assert row["n"] == 1234
        assert (row["kind"] == "seed") == ("seed" in source)
        if row["kind"] == "mean":
            scale = row["value"] / source["value"]
            ends = [scale * source[end] for end in ("low", "high")]
            assert [row["low"], row["high"]] == pytest.approx(ends)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("study", STUDIES)
def test_a_mean_without_an_interval_is_drawn_without_one(study, tmp_path):
    rows = [row | {"low": None, "high": None} for row in rows_of(study, seeds=0)]
    figure, data = make_figure(study, plant(tmp_path, study, rows))
    means = data[data["kind"] == "mean"]
    assert len(means)
    assert means[["low", "high"]].isna().all(axis=None)
    assert len(figure.axes) == data["panel"].nunique()
    assert all(axes.get_ylabel() and "1,234" in axes.get_xlabel() for axes in figure.axes)
    figure.draw_without_rendering()


def test_an_arm_has_the_same_colour_and_marker_in_all_figures(tmp_path):
    styles = set()
    for study in ("length", "survival", "information"):
        figure, _ = make_figure(study, plant(tmp_path, study))
        (legend,) = figure.subfigs[0].legends
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            if text.get_text() in ("none", "additive"):
                colour = to_hex(handle.get_color()).upper()
                styles.add((text.get_text(), colour, handle.get_marker()))
    markers = {"none": "o", "additive": "s"}
    assert styles == {(arm, ATTENTION[arm], marker) for arm, marker in markers.items()}


def test_variants_of_an_attention_have_its_colour_and_controls_broken_lines():
    names = ("dot", "dot-output", "dot layers=2")
    variants = marks(names)
    assert {variants[name]["color"] for name in names} == {ATTENTION["dot"]}
    assert variants["dot"]["marker"] not in {variants[name]["marker"] for name in names[1:]}
    for controls in (["", "untrained"], ["3,200 updates", "1,600 updates"]):
        assert line_of(controls, controls[0]) == "-"
        assert line_of(controls, controls[1]) == "--"


def test_bits_below_0_are_drawn_at_0_and_survival_below_chance_is_not_cut_off(tmp_path):
    rows = [row | {"value": -5.0, "low": -9.0} for row in rows_of("information", seeds=0)]
    data = study_plot("information", plant(tmp_path, "information", rows)).data
    untrained = data[(data["control"] == "untrained")]
    assert set(untrained["value"]) == {0.0} == set(untrained["low"])
    rows = [row | {"value": -0.05, "low": -0.09} for row in rows_of("survival", seeds=0)]
    figure, _ = make_figure("survival", plant(tmp_path, "survival", rows))
    assert all(axes.get_ylim()[0] <= -9 for axes in figure.axes)


def test_a_panel_of_which_nothing_was_measured_is_left_out(tmp_path):
    rows = [row for row in rows_of("embeddings") if row["measure"] == "same_class"]
    figure, _ = make_figure("embeddings", plant(tmp_path, "embeddings", rows))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["Word class"]


def test_the_slides_dimensions_are_at_its_sentences_length_alone_and_distances_in_order(tmp_path):
    gradients = study_plot("gradients", plant(tmp_path, "gradients")).data
    assert list(dict.fromkeys(gradients["x"])) == ["1-5", "6-10", "11-20", "41+"]
    data = study_plot("dimensions", plant(tmp_path, "dimensions")).data
    slide = data[data["kind"] == "slide"]
    assert slide[["x", "value"]].to_numpy().tolist() == [["21-30", 200.0]]


def test_a_length_beyond_the_tested_ones_has_a_marker_of_a_bound(tmp_path):
    bounds = [row | {"note": "value at least, high at least"} for row in rows_of("capacity", 0)]
    for rows, expected in ((None, 0), (bounds, 2)):
        figure, data = make_figure("capacity", plant(tmp_path, "capacity", rows))
        lines = [line for line in figure.axes[0].lines if len(line.get_xdata())]
        assert sum(line.get_marker() == "^" for line in lines) == expected
    assert set(data["note"]) == {"value at least, high at least"}


def test_a_single_place_on_a_logarithmic_axis_has_room_on_both_sides(tmp_path):
    """Limits that nothing lay between threw the axis out of the picture."""
    figure, data = make_figure("capacity", plant(tmp_path, "capacity"))
    assert set(data["x"].astype(float)) == {256}
    for axes in figure.axes:
        assert axes.get_xlim() == pytest.approx((256 / 2**0.5, 256 * 2**0.5))


def test_without_numbers_the_command_that_measures_them_is_named(tmp_path):
    for name, message in (
        ("reading", "bottleneck study reading --results"),
        ("alignment-gold", "study alignment --gold FILE .* --results"),
        ("cost", "bottleneck bench --out"),
    ):
        with pytest.raises(UserError, match=message):
            make_figure(name, tmp_path)
    with pytest.raises(UserError, match=r"has no numbers; .*export"):
        make_figure("length", plant(tmp_path, "length", []))
    with pytest.raises(UsageError, match="did you mean 'length'"):
        make_figure("lenght", tmp_path)
