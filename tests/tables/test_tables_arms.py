"""The table of all arms: each row is that arm's own BLEU, the usual arms first."""

import pandas as pd
import pytest
from planted import planted_settings, sentences, translations, write_planted, write_run, write_sizes
from sacrebleu.metrics import BLEU

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.arms import arms
from seq2seq_bottleneck.tables.pages import make_page

DAMAGE = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1, 0.1, 0.1, 0.1, 0.1]}
BUCKETS = ["5-10", "11-20", "21-30", "31-40", "41+"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """None and additive, trained once and twice as long, two seeds each."""
    folder = tmp_path_factory.mktemp("arms")
    write_planted(folder, DAMAGE, seeds=2, factors=(1, 2))
    return load_bundle(folder)


def test_the_two_arms_are_those_of_the_vindication(tmp_path):
    write_planted(tmp_path, DAMAGE, seeds=2)
    held = load_bundle(tmp_path)
    pair = make_page("vindication", held).frame
    for arm, column in (("none", "bleu_none"), ("additive", "bleu_attention")):
        rows = arms(held)[lambda frame, arm=arm: frame["arm"] == arm]
        for end in ("", "_low", "_high"):
            assert rows[f"bleu{end}"].tolist() == pair[f"{column}{end}"].tolist()


def test_every_arm_has_its_rows_the_usual_ones_first(bundle):
    frame = arms(bundle)
    assert frame["bucket"].tolist() == BUCKETS * 4
    names = ["none", "additive", "none updates=20", "additive updates=20"]
    assert frame["arm"].drop_duplicates().tolist() == names
    assert frame["seeds"].tolist() == [2] * 20
    assert frame.groupby("arm")["parameters"].first()["none updates=20"] == 1000


def test_a_value_is_the_mean_of_sacrebleus_over_seeds(tmp_path):
    references = sentences()
    texts = [translations(references, [0.2] * 5, [seed]) for seed in (1, 2)]
    runs = [
        write_run(tmp_path, f"r{seed}", planted_settings("dot", seed), held, references)
        for seed, held in enumerate(texts, 1)
    ]
    write_bundle(runs, tmp_path, {})
    inside = [place for place, text in enumerate(references) if 11 <= len(text.split()) <= 20]
    scores = [
        BLEU().corpus_score([held[at] for at in inside], [[references[at] for at in inside]]).score
        for held in texts
    ]
    row = arms(load_bundle(tmp_path)).set_index("bucket").loc["11-20"]
    assert row["bleu"] == pytest.approx(sum(scores) / 2, abs=1e-9)
    assert row["bleu_low"] < row["bleu"] < row["bleu_high"]
    assert row["n"] == len(inside)


def test_other_test_sentences_are_counted_under_the_arms_name(tmp_path):
    references = sentences()
    short = [text for text in references if len(text.split()) < 40]
    settings = planted_settings("none", corpus={"joined": 2})
    for name, attention in (("a", "none"), ("b", "dot")):
        write_run(tmp_path, name, planted_settings(attention), references, references)
    write_run(tmp_path, "c", settings, short, short)
    page = make_page("arms", load_bundle(tmp_path))
    counts = page.frame.groupby("arm", sort=False)["n"].agg(list)
    assert counts["none"] == counts["dot"] != counts["none joined=2"]
    assert counts["none joined=2"][-1] == 0
    text = page.render("rich")
    assert text.count("n=") == len(BUCKETS) + 1
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.slow
def test_arms_of_many_sizes_are_in_the_order_of_their_sizes(tmp_path):
    sizes = (128, 32, 512, 64, 256)
    write_sizes(
        tmp_path, {(size, arm): DAMAGE["none"] for size in sizes for arm in ("none", "dot")}
    )
    frame = arms(load_bundle(tmp_path))
    ordered = [f"{arm} context_size={size}" for arm in ("none", "dot") for size in sorted(sizes)]
    assert list(frame["arm"].unique()) == ordered


def test_an_empty_bucket_is_blank(tmp_path):
    write_planted(tmp_path, DAMAGE, keep=frozenset({7, 15}))
    frame = arms(load_bundle(tmp_path))
    assert frame.query("n == 0")[["bleu", "bleu_low", "bleu_high"]].isna().all(axis=None)
    assert set(frame.query("n == 0")["bucket"]) == {"21-30", "31-40", "41+"}


def test_other_buckets_are_refused_with_a_way_out(tmp_path, capsys):
    references = sentences()
    for name, edges in (("a", "5,11,21,31,41"), ("b", "5,21")):
        settings = planted_settings("none", scoring={"edges": edges})
        write_run(tmp_path, name, settings, references, references)
    with pytest.raises(UserError, match=r"in other buckets .*`--where run=a`"):
        arms(load_bundle(tmp_path))
    chosen = ["table", "arms", "--results", str(tmp_path), "--where", "run=a"]
    assert run([*chosen, "--format", "csv"]) == 0
    assert capsys.readouterr().out.count("none,1,") == len(BUCKETS)


def test_all_forms_have_all_arms(bundle):
    page = make_page("arms", bundle)
    for form in ("csv", "markdown", "latex", "json", "rich"):
        assert page.render(form).count("updates=20") >= 2
    assert "8 runs" in " ".join(page.caption)
    assert isinstance(page.frame, pd.DataFrame)
