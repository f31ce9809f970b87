"""What the captions say: the schedule, what is missing, what was run, and how it was scored."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from planted import planted_settings, sentences, write_begun, write_planted, write_run
from planted_arms import LOW, Store

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION
from seq2seq_bottleneck.tables.comparison import compare, seed_points
from seq2seq_bottleneck.tables.controlled import losses
from seq2seq_bottleneck.tables.names import TABLES
from seq2seq_bottleneck.tables.pages import make_page
from seq2seq_bottleneck.tables.selection import where
from seq2seq_bottleneck.tables.studied import caption as study_caption

FALLING = {"none": LOW, "additive": [0.1] * 5}
FINITE = "the loss was no longer finite"


def pair(folder, shares=FALLING, seed=1, name="", **changes):
    """A run of each arm."""
    store = Store(folder)
    for arm, lost in shares.items():
        store.add(f"{arm}{name}", arm, lost, seed, **changes)


def caption(folder, name="failure-pattern", *conditions):
    return make_page(name, where(load_bundle(folder), conditions)).caption


def line_of(folder, head):
    (line,) = [line for line in caption(folder) if line.startswith(head)]
    return line


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    write_planted(folder, FALLING)
    return folder


def test_the_caption_says_all_that_an_honest_table_must(planted):
    lines = caption(planted)
    text = "\n".join(lines)
    for part in (
        "never levels",
        "none 1,000, additive 1,300 (the score has 300 of them)",
        "seed 1: ",
        "seed 2: ",
        "under 100 sentences",
        "2 test sentences outside",
        "1,234 source and 60 target words; unknown in the test set: 25.00 % and 50.00 %",
        "greedy",
        "not shown to be long enough",
        "|eff:no|tok:13a|",
        "2.5 epochs",
        "none 0.50 / 1.00, additive 0.50 / 1.00",
        "still falling at the end: none, additive",
    ):
        assert part in text
    assert lines[0].startswith("Ratio: mean source words of the bucket x")
    assert not any(line.startswith("Ratio:") for line in caption(planted, "vindication"))


def test_outputs_that_were_cut_and_what_training_holds_are_counted_by_bucket(planted):
    bundle = load_bundle(planted)
    near = dict(zip(bundle.runs["bucket"].unique(), [0.1, 0.25, np.nan, 0.5, 1.0], strict=True))
    cut = bundle.runs["attention"].map({"none": 3, "additive": 1})
    runs = bundle.runs.assign(near_copies=bundle.runs["bucket"].map(near), unfinished=cut)
    described = {
        run: known | {"environment": known["environment"] | {"near_copies": 0.4}}
        for run, known in bundle.environment["runs"].items()
    }
    page = make_page("vindication", replace(bundle, runs=runs, environment={"runs": described}))
    assert "Outputs cut there without an end (all seeds): none: 30; additive: 10." in page.caption
    text = "Training has 40.0 % of the test set's source 5-grams; by bucket 10.0 25.0 - 50.0 100.0:"
    assert text in " ".join(page.caption)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["failure-pattern", "vindication", "context-size", "arms"])
def test_the_signature_is_that_of_the_scoring_and_not_of_the_installed_sacrebleu(planted, name):
    bundle = load_bundle(planted)

    def last_line(signature):
        return make_page(
            name, replace(bundle, runs=bundle.runs.assign(signature=signature))
        ).caption[-1]

    signature = bundle.runs["signature"]
    assert last_line("version:1.2.3") == "sacreBLEU: version:1.2.3"
    # A bucket without sentences has no score to sign.
    assert last_line(signature.where(bundle.runs["bucket"] != "5-10", "")).count("nrefs") == 1
    several = signature.mask(bundle.runs["seed"] == 1, "a").mask(bundle.runs["seed"] == 2, "b")
    assert last_line(several) == "sacreBLEU: a; b"
    assert not last_line("").startswith("sacreBLEU")


@pytest.mark.slow
def test_twice_the_updates_and_nothing_else_say_whether_the_schedule_is_long_enough(tmp_path):
    pair(tmp_path)
    pair(tmp_path, seed=2)
    pair(tmp_path, name="-x3", training={"updates": 30})
    assert "not shown to be long enough" in line_of(tmp_path, "Schedule")
    assert "Left out: 2 runs of more updates." in caption(tmp_path)
    # Of one seed, against the same seed: without any change it is long enough.
    pair(tmp_path, name="-x2", training={"updates": 20})
    line = line_of(tmp_path, "Schedule")
    assert line.startswith("Schedule: long enough; twice the updates (seed 1)")
    assert f"bucket: none {'+0.0 ' * 4}+0.0; additive {'+0.0 ' * 4}+0.0." in line
    # The signature is that of the runs in the table.
    bundle = load_bundle(tmp_path)
    other = bundle.runs["signature"].where(bundle.runs["updates"] == 10, "version:4")
    signed = replace(bundle, runs=bundle.runs.assign(signature=other))
    assert "version:4" not in make_page("vindication", signed).caption[-1]


def test_a_doubled_schedule_that_moves_a_bucket_is_named(tmp_path):
    pair(tmp_path)
    better = {"none": [0.0] * 5, "additive": FALLING["additive"]}
    pair(tmp_path, better, name="-x2", training={"updates": 20})
    verdict, added = line_of(tmp_path, "Schedule").split(". Twice the training adds, ")
    assert verdict.startswith("Schedule: not long enough")
    assert "none 41+" in verdict
    assert "additive" not in verdict
    none, attention = added.rstrip(".").split(": ")[1].split("; ")
    assert all(float(number) > 0 for number in none.split()[1:])
    assert attention == f"additive {'+0.0 ' * 4}+0.0"


def test_only_unfinished_runs_that_would_belong_to_the_table_are_named(tmp_path):
    pair(tmp_path)
    for name, seed, changes in (
        ("same", 2, {}),
        ("other", 3, {"training": {"learning_rate": 1.0}}),
        ("longer", 4, {"training": {"updates": 20}}),
        ("wider", 5, {"model": {"context_size": 64}}),
    ):
        write_begun(tmp_path, name, planted_settings("none", seed, **changes), "diverged", FINITE)
    write_begun(tmp_path, "dot", planted_settings("dot", 6), "failed", "Traceback\nKeyError: 3")
    named = f"not in this table: none context 32 seed 2 (diverged: {FINITE})."
    assert named in "\n".join(caption(tmp_path))
    assert "not in this table" not in "\n".join(caption(tmp_path, "vindication", "seed=1"))
    spanned = "\n".join(caption(tmp_path, "context-size"))
    assert "seed 2 (diverged" in spanned
    assert "context 64 seed 5 (diverged" in spanned
    assert "seed 3" not in spanned


@pytest.mark.slow
def test_every_comparing_table_names_unknown_runs_other_versions_and_shorter_training(tmp_path):
    pair(tmp_path, corpus={"train_max_words": 20})
    settings = planted_settings("none", 2)
    begun = write_begun(tmp_path, "0123", settings)
    (begun / "settings.json").unlink()
    texts = sentences()
    write_run(tmp_path, "later", settings, texts, texts, schema=SCHEMA_VERSION + 1)
    for name in TABLES[:4]:
        text = "\n".join(caption(tmp_path, name))
        assert "not in this table: run 0123 (not ended)." in text
        assert "1 run is left out: made by another version" in text
        assert "Trained on sentences of at most 20 words: the vocabulary is theirs" in text


@pytest.mark.parametrize(
    ("changes", "head", "text"),
    [
        ({"training": {"optimizer": "muon"}}, "Run: ", "for each arm, by Muon."),
        ({}, "Run: corpus grammar, ", "for each arm."),
        ({"corpus": {"lexicon": "small"}}, "Run: corpus grammar (small lexicon), ", ""),
        ({"corpus": {"lexicon": "small", "name": "copy"}}, "Run: corpus copy, ", ""),
        ({}, "Training: ", "in nats per target token, training / validation: none 0.50 / 1.00"),
        ({"training": {"label_smoothing": 0.1}}, "Training: ", "(with label smoothing 0.1) / val"),
    ],
)
def test_the_caption_names_what_is_not_usual(tmp_path, changes, head, text):
    pair(tmp_path, **changes)
    assert text in line_of(tmp_path, head)
    smoothed = "label_smoothing" in changes.get("training", {})
    assert ("with label smoothing" in losses(load_bundle(tmp_path).runs)) == smoothed


def test_of_many_seeds_the_caption_says_what_they_lie_between(planted):
    arm, two = compare(load_bundle(planted)).none, np.ones(2)
    scores = np.arange(50.0).reshape(25, 2)  # seed k has 2k and 2k + 1
    many = replace(arm, seeds=tuple(range(25)), by_seed=scores, brevity=two)
    assert seed_points(many) == [
        "lowest of 25 seeds: 0.0 1.0",
        "median of 25 seeds: 24.0 25.0",
        "highest of 25 seeds: 48.0 49.0",
        "standard deviation over 25 seeds: 14.7 14.7",
    ]
    assert seed_points(replace(many, seeds=(1, 2), by_seed=scores[:2])) == [
        "seed 1: 0.0 1.0", "seed 2: 2.0 3.0", "standard deviation over 2 seeds: 1.4 1.4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ({"none": [1], "additive": [1]}, "One seed (1): nothing is known of the spread over seeds"),
        ({"none": [1, 2], "additive": [1, 2]}, "Seeds 1, 2 of every arm: a value is their mean"),
        (
            {"none": [1, 2], "additive": [1]},
            "Seeds (none: 1, 2; additive: 1): a value is the mean over its arm's",
        ),
    ],
)
def test_a_studys_caption_says_of_which_seeds_a_value_is_the_mean(seeds, text):
    facts = {"corpus": "grammar", "context_size": 32, "updates": 40}
    rows = [facts | {"arm": a, "seed": seed} for a, some in seeds.items() for seed in [None, *some]]
    first = study_caption(pd.DataFrame(rows).astype({"seed": "Int64"}))[0]
    assert first.startswith(f"Corpus grammar; context 32; 40 updates. {text}. * behind a count")
