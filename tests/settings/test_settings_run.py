"""Settings: presets, overrides, identities, and what a user is told of a fault."""

import pytest

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import (
    RunSettings,
    override,
    parse_settings,
    preset_names,
    preset_values,
    resolve,
)


def test_the_presets_are_there_and_valid():
    assert preset_names() == ["capacity", "lecture", "paper", "quick", "real", "smoke"]
    for name in preset_names():
        assert isinstance(resolve(name), RunSettings)


def test_lecture_is_the_lectures_sizes_and_the_default():
    model = resolve("lecture").model
    assert (model.embedding_size, model.context_size, model.hidden) == (100, 256, 256)
    assert (model.cell, model.attention, model.placement) == ("gru", "additive", "input")
    assert not model.bidirectional


def test_paper_is_the_papers_sizes():
    settings = resolve("paper")
    assert (settings.model.embedding_size, settings.model.context_size) == (620, 1000)
    assert settings.corpus.source_vocabulary == settings.corpus.target_vocabulary == 30_000


@pytest.mark.parametrize(
    ("assignment", "place", "value"),
    [
        ("model.context_size=64", ("model", "context_size"), 64),
        ("training.learning_rate = 1e-4", ("training", "learning_rate"), 1e-4),
        ("model.bidirectional=true", ("model", "bidirectional"), True),
        ("corpus.lengths=natural", ("corpus", "lengths"), "natural"),
        ('model.attention="dot"', ("model", "attention"), "dot"),
        ("scoring.edges=5,21", ("scoring", "edges"), "5,21"),
    ],
)
def test_set_reads_toml_values_and_plain_text(assignment, place, value):
    settings = resolve("smoke", [assignment])
    assert getattr(getattr(settings, place[0]), place[1]) == value


def test_override_leaves_the_preset_alone():
    values = preset_values("smoke")
    changed = override(values, ["training.updates=7"])
    assert changed["training"]["updates"] == 7
    assert values["training"]["updates"] != 7


@pytest.mark.parametrize(
    ("assignment", "parts"),
    [
        ("model.atention=dot", ("model.atention", "model.attention")),
        ("modle.attention=dot", ("modle", "'model'")),
        ("model.attention=dott", ("model.attention", "'dot'", "'dott'")),
        ("model.context_size=0", ("model.context_size", "greater than or equal to 1", "0")),
        ("corpus.source_vocabulary=0", ("corpus.source_vocabulary", "greater than or equal to 1")),
        ("training.teacher_forcing=0.3", ("training.teacher_forcing", "0.5")),
        ("training.learning_rate=inf", ("training.learning_rate", "finite")),
        ("scoring.edges=5,x", ("scoring", "edges", "5,x")),
        ("scoring.edges=9,5", ("scoring", "ascending")),
        ("scoring.edges=5", ("scoring", "two or more ascending")),
        ("corpus.name=grammer", ("corpus.name", "did you mean 'grammar'")),
        ("corpus.min_words=70", ("corpus", "min_words 70", "max_words 60")),
        ("model.hidden_size=300", ("model", "hidden_size")),
        ("context_size=3", ("context_size=3", "section.key=value", "'model.context_size'")),
        ("seed=1,2", ("seed=1,2", "section.key=value", "'training.seed'")),
        ("scoring.edges=[5, 21]", ("scoring.edges", 'one string, "5,11,21"')),
        ("model.bidirectional=yes", ("model.bidirectional", "write true or false, not 'yes'")),
        ("model.bidirectional=0", ("model.bidirectional", "write true or false, not 0")),
        ("model.layers=true", ("model.layers", "should be a number, not True")),
        ("scoring.seed=-1", ("scoring.seed",)),
        ("corpus.source=a.en", ("corpus", "source is for corpus 'files'")),
    ],
)
def test_a_fault_is_one_line_with_its_place_and_the_way_out(assignment, parts):
    with pytest.raises(UsageError) as caught:
        resolve("smoke", ["model.attention=dot", assignment])
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    "model", [["attention=none"], ["attention=uniform"], ["attention=dot", "source=hidden"]]
)
def test_only_an_arm_that_points_at_words_copies_them(model):
    asked = [f"model.{each}" for each in model]
    told = r"^decoding\.copy_unknown needs attention weights .* translate --copy-unknown"
    with pytest.raises(UsageError, match=told):
        resolve("smoke", [*asked, "decoding.copy_unknown=true"])
    copying = ["model.attention=dot", "decoding.copy_unknown=true"]
    assert resolve("smoke", copying)
    with pytest.raises(UsageError, match=r"^decoding\.copy_unknown has nothing to copy with"):
        resolve("smoke", [*copying, "corpus.tokens=subwords"])
    assert resolve("smoke", asked)


def test_an_unknown_preset_names_the_nearest():
    with pytest.raises(UsageError, match="unknown preset 'lectur'; did you mean 'lecture'"):
        resolve("lectur")


def test_identity_depends_on_every_setting_and_on_the_data():
    settings = resolve("smoke")
    identity = settings.identity("data")
    assert identity == resolve("smoke").identity("data")
    assert len(identity) == 12
    assert settings.identity("other") != identity
    assert settings.changed(training={"seed": 2}).identity("data") != identity


def test_identity_does_not_depend_on_where_the_users_files_lie():
    here, there = (
        resolve("smoke", ["corpus.name=files", f"corpus.source={folder}/a.en"])
        for folder in ("here", "there")
    )
    assert here.identity("data") == there.identity("data")
    assert here.identity("data") != here.identity("other data")


def test_changed_is_checked_again():
    with pytest.raises(UsageError, match="context_size"):
        resolve("smoke").changed(model={"context_size": -3})


def test_settings_round_trip_through_their_json_form():
    settings = resolve("paper", ["model.hidden_size=700"])
    assert parse_settings(settings.model_dump()) == settings


def test_a_retired_setting_is_dropped_at_its_only_value_and_refused_at_others():
    older = resolve("smoke").model_dump()
    older["training"]["products"] = "float32"
    assert parse_settings(older) == resolve("smoke")
    older["training"]["products"] = "bfloat16"
    told = "^setting 'training.products' is 'bfloat16', but .* only knows 'float32'$"
    with pytest.raises(UsageError, match=told):
        parse_settings(older)
    assert older["training"]["products"] == "bfloat16"


def test_hidden_and_attention_width_follow_the_context_unless_set():
    model = resolve("smoke", ["model.context_size=48"]).model
    assert (model.hidden, model.attention_width) == (48, 48)
    apart = resolve("smoke", ["model.hidden_size=64", "model.attention_size=8"]).model
    assert (apart.hidden, apart.attention_width, apart.context_size) == (64, 8, 32)
