"""Settings: presets, overrides, identities, bounds, and what a user is told of a fault."""

import re

import pytest
from ordinary_user import bottleneck

from seq2seq_bottleneck.settings.errors import UsageError, counted, quoted
from seq2seq_bottleneck.settings.machine import mendable, nproc_from
from seq2seq_bottleneck.settings.run import (
    NAMES,
    RunSettings,
    describe_settings,
    parse_settings,
    preset_names,
    resolve,
)


def value_of(settings: RunSettings, name: str):
    concern, _, key = name.partition(".")
    return getattr(getattr(settings, concern), key)


def test_the_presets_are_there_and_valid():
    assert preset_names() == ["capacity", "lecture", "paper", "quick", "real", "smoke"]
    for name in preset_names():
        assert isinstance(resolve(name), RunSettings)
    with pytest.raises(UsageError, match="unknown preset 'lectur'; did you mean 'lecture'"):
        resolve("lectur")


def test_lecture_has_the_slides_sizes():
    model = resolve("lecture").model
    assert (model.embedding_size, model.context_size, model.hidden) == (100, 256, 256)
    assert (model.cell, model.attention, model.placement) == ("gru", "additive", "input")
    assert not model.bidirectional


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("model.context_size=64", 64),
        ("training.learning_rate = 1e-4", 1e-4),
        ("model.bidirectional=true", True),
        ("corpus.lengths=uniform", "uniform"),
        ('model.attention="dot"', "dot"),
        ("scoring.edges=5,21", "5,21"),
    ],
)
def test_set_reads_toml_values_and_plain_text(assignment, value):
    assert value_of(resolve("smoke", [assignment]), assignment.partition("=")[0].strip()) == value


FAULTS = {
    "model.atention=dot": "did you mean 'model.attention'?",
    "model.attention=dott": "'model.attention': ... 'dot' ... not 'dott'",
    "model.bidirectional=yes": "model.bidirectional ... a valid boolean, not 'yes'",
    "model.bidirectional=0": "model.bidirectional ... a valid boolean, not 0",
    "model.layers=true": "model.layers ... should be a valid integer, not True",
    "corpus.name=files; corpus.source=a\udcffb": "not UTF-8",
    "model.context_size=0": "'model.context_size': ... greater than or equal to 1, not 0",
    "training.learning_rate=inf": "training.learning_rate ... finite",
    **{
        f"scoring.edges={edges}": "edges ... two or more ascending whole numbers"
        for edges in ("5,x", "9,5", '"5"', "5," + "9" * 5_000)
    },
    "corpus.min_words=70": "corpus ... min_words, train_max_words and max_words must be in this",
    "corpus.source=a.en": "corpus ... source is for corpus 'files'",
    "corpus.test=tatoeba": "test=tatoeba is for real text",
    "model.hidden_size=300": "model ... hidden_size",
    "model.context_size": "model.context_size ... give a value, model.context_size=VALUE",
    "context_size=3": "context_size=3 ... unknown setting ... 'model.context_size'",
    "seed=1,2": "seed=1,2 ... unknown setting ... 'training.seed'",
    **{
        f"model.layers={text}": "model.layers"
        for text in ("9" * 5_000, "[" * 100_000, "\ud800", "1e300", "nan", "-1")
    },
    "model.attention=none; decoding.copy_unknown=true": "decoding.copy_unknown needs ... --arm",
    "corpus.tokens=subwords; decoding.copy_unknown=true": "copy_unknown needs corpus.tokens=words",
}


@pytest.mark.parametrize(
    ("assignment", "parts"), FAULTS.items(), ids=[text[:40] for text in FAULTS]
)
def test_a_fault_is_one_short_line_with_its_place_and_the_way_out(assignment, parts):
    with pytest.raises(UsageError) as caught:
        resolve("smoke", ["model.attention=dot", *assignment.split("; ")])
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
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


def test_a_retired_setting_is_dropped_at_its_only_value_and_refused_at_others():
    older = resolve("smoke").model_dump()
    older["training"]["products"] = "float32"
    assert parse_settings(older) == resolve("smoke")
    older["training"]["products"] = "bfloat16"
    with pytest.raises(UsageError, match=r"training\.products.* only knows 'float32'$"):
        parse_settings(older)


MEMORY = "Out of memory allocating 9 bytes"


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (MemoryError(), "not enough memory"),
        (RuntimeError(f"RESOURCE_EXHAUSTED: {MEMORY}"), "not enough memory"),
        (ValueError(f"RESOURCE_EXHAUSTED: {MEMORY}."), "not enough memory"),
        (RuntimeError(f"INTERNAL: Error dispatching computation: {MEMORY}."), "not enough memory"),
        (RecursionError(), "nested too deeply"),
    ],
)
def test_a_machine_that_is_too_small_ends_in_one_line(capsys, monkeypatch, error, part):
    from seq2seq_bottleneck.cli import main

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(main, "app", fail)
    assert main.run(["table"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"bottleneck: {mendable(error)}"
    assert part in line


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("change", ["model.context_size=1048576", "model.embedding_size=1048576"])
def test_a_run_that_finds_no_memory_fails_in_one_line(tmp_path, change):
    """In a process that the system gives 6 GB of addresses, as a small machine would."""
    smoke = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--quiet", "--set", change]
    done = bottleneck(smoke, tmp_path, memory=6 * 10**9)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"bottleneck: {mendable(MemoryError())}\n"


@pytest.mark.parametrize(
    ("text", "threads"),
    [("3", 3), (" 2 ", 2), ("0", None), ("", None), ("abc", None), ("-1", None), ("²", None)],
)
def test_threads_are_set_by_a_number_above_0_alone(text, threads):
    assert nproc_from({"NPROC": text}) == threads
    assert nproc_from({}) is None


def test_values_and_counts_in_messages():
    assert quoted("a'b") == '"a\'b"'
    assert quoted("a" * 1_000) == f"'{'a' * 79}... (1,002 characters)"
    assert quoted(16**5_000) == "int too long to write"
    assert [counted(n, "test pair") for n in (0, 1, 2, 1234)] == [
        "0 test pairs", "1 test pair", "2 test pairs", "1,234 test pairs",
    ]  # fmt: skip


def test_every_setting_is_described_with_its_value_and_what_it_takes():
    known = describe_settings("smoke")
    assert list(known) == list(NAMES)
    assert known["model.context_size"].split(maxsplit=2) == [
        "model.context_size", "32", "Numbers per sentence: the context vector. (from 1)"
    ]  # fmt: skip
    assert known["model.cell"].endswith("(rnn, gru, lstm)")
    assert known["model.hidden_size"].split()[1] == "none"
    assert known["corpus.test"].endswith("(multi30k, tatoeba, europarl, news-commentary)")
    assert known["model.dropout"].endswith("(from 0.0, below 1.0)")
    assert all(re.search(r"\.($| \()", line) for line in known.values())
