"""Folders of runs and results: how they are recognised, and who reports a lost file."""

import shutil

import pytest
from listed import relist
from system_files import outputs, reference_texts, write_translated

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.folders import find_runs, read_texts
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed

EXPORT = "; export it again"
AGAIN = "again with `bottleneck study length --results {}`, or delete it and its line in SHA256SUMS"
REMOVE = "with `rm -r {}/runs/none1x1` and train it again"


@pytest.mark.parametrize("how", ["gone", "a folder"])
@pytest.mark.parametrize(
    ("where", "name", "command", "way"),
    [
        ("bundle", "runs.csv", "table claims --results FOLDER", EXPORT),
        (
            "bundle",
            "examples.json.gz",
            "export --results FOLDER --results FOLDER --bundle OUT",
            EXPORT,
        ),
        ("bundle", "probes/length.csv", "table length --results FOLDER", AGAIN),
        ("store", "probes/length.csv", "export --results FOLDER --bundle OUT", AGAIN),
        (
            "store",
            "runs/none1x1/examples.json",
            "export --results FOLDER --results FOLDER --bundle OUT",
            REMOVE,
        ),
        ("store", "runs/none1x1/status.json", "table claims --results FOLDER", REMOVE),
    ],
)
def test_what_was_lost_is_named_with_the_way_out(
    request, tmp_path, capsys, how, where, name, command, way
):
    folder, out = request.getfixturevalue(where), tmp_path / "out"
    write_listed(folder, [("probes/length.csv", f"{','.join(PROBE_COLUMNS)}\n".encode())])
    (folder / name).unlink()
    if how == "a folder":
        (folder / name).mkdir()
    capsys.readouterr()
    words = command.replace("FOLDER", str(folder)).replace("OUT", str(out))
    assert run(words.split()) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert not (out / "SHA256SUMS").exists()
    (line,) = printed.err.splitlines()
    assert f"'{folder / name}' " in line
    assert way.format(folder) in line


def test_a_run_without_its_status_is_listed_as_damaged_and_can_be_removed(store, capsys):
    (store / "runs" / "none1x1" / "status.json").unlink()
    results = ["--results", str(store)]
    assert run(["table", "runs", *results]) == 0
    assert "none1x1      damaged " in capsys.readouterr().out
    assert run(["export", *results]) == 1
    shutil.rmtree(store / "runs" / "none1x1")
    assert run(["export", *results]) == 0
    assert "none1x1" not in [path.name for path in find_runs(store).done]


def test_results_inside_a_folder_are_found_even_if_they_are_called_as_a_store_is(store, capsys):
    store.rename(store.with_name("runs"))
    assert run(["table", "claims", "--format", "csv", "--results", str(store.parent)]) == 0
    assert "\nL-VIND,held," in capsys.readouterr().out


# A run's translations.

REFERENCES = reference_texts([6, 12, 25])
HYPOTHESES = [*outputs(REFERENCES[:2], 0.3, 1), 'un\u2028deux\x85trois « "quatre" » \\ \t']


@pytest.fixture
def translated(tmp_path):
    return write_translated(tmp_path, "none", REFERENCES, HYPOTHESES)


def test_texts_come_back_unchanged_and_a_run_that_did_not_end_has_none(translated):
    assert [*read_texts(translated).values()] == [REFERENCES, REFERENCES, HYPOTHESES]
    write_listed(translated, [], ["hypotheses.jsonl"])
    with pytest.raises(UserError, match=r"nonerun' has no hypotheses.jsonl: the run did not end"):
        read_texts(translated)


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (b'{"source": "a', "delimiter|Unterminated|Expecting"),
        (b'{"source": "a", "reference": "b"}\n', "hypothesis"),
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
