"""The figure of all arms: rows of what was changed, in the shortest and the longest bucket."""

import pytest
from matplotlib.colors import to_hex
from planted import planted_settings, sentences, write_planted, write_run, write_sizes
from planted_arms import HIGH, LOW, Store, with_controls

from seq2seq_bottleneck.figures.registry import make_figure
from seq2seq_bottleneck.figures.runs import MOST_ROWS
from seq2seq_bottleneck.figures.style import ATTENTION
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.run_tables import arms

FORWARD, REVERSED = "reverse_source=false", "reverse_source=true"


@pytest.fixture(scope="module")
def controls(tmp_path_factory):
    """Both arms and uniform weights; the source reversed without attention; two seeds each."""
    return with_controls(tmp_path_factory.mktemp("controls"), seeds=(1, 2)).write()


def rows_of(figure):
    """The names of the rows from above."""
    axes = figure.axes[0]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    return [label.get_text() for label in axes.get_yticklabels()]


def _heights(bars):
    """Where an arm's means stand on the y axis as it is drawn."""
    line = bars.lines[0]
    pixels = line.get_transform().transform(line.get_xydata())
    return line.axes.transData.inverted().transform(pixels)[:, 1]


def test_it_has_the_tables_numbers_of_the_shortest_and_the_longest_bucket(controls):
    _, data = make_figure("arms", controls)
    table = arms(load_bundle(controls)).set_index(["arm", "bucket"])
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


def test_a_row_is_what_was_changed_and_its_arms_have_a_lane_each(controls):
    figure, data = make_figure("arms", controls)
    assert rows_of(figure) == [FORWARD, REVERSED]
    assert [axes.get_title() for axes in figure.axes] == ["5-10 source words", "41+ source words"]
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    assert all("n = 12 sentences" in axes.get_xlabel() for axes in figure.axes)
    assert list(data["arm"].unique()) == ["none", "additive", "uniform"]
    figure.draw_without_rendering()
    first, second, third = (_heights(bars) for bars in figure.axes[0].containers)
    assert [round(height) for height in (*first, *second, *third)] == [0, 1, 0, 0]
    assert -0.5 < first[0] < second[0] < third[0] < 0.5
    told = figure.texts[-1].get_text()
    for part in ("within a panel", "95 %", "Corpus", "updates", "seed 1, 2"):
        assert part in told


def test_an_arm_has_its_colour_and_its_marker_of_all_figures(controls):
    figure, _ = make_figure("arms", controls)
    arms_of = ("none", "additive", "uniform")
    legend = figure.subfigs[0].legends[0]
    assert [text.get_text() for text in legend.get_texts()] == list(arms_of)
    for axes in figure.axes:
        lines = [bars.lines[0] for bars in axes.containers]
        colours = [to_hex(line.get_color()).upper() for line in lines]
        assert colours == [ATTENTION[arm] for arm in arms_of]
        assert [line.get_marker() for line in lines] == ["o", "s", "X"]


def test_the_values_of_one_setting_are_in_their_order_the_usual_one_among_them(tmp_path):
    cells = {(size, "none"): LOW for size in (128, 64, 256)}
    write_sizes(tmp_path, cells)
    figure, _ = make_figure("arms", tmp_path)
    assert rows_of(figure) == [f"context_size={size}" for size in (64, 128, 256)]
    assert "Baseline" not in figure.texts[-1].get_text()


def test_the_order_is_of_numbers_and_not_of_their_digits(tmp_path):
    store = Store(tmp_path)
    shares = (0.75, 1.0, 0.5, 0.625)
    for share in shares:
        store.add(f"a{share}", "none", LOW, training={"teacher_forcing": share})
    figure, _ = make_figure("arms", store.write())
    assert rows_of(figure) == [f"teacher_forcing={share:g}" for share in sorted(shares)]


def test_where_attention_alone_differs_each_has_a_row(tmp_path):
    write_planted(tmp_path, {"none": LOW, "additive": HIGH, "dot": HIGH}, seeds=1)
    figure, data = make_figure("arms", tmp_path)
    assert rows_of(figure) == list(data["x"].unique()) == ["none", "additive", "dot"]
    places = [bars.lines[0].get_ydata().item() for bars in figure.axes[0].containers]
    assert places == [0.0, 1.0, 2.0]


def test_a_group_names_its_row_where_it_is_that_rows_alone(tmp_path):
    model = {"reverse_source": True}
    groups = {"a": "plain none", "b": "plain dot", "c": "turned", "d": "turned", "e": "twice"}
    texts = sentences()
    changes = {
        "a": planted_settings("none"), "b": planted_settings("dot"),
        "c": planted_settings("none", model=model), "d": planted_settings("dot", model=model),
        "e": planted_settings("none", training={"updates": 20}),
    }  # fmt: skip
    runs = [write_run(tmp_path, name, held, texts, texts) for name, held in changes.items()]
    bundle = tmp_path / "bundle"
    write_bundle(runs, bundle, groups)
    figure, data = make_figure("arms", bundle)
    assert rows_of(figure) == ["baseline", f"turned\n{REVERSED}", "twice\nupdates=20"]
    assert "Baseline: what most arms have" in figure.texts[-1].get_text()
    assert set(data.loc[data["x"] == REVERSED, "note"]) == {"turned"}


def test_other_test_sentences_are_counted_at_the_end_of_each_row(tmp_path):
    """Two settings were changed, and one of them left the shortest bucket empty."""
    references = sentences()
    longer = [text for text in references if len(text.split()) > 10]
    joined = planted_settings("none", corpus={"joined": 2})
    turned = planted_settings("none", model={"reverse_source": True})
    held = {"a": (planted_settings("none"), references), "b": (turned, references)}
    held |= {"c": (joined, longer)}
    runs = [write_run(tmp_path, name, each, own, own) for name, (each, own) in held.items()]
    write_bundle(runs, tmp_path, {})
    figure, data = make_figure("arms", tmp_path)
    assert rows_of(figure) == ["baseline", REVERSED, "joined=2"]
    assert set(data.loc[data["x"] == "joined=2", "panel"]) == {"41+ source words"}
    short, long = figure.axes
    assert [text.get_text() for text in short.texts] == ["n 12", "n 12", "n 0"]
    assert list(long.texts) == []  # n = 12 of all stands with the axis' name


def test_one_filled_bucket_is_one_panel(tmp_path):
    write_planted(tmp_path, {"none": LOW}, keep=frozenset({15}))
    figure, _ = make_figure("arms", tmp_path)
    assert [axes.get_title() for axes in figure.axes] == ["11-20 source words"]


@pytest.mark.slow
def test_more_rows_than_a_slide_has_room_for_are_refused_with_a_way_out(tmp_path):
    text = sentences()
    sizes = range(8, 8 + MOST_ROWS + 1)
    runs = [
        write_run(tmp_path, f"r{size}", planted_settings("none", model={"context_size": size}),
                  text, text)
        for size in sizes
    ]  # fmt: skip
    write_bundle(runs, tmp_path, {})
    with pytest.raises(UserError, match=r"31 rows of arms, and a figure has room for 30.*--where"):
        make_figure("arms", tmp_path)
    few = ",".join(map(str, sizes[:-1]))
    figure, _ = make_figure("arms", tmp_path, where=[f"context_size={few}"])
    figure.draw_without_rendering()
    assert len(rows_of(figure)) == MOST_ROWS


@pytest.mark.slow
def test_it_is_drawn_without_a_warning(controls):
    make_figure("arms", controls)[0].draw_without_rendering()
