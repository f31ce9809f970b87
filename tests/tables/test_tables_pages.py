"""What the captions say: what was run, how it was scored, and seeds."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from planted import planted_settings, sentences, write_begun, write_planted, write_run
from planted_arms import LOW, Store

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.schema import TABLES
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.page import caption as study_caption
from seq2seq_bottleneck.tables.pages import make_page, seed_lines

FALLING = {"none": LOW, "additive": [0.1] * 5}


def pair(folder, **changes):
    """A run of each arm."""
    store = Store(folder)
    for arm, shares in FALLING.items():
        store.add(arm, arm, shares, **changes)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    write_planted(folder, FALLING)
    return load_bundle(folder)


def test_the_caption_says_all_that_an_honest_table_must(bundle):
    lines = make_page("failure-pattern", bundle).caption
    text = "\n".join(lines)
    for part in (
        "never levels",
        "none: 1,000 parameters; means over seeds: 2.5 epochs, loss at the end 0.50 in training, "
        "1.00 in validation, ",
        "additive: 1,300 parameters",
        "seed 1: ",
        "seed 2: ",
        "under 100 sentences",
        "2 test sentences outside",
        "1,234 source and 60 target words; unknown in the test set: 25.00 % and 50.00 %",
        "greedy; at most 2 x source tokens + 10 tokens.",
        "not shown to be long enough",
        "|eff:no|tok:13a|",
    ):
        assert part in text
    assert lines[0].startswith("Ratio: mean source words of the bucket x")
    vindication = make_page("vindication", bundle).caption
    assert not any(line.startswith("Ratio:") for line in vindication)


def test_outputs_that_were_cut_and_what_training_holds_are_counted_by_bucket(bundle):
    near = dict(zip(bundle.runs["bucket"].unique(), [0.1, 0.25, np.nan, 0.5, 1.0], strict=True))
    cut = bundle.runs["attention"].map({"none": 3, "additive": 1})
    runs = bundle.runs.assign(near_copies=bundle.runs["bucket"].map(near), unfinished=cut)
    described = {
        run: known | {"environment": known["environment"] | {"near_copies": 0.4}}
        for run, known in bundle.environment["runs"].items()
    }
    page = make_page("vindication", replace(bundle, runs=runs, environment={"runs": described}))
    text = "\n".join(page.caption)
    for arm, count in {"none": 30, "additive": 10}.items():
        assert re.search(rf"^{arm}: .* {count} outputs cut without an end\.$", text, re.MULTILINE)
    head = "Training has 40.0 % of the test set's source 5-grams; by bucket "
    assert f"{head}10.0 25.0 - 50.0 100.0:" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["failure-pattern", "vindication", "context-size", "arms"])
def test_the_signature_is_that_of_the_scoring_and_not_of_the_installed_sacrebleu(bundle, name):
    def last_line(signature):
        runs = bundle.runs.assign(signature=signature)
        return make_page(name, replace(bundle, runs=runs)).caption[-1]

    signature = bundle.runs["signature"]
    assert last_line("version:1.2.3") == "sacreBLEU: version:1.2.3"
    # A bucket without sentences has no score to sign.
    assert last_line(signature.where(bundle.runs["bucket"] != "5-10", "")).count("nrefs") == 1
    several = signature.mask(bundle.runs["seed"] == 1, "a").mask(bundle.runs["seed"] == 2, "b")
    assert last_line(several) == "sacreBLEU: a; b"
    assert not last_line("").startswith("sacreBLEU")


@pytest.mark.slow
def test_every_comparing_table_counts_what_is_missing_and_names_shorter_training(tmp_path):
    pair(tmp_path, corpus={"train_max_words": 20})
    settings, texts = planted_settings("none", 2), sentences()
    (write_begun(tmp_path, "0123", settings) / "settings.json").unlink()
    write_run(tmp_path, "later", settings, texts, texts, schema=SCHEMA_VERSION + 1)
    for name in TABLES[:4]:
        text = "\n".join(make_page(name, load_bundle(tmp_path)).caption)
        assert "1 run is without a result" in text
        assert "1 run is left out: made by another version" in text
        assert re.search(r"^Settings unlike .*train_max_words 20[,.]", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["failure-pattern", "arms"])
def test_the_caption_has_every_setting_that_is_not_the_lecture_presets(tmp_path, name):
    pair(tmp_path, training={"learning_rate": 0.25}, corpus={"lexicon": "small"})
    page = make_page(name, load_bundle(tmp_path))
    (line,) = [line for line in page.caption if line.startswith("Settings unlike ")]
    settings = re.split(r"[:,] (?=[a-z])", line.rstrip("."))[1:]
    assert settings[:3] == ["attention additive", "none", "context_size 32"]
    assert "learning_rate 0.25" in settings
    assert not any(setting.startswith(("lexicon", "edges", "seed ")) for setting in settings)
    if name != "arms":
        assert page.run.startswith("grammar (small lexicon); 10 training pairs; context 32; ")


def test_of_many_seeds_the_caption_says_what_they_lie_between(bundle):
    arm, two = compare(bundle).none, np.ones(2)
    scores = np.arange(50.0).reshape(25, 2)  # seed k has 2k and 2k + 1
    many = replace(arm, seeds=tuple(range(25)), by_seed=scores, brevity=two)
    head = "BLEU by bucket, none, "
    assert [line.removeprefix(head) for line in seed_lines({"none": many})] == [
        "lowest of 25 seeds: 0.0 1.0",
        "median of 25 seeds: 24.0 25.0",
        "highest of 25 seeds: 48.0 49.0",
        "standard deviation over 25 seeds: 14.7 14.7",
    ]
    few = replace(many, seeds=(1, 2), by_seed=scores[:2])
    assert [line.removeprefix(head) for line in seed_lines({"none": few})] == [
        "seed 1: 0.0 1.0", "seed 2: 2.0 3.0", "standard deviation over 2 seeds: 1.4 1.4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ({"none": [1], "dot": [1]}, ": with one, their spread is not known."),
        ({"none": [1, 2], "dot": [1, 2]}, "."),
        ({"none": [1, 2], "dot": [1]}, " (3 runs: none, seed 1, 2; dot, seed 1)."),
    ],
)
def test_a_studys_caption_says_of_which_seeds_a_value_is_the_mean(seeds, text):
    facts = {"corpus": "grammar", "context_size": 32, "updates": 40}
    rows = [facts | {"arm": a, "seed": seed} for a, some in seeds.items() for seed in [None, *some]]
    first = study_caption(pd.DataFrame(rows).astype({"seed": "Int64"}))[0]
    assert first.startswith("Corpus grammar; context 32; 40 updates; seed 1")
    assert f". A value is the mean over its arm's seeds{text}" in first
