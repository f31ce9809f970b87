"""Folders of runs and results: what they are, and who says so when one of their files is lost."""

import pytest
from listed import relist
from planted import planted_settings, write_begun, write_planted
from planted_logs import write_log
from system_files import outputs, reference_texts, write_translated

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.folders import find_runs, read_experiments, read_texts
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.runs.store import RunFolder
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import SUMS, read_sums, write_listed

LOSSES = ("gone", "a folder", "a loop")
"""What lies in a file's place afterwards."""
COMMANDS = {
    "claims": "claims --results FOLDER",
    "table": "table vindication --results FOLDER",
    "length": "table length --results FOLDER",
    "cost": "table cost --results FOLDER",
    "export": "export --results FOLDER",
    "bundle": "export --results FOLDER --bundle OUT",
    "merge": "merge FOLDER --out OUT",
    "learning": "plot learning --results FOLDER -o OUT.svg",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store of two arms whose losses were logged, its bundle, and a study's table."""
    folder = tmp_path_factory.mktemp("lost") / "whole"
    write_planted(folder, {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}, seeds=1)
    for number, name in enumerate(("none1x1", "additive1x1")):
        write_log(folder / "runs" / name, number)
    gather(folder, {})
    write_listed(folder, [("probes/length.csv", f"{','.join(PROBE_COLUMNS)}\n".encode())])
    return folder


def lose(path, how="gone"):
    path.unlink()
    if how == "a folder":
        path.mkdir()
    elif how == "a loop":
        path.symlink_to(path.name)


def asked(name, folder, out=""):
    words = COMMANDS[name].split()
    return [word.replace("FOLDER", str(folder)).replace("OUT", str(out)) for word in words]


def refusal(capsys, name, folder, out):
    """The one line of a command that refuses, which has printed and written nothing."""
    capsys.readouterr()
    assert run(asked(name, folder, out)) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert not (out / SUMS).exists()
    (line,) = printed.err.splitlines()
    return line


EXPORT = "; export it again"
DELETE = "line in SHA256SUMS, or export the bundle again"
REMOVE = "with `bottleneck runs none1x1 --remove --results {}`"
OF_A_BUNDLE = [
    ("bundle", "runs.csv", "claims", EXPORT),
    ("bundle", "learning.csv", "merge", EXPORT),
    ("bundle", "learning.csv", "learning", EXPORT),
    ("bundle", "examples.json.gz", "merge", EXPORT),
    ("bundle", "environment.json", "claims", EXPORT),
    ("bundle", "probes/length.csv", "claims", DELETE),
    ("bundle", "probes/length.csv", "length", DELETE),
]
OF_A_STORE = [
    ("store", "probes/length.csv", "bundle", "`bottleneck study length --results {}` makes it"),
    ("store", "runs/none1x1/log.jsonl", "learning", REMOVE),
    ("store", "runs/none1x1/log.jsonl", "bundle", REMOVE),
    ("store", "runs/none1x1/examples.json", "merge", REMOVE),
    *(
        ("store", "runs/none1x1/status.json", command, REMOVE)
        for command in ("claims", "table", "export", "bundle", "merge")
    ),
]


@pytest.mark.parametrize("how", LOSSES)
@pytest.mark.parametrize(
    ("where", "name", "command", "way"),
    [*(pytest.param(*row, marks=pytest.mark.slow) for row in OF_A_BUNDLE), *OF_A_STORE],
)
def test_what_was_lost_is_named_with_the_way_out(
    request, tmp_path, capsys, how, where, name, command, way
):
    folder = request.getfixturevalue(where)
    lose(folder / name, how)
    line = refusal(capsys, command, folder, tmp_path / "out")
    assert f"'{folder / name}' " in line
    assert way.format(folder) in line


@pytest.mark.slow
@pytest.mark.parametrize("name", ["claims", "cost"])
def test_a_benchmark_that_lost_a_file_says_so(bundle, tmp_path, capsys, name):
    write_listed(bundle, [("probes/cost.csv", b"a")])
    lose(bundle / "probes" / "cost.csv")
    assert "bottleneck bench --out" in refusal(capsys, name, bundle, tmp_path / "out")


def test_the_way_out_of_a_lost_table_is_one(bundle, store, tmp_path, capsys):
    """Its line taken away, the rest is read without it; exported again, it is there."""
    lose(bundle / "probes" / "length.csv")
    write_listed(bundle, [("probes/fit.csv", b"run,arm\n")])  # which leaves it listed
    assert "probes/length.csv' cannot" in refusal(capsys, "claims", bundle, tmp_path / "out")
    (bundle / "experiments.json").unlink()  # a committed bundle has none: it is the store's
    lines = (bundle / SUMS).read_text().splitlines(keepends=True)
    (bundle / SUMS).write_text("".join(line for line in lines if "length" not in line))
    assert run(asked("claims", bundle)) == 0
    out = tmp_path / "again"
    for _ in range(2):
        assert run(asked("bundle", store, out)) == 0
        lose(out / "probes" / "length.csv")
    write_listed(store, [], ["probes/length.csv"])
    assert run(asked("bundle", store, out)) == 0
    assert "probes/length.csv" not in read_sums(out)


@pytest.mark.parametrize("lost", [("status.json",), ("status.json", "settings.json")])
def test_a_run_without_its_status_is_listed_as_damaged_and_can_be_removed(store, capsys, lost):
    for name in lost:
        lose(store / "runs" / "none1x1" / name)
    results = ["--results", str(store)]
    assert run(["runs", *results]) == 0
    assert "none1x1      damaged " in capsys.readouterr().out
    assert run(["export", *results]) == 1
    assert run(["runs", "none1x1", "--remove", "--yes", *results]) == 0
    assert run(["export", *results]) == 0
    assert [path.name for path in find_runs(store).done] == ["additive1x1"]


def test_a_run_under_way_that_lost_its_status_is_named(store):
    path = write_begun(store, "begun", planted_settings("none", 2))
    lose(path / "status.json")
    with pytest.raises(UserError, match=r"begun/status\.json' cannot be read \(it is missing\)"):
        find_runs(store)
    RunFolder(store / "runs", "begun").write_status("running")
    assert [path.name for path in find_runs(store).unfinished] == ["begun"]


def test_lost_experiments_are_told_and_their_sweep_writes_them_again(store, tmp_path, capsys):
    lose(store / "experiments.json")
    line = refusal(capsys, "export", store, tmp_path / "out")
    assert line.endswith("where it is not there, the sweep's command writes it again")
    declared = {"mended": {"none1x1": ["none", ""]}}
    gather(store, declared)
    assert read_experiments(store) == declared
    assert set(Results.open(store).runs["experiment"]) == {"", "mended"}


# A run's translations.

REFERENCES = reference_texts([6, 12, 25])
HYPOTHESES = [*outputs(REFERENCES[:2], 0.3, 1), 'un\u2028deux\x85trois « "quatre" » \\ \t']


@pytest.fixture
def translated(tmp_path):
    return write_translated(tmp_path, "none", REFERENCES, HYPOTHESES)


def test_texts_come_back_sign_by_sign_and_a_run_that_did_not_end_has_none(translated):
    assert read_texts(translated) == (REFERENCES, REFERENCES, HYPOTHESES)
    write_listed(translated, [], ["hypotheses.jsonl"])
    with pytest.raises(UserError, match=r"nonerun' has no hypotheses.jsonl: the run did not end"):
        read_texts(translated)


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (b'{"source": "a', "delimiter|Unterminated|Expecting"),
        (b"[1]\n", "indices"),
        (b"3\n", "subscriptable"),
        (b'{"source": "a", "reference": "b"}\n', "hypothesis"),
        (b'{"source": "\xff"}\n', "utf-8"),
    ],
)
def test_a_damaged_last_line_is_named_with_the_way_out(translated, last, message):
    path = translated / "hypotheses.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], last]))
    relist(path)
    with pytest.raises(UserError, match=message) as error:
        read_texts(translated)
    assert str(path) in str(error.value)
    assert "train it again" in str(error.value)
