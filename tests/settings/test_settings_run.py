"""Settings: presets, overrides, identities, bounds, and messages about faults."""

import pytest

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.machine import mendable
from seq2seq_bottleneck.settings.run import (
    RunSettings,
    parse_settings,
    resolve,
    toml_names,
)


def value_of(settings: RunSettings, name: str):
    concern, _, key = name.partition(".")
    return getattr(getattr(settings, concern), key)


def test_the_presets_are_there_and_valid():
    assert toml_names("presets") == ["capacity", "lecture", "paper", "quick", "real", "smoke"]
    for name in toml_names("presets"):
        resolve(name)
    with pytest.raises(UsageError, match="unknown preset 'lectur'; did you mean 'lecture'"):
        resolve("lectur")


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("training.learning_rate = 1e-4", 1e-4),
        ("model.bidirectional=true", True),
        ('model.attention="dot"', "dot"),
        ("scoring.edges=5,21", "5,21"),
    ],
)
def test_set_reads_toml_values_and_plain_text(assignment, value):
    assert value_of(resolve("smoke", [assignment]), assignment.partition("=")[0].strip()) == value


FAULTS = {
    "model.atention=dot": "did you mean 'model.attention'?",
    "model.bidirectional=yes": "model.bidirectional ... a valid boolean, not 'yes'",
    "model.context_size=0": "'model.context_size': ... greater than or equal to 1, not 0",
    "scoring.edges=9,5": "edges ... two or more ascending whole numbers",
    "corpus.min_words=70": "corpus ... min_words, train_max_words and max_words must not decrease",
    "corpus.source=a.en": "corpus ... source is for corpus 'files'",
    "corpus.test=tatoeba": "test=tatoeba is for real text",
    "model.hidden_size=300": "model ... hidden_size",
    "model.context_size": "model.context_size ... give a value, model.context_size=VALUE",
    "context_size=3": "unknown setting 'context_size' ... 'model.context_size'",
    "model=3; model.layers=2": "unknown setting 'model'; did you mean 'model.cell'?",
    "modl.layers=3": "unknown setting 'modl.layers'; did you mean 'model.layers'?",
    "seed=3": "unknown setting 'seed'; did you mean 'training.seed'?",
}


@pytest.mark.parametrize(("assignment", "parts"), FAULTS.items(), ids=FAULTS)
def test_a_fault_is_one_short_line_with_its_place_and_the_way_out(assignment, parts):
    with pytest.raises(UsageError) as caught:
        resolve("smoke", ["model.attention=dot", *assignment.split("; ")])
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts.split(" ... ")), message


def test_identity_depends_on_every_setting_and_on_the_data_but_not_on_where_files_lie():
    settings = resolve("smoke")
    identity = settings.identity("data")
    assert identity == resolve("smoke").identity("data") != settings.identity("other")
    assert len(identity) == 12
    assert settings.changed(training={"seed": 2}).identity("data") != identity
    here, there = (
        resolve("smoke", ["corpus.name=files", f"corpus.source={folder}/a.en"])
        for folder in ("here", "there")
    )
    assert here.identity("data") == there.identity("data") != here.identity("other data")


def test_changed_is_checked_again_and_the_json_form_comes_back():
    with pytest.raises(UsageError, match="context_size"):
        resolve("smoke").changed(model={"context_size": -3})
    settings = resolve("paper", ["model.hidden_size=700"])
    assert parse_settings(settings.model_dump()) == settings


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes")]
)
def test_too_little_memory_is_one_line(error):
    assert str(mendable(error)).startswith("not enough memory; smaller sizes")
