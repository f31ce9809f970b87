"""The figures of runs."""

import json

import pytest
from listed import write_relisted
from planted import planted_settings, sentences, translations, write_planted, write_run
from planted_arms import HIGH, LOW, Store

from seq2seq_bottleneck.figures.heatmaps import attending_run, pick, weights_chart
from seq2seq_bottleneck.figures.plot import drawn_buckets, left_out
from seq2seq_bottleneck.figures.registry import make_figure
from seq2seq_bottleneck.lecture.slides import L_FAIL, L_VIND
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.run_tables import run_data

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    write_planted(folder, ARMS)
    return folder


def test_bleu_is_that_of_the_table_with_seeds_and_the_slides_numbers(bundle):
    _, data = make_figure("bleu", bundle)
    table = run_data("vindication", [compare(load_bundle(bundle))])
    for arm, column in (("none", "none"), ("additive", "attention")):
        mine = data[data["arm"] == arm]
        means = mine[mine["kind"] == "mean"]
        for end, name in (("value", ""), ("low", "_low"), ("high", "_high")):
            assert list(means[end]) == list(table[f"bleu_{column}{name}"])
        assert list(means["n"]) == list(table["n"])
        seeds = mine[mine["kind"] == "seed"].groupby("x", sort=False)["value"]
        assert seeds.mean().to_numpy() == pytest.approx(means["value"].to_numpy())
        slide = mine[mine["kind"] == "slide"]
        assert list(slide["value"]) == [getattr(row, column) for row in L_VIND.values()]


@pytest.mark.slow
def test_the_slides_lines_are_faint_and_known_by_their_markers(bundle):
    figure, _ = make_figure("bleu", bundle)
    lines = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert [line.get_marker() for line in lines] == ["o", "s"]
    assert all(line.get_alpha() < 0.7 for line in lines)
    labels = [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()]
    assert labels[-2:] == ["none, slide", "attention, slide"]


def test_bleu_of_one_arm_stands_beside_the_failure_pattern(bundle):
    _, data = make_figure("bleu", bundle, where=["attention=none"])
    assert set(data["arm"]) == {"none"}
    slide = data[data["kind"] == "slide"]
    assert list(slide["value"]) == [row.bleu for row in L_FAIL.values()]
    with pytest.raises(UsageError, match="--where chooses runs"):
        make_figure("length", bundle, where=["attention=none"])


def _example(sentence, words):
    source = [f"s{place}" for place in range(words)]
    weights = [[1.0 / words] * words, [1.0] + [0.0] * (words - 1)]
    words = {"source": source, "reference": "a b", "hypothesis": ["a", "b"]}
    return {"sentence": sentence, **words, "weights": weights}


def test_heatmaps_show_an_example_of_a_run_with_attention(bundle, tmp_path):
    with pytest.raises(UserError, match="no run with attention and examples"):
        make_figure("attention", bundle)
    write_planted(tmp_path, ARMS, seeds=1)
    for run in (tmp_path / "runs").iterdir():
        write_relisted(run / "examples.json", json.dumps([_example(1, 3), _example(2, 5)]))
    figure, data = make_figure("attention", tmp_path)
    assert set(data["run"]) == {"additive1x1"}
    assert len(data) == 2 * 3 + 2 * 5
    assert list(data.loc[data["sentence"] == 1, "weight"]) == [1 / 3] * 3 + [1.0, 0.0, 0.0]
    assert figure.axes[0].images[0].get_array().shape == (2, 3)
    told = " ".join(figure.texts[-1].get_text().split())
    assert "n = 2 sentences of one run: corpus grammar, attention additive, context 32" in told


@pytest.mark.parametrize(
    ("plain", "run", "told"),
    [(True, "bs1", "seed 1. Each"), (False, "as1", "reverse_source=true.")],
)
def test_heatmaps_are_of_a_run_as_most_are_or_tell_what_it_has_instead(tmp_path, plain, run, told):
    store = Store(tmp_path).add("a", "additive", HIGH, model={"reverse_source": True})
    store.add("c", "none", LOW).add("d", "none", LOW, 2)
    if plain:
        store.add("b", "additive", HIGH)
    for folder in store.runs:
        write_relisted(folder / "examples.json", json.dumps([_example(1, 3)]))
    figure, data = make_figure("attention", store.write())
    assert set(data["run"]) == {run}
    assert told in " ".join(figure.texts[-1].get_text().split())


def test_a_bucket_too_small_for_a_verdict_is_not_drawn_and_told(tmp_path):
    """Two sentences of 31-40 words were a whole panel of Multi30k's arms."""
    texts = sentences()
    few = texts[:-10]  # two are left of the longest
    runs = [
        write_run(tmp_path, arm, planted_settings(arm), translations(few, ARMS[arm], [1]), few)
        for arm in ARMS
    ]
    write_bundle(runs, tmp_path, {})
    for name, drawn in (("bleu", 4), ("arms", 2)):
        figure, data = make_figure(name, tmp_path)
        kind = "x" if name == "bleu" else "panel"
        assert data[kind].nunique() == drawn
        assert "41+" not in " ".join(data[kind])
        assert "Left out: 41+ (n = 2)." in " ".join(figure.texts[-1].get_text().split())


def test_all_buckets_are_drawn_where_under_two_are_large_enough():
    assert drawn_buckets(["a", "b", "c"], [9, 10, 11]) == ["b", "c"]
    assert drawn_buckets(["a", "b", "c"], [9, 0, 11]) == ["a", "c"]
    assert left_out(["a", "b", "c"], [9, 0, 11]) == ""
    assert left_out(["a", "b", "c", "d"], [9, 0, 11, 12]) == "Left out: a (n = 9)."


@pytest.mark.parametrize(("signs", "label"), [(24, "y" * 24), (25, "y" * 23 + "…")])
def test_a_word_too_long_for_a_label_is_cut_in_the_picture_and_told(bundle, signs, label):
    example = _example(1, 3) | {"hypothesis": ["a", "y" * signs]}
    held = load_bundle(bundle)
    figure, data = weights_chart(held, attending_run(held), [example])
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", label]
    assert ("the CSV has them whole" in figure.texts[-1].get_text()) == (signs > 24)
    assert set(data["output"]) == {"a", "y" * signs}


def test_an_example_too_long_for_a_slide_is_shown_only_where_there_is_no_other():
    found = [_example(1, 60), _example(2, 20), _example(3, 5), _example(4, 70)]
    assert [one["sentence"] for one in pick(found)] == [3, 2]
    assert [one["sentence"] for one in pick(found[::3])] == [1]
