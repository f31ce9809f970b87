"""``bottleneck runs`` on a planted store: filters that read values as tables do, and removal."""

import io

import pytest
import typer
from planted import sentences, write_run

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_results
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.results.schema import RUNS
from seq2seq_bottleneck.runs.store import RunFolder
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.run import resolve

RUN_SETTINGS = {
    "aaaa": ["model.attention=none", "training.seed=1"],
    "bbbb": ["model.attention=additive", "training.learning_rate=0.004", "training.seed=2"],
    "cccc": ["model.attention=dot", "model.bidirectional=true", "training.batch_tokens=90"],
}


@pytest.fixture
def out(tmp_path):
    """Three runs in a store, with their bundle, and one that was stopped before it said a word."""
    texts = sentences()
    for name, assignments in RUN_SETTINGS.items():
        write_run(tmp_path, name, resolve("smoke", assignments), texts, texts)
    RunFolder(tmp_path / STORE, "dddd").write_status("running")
    gather(tmp_path, {"aaaa": "steady"})
    return tmp_path


def listed(out, capsys, *conditions):
    """First letters of the runs that meet the conditions."""
    where = [part for condition in conditions for part in ("--where", condition)]
    assert run(["runs", "--results", str(out), *where]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "status", "settings"]
    return [line[0] for line in lines]


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (["attention=nonne"], "attention=nonne; here attention is additive, dot, none"),
        (["model.attention=nonne"], "model.attention=nonne; here attention is additive, dot, none"),
        (
            ["attention=dot", "seed=2"],
            "attention=dot seed=2; here attention is additive, dot, none and seed is 1, 2",
        ),
        (["batch_tokens=7", "batch_tokens=8"], "batch_tokens=8; here batch_tokens is 90, none"),
        (["group=other"], "group=other; here group is"),
    ],
)
def test_where_nothing_meets_the_conditions_what_there_is_is_told(out, capsys, conditions, told):
    where = [part for condition in conditions for part in ("--where", condition)]
    assert run(["runs", "--results", str(out), *where]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("bottleneck: no run meets ")
    assert told in line


def test_a_line_has_the_group_and_the_settings_that_differ_in_it(out, capsys):
    assert run(["runs", "--results", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    differ = "context_size=32 bidirectional={} seed={} batch_tokens={} learning_rate={}"
    assert lines == [
        "run   status   settings",
        "aaaa  done     steady: attention=none context_size=32 seed=1",
        f"bbbb  done     attention=additive {differ.format('false', 2, 'none', 0.004)}",
        f"cccc  done     attention=dot {differ.format('true', 1, 90, 0.002)}",
        "dddd  stopped  (settings not known)",
    ]


def test_on_a_terminal_settings_stay_in_their_column(out, capsys, monkeypatch):
    assert run(["runs", "--results", str(out)]) == 0
    whole = capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, for rich
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["runs", "--results", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 80 < max(map(len, whole.splitlines()))
    assert {line[:15].strip() for line in lines} - {""} == {
        "run   status", "aaaa  done", "bbbb  done", "cccc  done", "dddd  stopped",
    }  # fmt: skip
    assert " ".join("".join(lines).split()) == " ".join(whole.split())


def test_a_run_is_shown_as_a_page_of_short_lines(out, capsys):
    assert run(["runs", "bb", "--results", str(out)]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[0] == "bbbb  done  attention=additive context_size=32 seed=2"
    for row in load_results(out).query("run == 'bbbb'").to_dict("records"):
        ranged = f"{row['bleu_low']:.1f}..{row['bleu_high']:.1f}"
        parts = [row["bucket"], f"{row['n']}*", f"{row['bleu']:.1f}", ranged]
        assert any(line.split()[:4] == parts for line in lines), parts
    assert "\ntraining\n  seed = 2\n" in text
    assert "\n  learning_rate = 0.004\n" in text
    assert "\n  bidirectional = false\n" in text
    assert "\nenvironment\n  notes\n    2 test sentences outside\n" in text


def test_a_damaged_run_is_listed_all_the_same(out, capsys):
    (out / "runs" / "bbbb" / "status.json").write_text("{")
    (out / "runs" / "cccc" / "settings.json").write_text("")
    assert run(["runs", "--results", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("bbbb  damaged  attention=additive")
    assert lines[3].split(maxsplit=1) == ["cccc", "done     (settings not known)"]


def test_yes_without_remove_is_refused(out, capsys):
    assert run(["runs", "bb", "--yes", "--results", str(out)]) == 2
    assert "--remove" in capsys.readouterr().err


@pytest.mark.parametrize("given", [io.StringIO(), None], ids=["empty", "closed"])
def test_where_nobody_can_be_asked_the_way_out_is_yes(given, out, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", given)
    assert remove(out) == 1
    assert "--yes" in capsys.readouterr().err.splitlines()[-1]
    assert (out / "runs" / "bbbb").is_dir()


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], "abcd"),
        (["attention=none"], "a"),
        (["bidirectional=false"], "ab"),
        (["model.bidirectional=True"], "c"),
        (["learning_rate=4e-3"], "b"),
        (["learning_rate=2e-3"], "ac"),
        (["training.learning_rate=0.0040"], "b"),
        (["batch_tokens=90"], "c"),
        (["hidden_size=32"], "abc"),
        (["attention=none,dot"], "ac"),
        (["seed=1", "seed=2", "attention=additive"], "b"),
        (["group=steady"], "a"),
        (["run=bbbb"], "b"),
    ],
)
def test_filters_read_a_value_as_tables_do(out, capsys, conditions, expected):
    assert "".join(listed(out, capsys, *conditions)) == expected


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("sed=1", ["sed", "seed"]),
        ("attention", ["attention", "value"]),
        ("learning_rate=high", ["learning_rate", "a number"]),
        ("bidirectional=0", ["bidirectional", "true or false"]),
    ],
)
def test_a_filter_that_cannot_be_read_says_why(out, capsys, condition, parts):
    assert run(["runs", "--results", str(out), "--where", condition]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(part in printed.err for part in parts), printed.err


def remove(out, *arguments):
    return run(["runs", "bb", "--remove", "--results", str(out), *arguments])


def test_a_removed_run_is_gone_from_the_bundle_too(out, capsys):
    assert remove(out, "--yes") == 0
    assert "deleted bbbb" in capsys.readouterr().err
    assert sorted(set(load_results(out)["run"])) == ["aaaa", "cccc"]
    assert "bbbb" not in (out / RUNS).read_text()
    assert listed(out, capsys) == ["a", "c", "d"]


def test_a_run_that_is_kept_after_all_is_untouched(out, monkeypatch):
    monkeypatch.setattr(typer, "confirm", lambda _: False)
    assert remove(out) == 0
    assert "bbbb" in (out / RUNS).read_text()
    assert not RunFolder(out / STORE, "bbbb").in_use


@pytest.mark.parametrize("begun", ["before the question", "during the question"])
def test_a_run_under_way_is_not_removed(out, capsys, monkeypatch, begun):
    folder = RunFolder(out / STORE, "bbbb")
    held = [folder.claim()] if begun == "before the question" else []

    def confirm(_):
        held.append(folder.claim(wait=False))
        return True

    monkeypatch.setattr(typer, "confirm", confirm)
    assert remove(out) == 1
    assert "bbbb is under way" in capsys.readouterr().err
    assert (folder.path / "scores.csv").is_file()
    held[0].release()
