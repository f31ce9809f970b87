"""Settings: presets, overrides, identities, bounds, and what a user is told of a fault."""

import pytest
from ordinary_user import bottleneck

from seq2seq_bottleneck.settings.errors import UsageError, counted, quoted
from seq2seq_bottleneck.settings.machine import mendable, nproc_from
from seq2seq_bottleneck.settings.run import (
    NAMES,
    RunSettings,
    override,
    parse_settings,
    preset_names,
    preset_values,
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


def test_lecture_and_paper_are_their_sizes():
    model = resolve("lecture").model
    assert (model.embedding_size, model.context_size, model.hidden) == (100, 256, 256)
    assert (model.cell, model.attention, model.placement) == ("gru", "additive", "input")
    assert not model.bidirectional
    settings = resolve("paper")
    assert (settings.model.embedding_size, settings.model.context_size) == (620, 1000)
    assert settings.corpus.source_vocabulary == settings.corpus.target_vocabulary == 30_000


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("model.context_size=64", 64),
        ("training.learning_rate = 1e-4", 1e-4),
        ("model.bidirectional=true", True),
        ("corpus.lengths=natural", "natural"),
        ('model.attention="dot"', "dot"),
        ("scoring.edges=5,21", "5,21"),
        ("decoding.copy_unknown=true", True),
    ],
)
def test_set_reads_toml_values_and_plain_text(assignment, value):
    assert value_of(resolve("smoke", [assignment]), assignment.partition("=")[0].strip()) == value


def test_override_leaves_the_preset_alone():
    values = preset_values("smoke")
    changed = override(values, ["training.updates=7"])
    assert changed["training"]["updates"] == 7
    assert values["training"]["updates"] != 7


FAULTS = {
    "model.atention=dot": "'model.atention'; did you mean 'model.attention'?",
    "modle.attention=dot": "'modle'; did you mean 'model'?",
    "model.attention=dott": "'model.attention': ... 'dot' ... not 'dott'; did you mean 'dot'?",
    "model.context_size=0": "'model.context_size': ... greater than or equal to 1, not 0",
    "training.teacher_forcing=0.3": "training.teacher_forcing ... 0.5",
    "training.learning_rate=inf": "training.learning_rate ... finite",
    **{
        f"scoring.edges={edges}": "edges ... two or more ascending whole numbers"
        for edges in ("5,x", "9,5", "5", "5," + "9" * 12, "5," + "9" * 5_000)
    },
    "scoring.edges=[5, 21]": 'scoring.edges ... one string, "5,11,21"',
    "corpus.name=grammer": "corpus.name ... did you mean 'grammar'",
    "corpus.min_words=70": "corpus ... min_words 70 ... max_words 60",
    "corpus.train_max_words=61": "train_max_words 61 is not from min_words 2 to max",
    "corpus.train_max_words=1": "train_max_words 1 is not from min_words 2 to max",
    "corpus.source=a.en": "corpus ... source is for corpus 'files'",
    "model.hidden_size=300": "model ... hidden_size",
    "context_size=3": "context_size=3 ... section.key=value ... 'model.context_size'",
    "seed=1,2": "seed=1,2 ... section.key=value ... 'training.seed'",
    "model.bidirectional=yes": "model.bidirectional ... write true or false, not 'yes'",
    "model.bidirectional=0": "model.bidirectional ... write true or false, not 0",
    "model.layers=true": "model.layers ... should be a number, not True",
    **{
        f"model.layers={text}": "model.layers"
        for text in ("9" * 5_000, "[" * 100_000, "{a=" * 10_000, "\ud800")
    },
    "corpus.test_min_words=6; corpus.test_max_words=5": "min_words 6 is above test_max_words 5",
    "corpus.source=\ud800": "not UTF-8",
    "corpus.source=a\udcffb": "not UTF-8",
    **{
        f"model.{arm}; decoding.copy_unknown=true": (
            "decoding.copy_unknown needs attention weights ... translate --copy-unknown"
        )
        for arm in ("attention=none", "attention=uniform", "source=hidden")
    },
    "corpus.tokens=subwords; decoding.copy_unknown=true": "copy_unknown has nothing to copy with",
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
    message = "^setting 'training.products' is 'bfloat16', but .* only knows 'float32'$"
    with pytest.raises(UsageError, match=message):
        parse_settings(older)
    assert older["training"]["products"] == "bfloat16"


def test_widths_follow_the_context_unless_set():
    model = resolve("smoke", ["model.context_size=48"]).model
    assert (model.hidden, model.attention_width) == (48, 48)
    model = resolve("smoke", ["model.hidden_size=64", "model.attention_size=8"]).model
    assert (model.hidden, model.attention_width, model.context_size) == (64, 8, 32)
    assert resolve("smoke", ["corpus.train_max_words=2"]).corpus.longest_trained == 2


# Sizes that no machine has are refused at once; what a cluster may want is not.

NUMBERS = [name for name, kind in NAMES.items() if kind in (int, float, int | None)]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "value", ["1" + "0" * 15, "-1" + "0" * 15, "1e300", "9" * 4_000, "nan", "inf"]
)
def test_no_number_is_without_bounds(name, value):
    """``1e15`` of a seed alone is as good as any other, and so is that of a float32."""
    if value == "1" + "0" * 15 and (name.endswith("seed") or NAMES[name] is float):
        return
    with pytest.raises(UsageError, match=name) as caught:
        resolve("smoke", [f"{name}={value}"])
    assert len(str(caught.value)) < 300


def test_what_a_cluster_may_want_is_allowed():
    sizes = {
        "corpus": {"source_vocabulary": 2**20, "train_pairs": 10**9, "max_words": 10_000,
                   "seed": 2**63 - 1},
        "model": {"context_size": 2**16, "embedding_size": 2**16, "layers": 128},
        "training": {"updates": 10**9, "batch_size": 2**20, "batch_tokens": 2**24},
        "decoding": {"beam_size": 1_000},
        "scoring": {"resamples": 10**6},
    }  # fmt: skip
    settings = parse_settings(sizes).model_dump()
    assert all(sizes[concern].items() <= settings[concern].items() for concern in sizes)


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


@pytest.mark.parametrize(
    "error", [RuntimeError("else"), ValueError("else"), OSError("RESOURCE_EXHAUSTED: disk")]
)
def test_other_errors_are_no_lack_of_memory(error):
    assert mendable(error) is None


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
