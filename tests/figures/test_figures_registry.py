"""Figures have the tables' numbers, can be read, and become files."""

import json

import pytest
from listed import write_relisted
from matplotlib.colors import to_hex
from planted import write_planted, write_sizes
from planted_arms import Store, with_controls
from planted_probes import plant, rows_of

from seq2seq_bottleneck.cli import main
from seq2seq_bottleneck.figures.draw import ATTENTION
from seq2seq_bottleneck.figures.registry import image, make_figure
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import STUDIES
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.pages import make_page, run_data

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
ENDS = {"value": "", "low": "_low", "high": "_high"}


def note(figure):
    """The text below a figure."""
    return " ".join(figure.texts[-1].get_text().split())


def legend(figure):
    """The names in the legend and their lines."""
    (box,) = figure.subfigs[0].legends
    lines = zip(box.get_texts(), box.legend_handles, strict=True)
    return {text.get_text(): line for text, line in lines}


def test_bleu_has_the_tables_numbers_seeds_and_the_slides_numbers(tmp_path):
    write_planted(tmp_path, ARMS)
    figure, data = make_figure("bleu", tmp_path)
    table = run_data("vindication", [compare(Results.open(tmp_path))])
    for arm, column in (("none", "none"), ("additive", "attention")):
        kinds = dict(list(data[data["arm"] == arm].groupby("kind")))
        for end, name in ENDS.items():
            assert list(kinds["mean"][end]) == list(table[f"bleu_{column}{name}"])
        assert list(kinds["mean"]["n"]) == list(table["n"])
        seeds = kinds["seed"].groupby("x", sort=False)["value"].mean().to_numpy()
        assert seeds == pytest.approx(kinds["mean"]["value"].to_numpy())
        assert list(kinds["slide"]["value"]) == [
            float(row[column]) for row in SLIDES["L-VIND"]["rows"]
        ]
    assert list(legend(figure)) == ["none", "additive", "none, slide", "attention, slide"]
    _, data = make_figure("bleu", tmp_path, where=["attention=none"])
    assert set(data["arm"]) == {"none"}
    printed = data.loc[data["kind"] == "slide", "value"]
    assert list(printed) == [float(row["bleu"]) for row in SLIDES["L-FAIL"]["rows"]]


def test_arms_have_the_tables_numbers_their_own_look_and_the_x_of_their_change(tmp_path):
    folder = with_controls(tmp_path, seeds=(1, 2)).write()
    figure, data = make_figure("arms", folder)
    table = make_page("arms", Results.open(folder)).frame.set_index(["arm", "bucket"])
    means, seeds = (data[data["kind"] == kind] for kind in ("mean", "seed"))
    assert (len(means), len(seeds)) == (8, 16)
    for row in means.to_dict("records"):
        name = row["arm"] if row["x"] == "baseline" else f"{row['arm']}, {row['x']}"
        expected = table.loc[(name, row["panel"].removesuffix(" source words"))]
        for end, column in ENDS.items():
            assert row[end] == expected[f"bleu{column}"]
        assert row["n"] == expected["n"] == 12
    assert [axes.get_title() for axes in figure.axes] == ["5-10 source words", "41+ source words"]
    assert list(legend(figure)) == ["none", "additive", "uniform"]
    for axes in figure.axes:
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == ["baseline\nn 12", "reversed source\nn 12"]


@pytest.mark.parametrize(("lengths", "drawn"), [((60, 20, 5, 70), [3, 2]), ((60, 70), [1])])
def test_attention_is_of_the_shortest_example_and_the_longest_with_room(lengths, drawn, tmp_path):
    write_planted(tmp_path, ARMS, seeds=1)
    with pytest.raises(UserError, match="no run with attention and examples"):
        make_figure("attention", tmp_path)
    examples = [
        {"sentence": place, "source": [f"s{word}" for word in range(words)], "reference": "a b",
         "hypothesis": ["a", "b"], "weights": [[1 / words] * words, [1.0] + [0.0] * (words - 1)]}
        for place, words in [(-1, 2), *enumerate(lengths, 1)]  # the first sentence is the lecture's
    ]  # fmt: skip
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
    assert f"n = {len(drawn)} sentence" in note(figure)


SIZES = (8, 16, 32)
CELLS = {(size, "none"): [0.112 * n / size for n in (7, 15, 25, 35, 50)] for size in SIZES}
CELLS |= {(size, "additive"): [0.05] * 5 for size in (8, 32)}
"""With attention one context size was not run."""


def test_compression_has_the_tables_numbers_and_a_line_for_each_context_size(tmp_path):
    write_sizes(tmp_path, CELLS, seeds=2, changes={"hidden_size": 32})
    frame = make_page("context-size", Results.open(tmp_path)).frame
    figure, data = make_figure("compression", tmp_path)
    for arm, column in (("none", "bleu_none"), ("additive", "bleu_attention")):
        means = data[(data["arm"] == arm) & (data["kind"] == "mean")]
        for drawn, known in zip(
            means.to_dict("records"), frame[frame[column].notna()].to_dict("records"), strict=True
        ):
            assert drawn["control"] == f"context {known['context_size']}"
            assert float(drawn["x"]) == pytest.approx(known["compression_ratio"], rel=1e-5)
            assert [drawn[end] for end in ENDS] == [known[f"{column}{n}"] for n in ENDS.values()]
            assert drawn["n"] == known["n"] == 12
    assert list(legend(figure)) == [*(f"context {size}" for size in SIZES), "none, slide"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_learning_has_the_tables_numbers_and_a_line_for_each_length(tmp_path):
    store = Store(tmp_path)
    for updates, lost in ((10, 0.6), (20, 0.3), (40, 0.1)):
        for arm in ("none", "additive")[: 2 if updates < 40 else 1]:
            store.add(f"{arm}{updates}", arm, [lost] * 5, training={"updates": updates})
    store.write()
    frame = make_page("arms", Results.open(tmp_path)).frame
    figure, data = make_figure("learning", tmp_path)
    drawn = data[data["kind"] == "mean"]
    assert list(drawn["value"]) == list(frame["bleu"])
    assert list(drawn["x"].unique()) == ["10", "20", "40"]
    assert list(legend(figure)) == [f"{bucket} words" for bucket in frame["bucket"].unique()]
    assert [len(axes.get_xticks()) for axes in figure.axes] == [3, 3]
    with pytest.raises(UserError, match="the same number of updates"):
        make_figure("learning", tmp_path, where=["updates=10"])
    for updates in (10, 20):
        training = {"updates": updates, "learning_rate": 0.5}
        store.add(f"fast{updates}", "none", [0.4] * 5, training=training)
    store.write()
    titles = [axes.get_title() for axes in make_figure("learning", tmp_path)[0].axes]
    assert [title.endswith("rate 0.5") for title in titles] == [False, False, True]
    assert all(", rate 0." in title for title in titles)


@pytest.mark.parametrize("study", STUDIES)
def test_each_drawn_number_is_in_the_studys_table(study, tmp_path):
    figure, data = make_figure(study, plant(tmp_path, study))
    scales = {100 if study in ("survival", "alignment", "embeddings") else 1, 100}
    known = {round(scale * row["value"], 6): row for scale in scales for row in rows_of(study)}
    drawn = data[data["kind"] != "slide"]
    assert len(drawn) > 6
    for row in drawn.to_dict("records"):
        source = known[round(row["value"], 6)]
        assert row["arm"] in (source["arm"], "")
        assert (row["kind"] == "seed") == ("seed" in source)
        if row["kind"] == "mean":
            scale = row["value"] / source["value"]
            ends = [scale * source[end] for end in ("low", "high")]
            assert [row["low"], row["high"]] == pytest.approx(ends)
    assert len(figure.axes) == data["panel"].nunique()
    for axes in figure.axes:
        texts = [axes.get_xlabel(), *(label.get_text() for label in axes.get_xticklabels())]
        assert axes.get_ylabel()
        assert "1,234" in " ".join(texts)
    for arm, marker in {"none": "o", "additive": "s"}.items():  # the same in all figures
        line = next(line for name, line in legend(figure).items() if name.startswith(arm))
        assert (to_hex(line.get_color()).upper(), line.get_marker()) == (ATTENTION[arm], marker)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_equal_data_give_equal_bytes_in_each_format(ending, tmp_path):
    rows = [row | {"low": None, "high": None} for row in rows_of("length")]  # without bars
    plant(tmp_path, "length", rows)
    first, again = (image(make_figure("length", tmp_path)[0], ending) for _ in range(2))
    assert first == again
    assert {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[ending] in first[:9]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["length", "-o", "a.jpg"], 2, "'a.jpg': the name of a figure must end in .png"),
        (["survivals"], 2, "did you mean 'survival'?"),
        (["length", "--where", "seed=1"], 2, "--where chooses runs"),
        (["reading"], 1, "bottleneck study reading --results"),
        (["fit"], 1, "has no numbers"),
    ]
)  # fmt: skip
def test_errors_name_the_way_out_and_leave_no_file(
    arguments, code, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    plant(tmp_path / "out", "fit", [])
    assert main.run(["plot", *arguments, "--results", "out"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
