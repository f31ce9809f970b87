"""What the captions say: what was run, how it was scored, and seeds."""

import re
from dataclasses import replace

import pytest
from planted import write_planted
from planted_arms import LOW, Store

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.tables.pages import make_page

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
    return Results.open(folder)


def test_the_caption_says_all_that_an_honest_table_must(bundle):
    lines = make_page("failure-pattern", bundle).caption
    text = "\n".join(lines)
    for part in (
        "never levels",
        "Ratio: mean source words of the bucket x",
        "none: 1,000 parameters",
        "additive: 1,300 parameters",
        "Arms: additive, none. Grammar; 10 training pairs; context 32; 10 updates; seeds 1, 2.",
        "they do not cover seeds",
        "under 100 sentences",
        "2 test sentences outside",
        "not shown to be long enough",
        "|eff:no|tok:13a|",
    ):
        assert part in text
    seeds = [line for line in lines if line.startswith("BLEU by bucket, none, ")]
    assert [line.split(": ")[0].split(", ")[2] for line in seeds] == [
        "seed 1", "seed 2", "standard deviation over seeds",
    ]  # fmt: skip
    assert "Ratio:" not in "\n".join(make_page("vindication", bundle).caption)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vindication", "arms"])
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


@pytest.mark.parametrize("name", ["failure-pattern", "arms"])
def test_the_caption_has_every_setting_that_is_not_the_lecture_presets(tmp_path, name):
    pair(tmp_path, training={"learning_rate": 0.25}, corpus={"lexicon": "small"})
    page = make_page(name, Results.open(tmp_path))
    (line,) = [line for line in page.caption if line.startswith("Settings unlike ")]
    settings = re.split(r"[:,] (?=[a-z])", line.rstrip("."))[1:]
    assert settings[0] == "context_size 32"
    assert "learning_rate 0.25" in settings
    # Arms differ in their attention, which is no setting of the table.
    others = ("attention ", "lexicon", "edges", "seed ")
    assert not any(setting.startswith(others) for setting in settings)
    if name != "arms":
        assert page.run.startswith("grammar (small lexicon); 10 training pairs; context 32; ")
