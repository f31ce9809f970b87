"""Sizes that no machine has: refused at once, in one line; what a cluster may want is not."""

import subprocess
import sys
import time

import pytest
from ordinary_user import told_before

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.settings.errors import UsageError, UserError, out_of_means
from seq2seq_bottleneck.settings.run import NAMES, parse_settings, resolve
from seq2seq_bottleneck.settings.sweep import MOST_CELLS, make_grid, parse_sweep

NUMBERS = [name for name, kind in NAMES.items() if kind in (int, float, int | None)]
LARGE = [
    "corpus.source_vocabulary=1048576",
    "corpus.target_vocabulary=4194304",
    "corpus.train_pairs=1000000000",
    "corpus.max_words=10000",
    "corpus.seed=9223372036854775807",
    "model.context_size=65536",
    "model.hidden_size=65536",
    "model.embedding_size=65536",
    "model.layers=128",
    "training.updates=1000000000",
    "training.batch_size=1048576",
    "training.batch_tokens=16777216",
    "training.warmup_updates=1000000",
    "decoding.beam_size=1000",
    "scoring.resamples=1000000",
]


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


@pytest.mark.parametrize("change", LARGE)
def test_what_a_cluster_may_want_is_allowed(change):
    name, _, value = change.partition("=")
    concern, _, key = name.partition(".")
    settings = resolve("smoke", ["model.attention=additive", change])
    assert getattr(getattr(settings, concern), key) == int(value)


@pytest.mark.parametrize(
    "edges", ["5," + "9" * 12, ",".join(map(str, range(1, 1_100))), "5," + "9" * 5_000]
)
def test_edges_have_bounds(edges):
    with pytest.raises(UsageError, match=r"edges") as caught:
        parse_settings({"scoring": {"edges": edges}})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb"])
def test_text_that_is_no_utf8_is_refused(text):
    with pytest.raises(UsageError, match="not UTF-8"):
        parse_settings({"corpus": {"name": "files", "source": text}})


def test_a_grid_of_very_many_cells_is_refused_before_it_is_made():
    lists = ["model.context_size", "model.embedding_size", "corpus.train_pairs", "training.updates"]
    sections = [f"[{name.partition('.')[0]}]\n" for name in lists]
    values = list(range(1, 100))
    text = "# Is it?\n" + "".join(
        f"{sections[place] if sections[place] not in sections[:place] else ''}"
        f"{name.partition('.')[2]} = {values}\n"
        for place, name in enumerate(lists)
    )
    begun = time.monotonic()
    with pytest.raises(UsageError, match="96,059,601 cells"):
        make_grid(parse_sweep(text, "mine.toml"))
    assert time.monotonic() - begun < 1
    with pytest.raises(UsageError, match="--seeds"):
        make_grid(parse_sweep("# Is it?\n[model]\nlayers = 1\n", "mine.toml"), (), MOST_CELLS + 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["reproduce", "--seeds", "1000000000000"],
        ["sweep", "controls", "--seeds", "1000000000000"],
        ["sweep", "controls", "--threads", "9" * 5_000],
        ["sweep", "controls", "--seeds-together", "9" * 5_000],
        ["reproduce", "--threads", "1000000000000"],
        ["study", "capacity", "--seeds", "1000000000000"],
        ["corpus", "show", "copy", "-n", "1000000000000"],
        [
            "score",
            "--resamples",
            "1000000000000",
            *(["--hypotheses", "a", "--references", "b", "--sources", "c"]),
        ],
        ["compare", "a", "b", "--trials", "1000000000000"],
    ],
)
def test_a_flag_without_measure_is_one_line(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert len(line) < 300
    assert list(tmp_path.iterdir()) == []


def test_a_long_message_is_cut_in_its_middle(capsys):
    assert run(["sweep", "x" * 100_000 + "/nowhere.toml"]) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert len(line) < 2_100


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes"),
        ValueError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes."),
        RuntimeError("INTERNAL: Error dispatching computation: Out of memory allocating 9 bytes."),
        RecursionError(),
    ],
)
def test_a_machine_that_is_too_small_ends_in_one_line(capsys, monkeypatch, error):
    from seq2seq_bottleneck.cli import main

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(main, "app", fail)
    assert run(["table"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"bottleneck: {out_of_means(error)}"


def test_other_errors_are_no_lack_of_means():
    assert out_of_means(RuntimeError("else")) is None
    assert out_of_means(ValueError("else")) is None
    assert out_of_means(OSError("RESOURCE_EXHAUSTED: disk")) is None
    assert isinstance(out_of_means(MemoryError()), UserError)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("change", ["model.context_size=1048576", "model.embedding_size=1048576"])
def test_a_run_that_finds_no_memory_fails_in_one_line(tmp_path, change):
    """In a process that the system gives 6 GB of addresses, as a small machine would."""
    smoke = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--quiet", "--out", "out"]
    done = subprocess.run(
        told_before(
            [sys.executable, "-m", "seq2seq_bottleneck", *smoke, "--set", change],
            ordinary=False,
            memory=6 * 10**9,
        ),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"bottleneck: {out_of_means(MemoryError())}\n"
