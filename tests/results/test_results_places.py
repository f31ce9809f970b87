"""What a command writes takes the place of no result: whatever its ``-o`` names is as it was."""

import shutil
from pathlib import Path

import pytest
from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.discovery import finished_runs, results_inside
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import STORE, damaged, removal
from seq2seq_bottleneck.settings.files import write_listed

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store of four runs, and a bundle of another's two without its store."""
    folder = tmp_path_factory.mktemp("made")
    write_planted(folder / "store", ARMS)
    write_planted(folder / "others", {"none": [0.3] * 5}, seeds=5)
    write_bundle(finished_runs(folder / "others")[2:], folder / "bundle", {})
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "here"))
    return tmp_path / "here"


def files(folder):
    """Every file with its bytes, but for locks."""
    return {
        path: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.fixture
def refused(place, capsys):
    """Runs a command, which refuses in one line and changes no file; the line."""

    def refuse(command):
        before = files(place)
        capsys.readouterr()
        assert run(command.split()) in (1, 2), command
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        assert files(place) == before
        return line

    return refuse


RUN = f"store/{STORE}/none1x1"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("plot bleu --results store -o bundle/runs.png", "'bundle/runs.csv' is one of the results"),
        ("plot learning --results bundle -o bundle/learning.png", "'bundle/learning.csv' is one"),
        ("plot bleu --results store -o mine.pdf", "'mine.csv' is there already"),
        ("export --results store -o bundle/runs.csv", "'bundle/runs.csv' is one of the results"),
        (f"export --results store -o {RUN}/scores.csv", "scores.csv' is in the folder of a run"),
        (f"report --results store -o {RUN}/status.json", "status.json' is in the folder of a run"),
        (f"export --results store -o {RUN}/new.csv", "new.csv' is in the folder of a run"),
        ("export --results store -o bundle/SHA256SUMS", "SHA256SUMS lists results and nothing"),
        ("report --results store -o store/SHA256SUMS", "SHA256SUMS lists results and nothing"),
        ("report --results store -o bundle/sentences.csv.gz", "sentences.csv.gz' is one of the"),
        ("export --results store --bundle bundle", "is a bundle with other runs (none3x1, none4x1"),
        (f"export --results store --bundle {RUN}", "is a run or a store of runs"),
        (f"export --results store --bundle store/{STORE}", "is a run or a store of runs"),
        ("export --results store --bundle others", "'others' has results of its own"),
        ("merge store others -o bundle", "is a bundle with other runs"),
        (f"merge bundle -o {RUN}", "is a run or a store of runs"),
    ],
)
def test_no_result_is_written_over(command, said, place, refused):
    (place / "mine.csv").write_text("mine\n")
    if command.startswith("merge store others"):  # which has two of the three
        shutil.rmtree(place / "others" / STORE / "none5x1")
    assert said in refused(command)


def test_a_studys_table_is_not_written_over_from_inside_or_by_a_link(place, refused, monkeypatch):
    write_listed(place / "store", [("probes/length.csv", b"a,b\n")])
    (place / "link").symlink_to("store/probes")
    said = "length.csv' is one of the results there"
    assert said in refused("export --results store -o link/length.csv")
    monkeypatch.chdir(place / "store" / "probes")
    assert said in refused("export --results .. -o length.csv")


def test_results_that_somebody_called_runs_or_probes_are_results(place, refused):
    shutil.copytree(place / "bundle", place / "probes")
    assert run(["export", "--results", "probes"]) == 0
    shutil.rmtree(place / "probes")
    assert run(["merge", "store", "-o", "probes"]) == 0
    assert len(load_bundle(place / "probes").names) == 4
    shutil.rmtree(place / "probes")
    (place / "bundle").rename(place / "runs")
    shutil.copytree(place / "store", place / "all" / "runs")
    assert [path.name for path in results_inside(place)] == ["others", "runs", "store"]
    assert [path.name for path in results_inside(place / "all")] == ["runs"]
    assert results_inside(place / "store") == []
    assert "holds folders of results (others, runs, store)" in refused("export --results .")


def test_a_run_named_from_inside_is_taken_away_by_its_own_name(place, monkeypatch):
    monkeypatch.chdir(place / RUN)
    command = f"`bottleneck runs none1x1 --remove --results {place / 'store'}`"
    assert removal(Path()) == command
    assert removal(Path("..") / "none1x1") == "`bottleneck runs none1x1 --remove --results ..`"


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_a_figures_own_numbers_are_written_over():
    for ending in ("png", "svg", "png"):
        assert run(["plot", "bleu", "--results", "store", "-o", f"mine.{ending}"]) == 0


def test_an_earlier_bundle_of_the_same_store_is_written_over_damaged_or_not(place):
    arguments = ["export", "--results", "store", "--bundle", "again"]
    assert run(arguments) == 0
    assert run([*arguments, "--where", "attention=none"]) == 0
    assert set(load_bundle(place / "again").runs["attention"]) == {"none"}
    (place / "again" / "runs.csv").write_text("")
    assert run(arguments) == 0
    assert len(load_bundle(place / "again").names) == 4


BOTH = pytest.mark.parametrize(
    "command", ["merge store -o {}", "export --results store --bundle {}"]
)


@BOTH
def test_a_damaged_bundle_of_others_is_not_written_over(place, refused, command):
    (place / "bundle" / "runs.csv").write_text("")
    line = refused(command.format("bundle"))
    assert "is a bundle with other runs (none3x1, none4x1, none5x1): " in line
    (place / "bundle" / "environment.json").write_text("")
    line = refused(command.format("bundle"))
    assert "bundle/environment.json' cannot be read" in line
    assert "or delete" in line


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("name", ["runs.csv", "learning.csv", "environment.json", "probes/fit.csv"])
def test_files_of_no_bundle_are_not_written_over(place, refused, name, command):
    (place / "mine" / name).parent.mkdir(parents=True)
    (place / "mine" / name).write_text("mine\n")
    line = refused(command.format("mine"))
    said = [f"refusing to overwrite 'mine/{name}'", "'mine' has results of its own"]
    assert any(map(line.__contains__, said))


def test_a_bundle_may_lie_beside_a_benchmark(place):
    write_listed(place / "measured", [("probes/cost.csv", b"measured\n")])
    assert run(["export", "--results", "store", "--bundle", "measured"]) == 0
    assert (place / "measured" / "probes" / "cost.csv").read_text() == "measured\n"
    assert len(load_bundle(place / "measured").environment["runs"]) == 4


@pytest.mark.parametrize("line", ["# mine\n", f"{'0' * 64} *data.csv\n"])
def test_sums_of_others_are_not_written_over(place, capsys, line):
    (place / "mine").mkdir()
    (place / "mine" / "SHA256SUMS").write_text(line)
    for command in ("merge store -o mine", "export --results store --bundle mine"):
        assert run(command.split()) == 2
        assert "refusing to overwrite 'mine/SHA256SUMS'" in capsys.readouterr().err
    assert (place / "mine" / "SHA256SUMS").read_text() == line


def test_a_bundle_with_runs_of_other_machines_beside_is_not_written_over(refused):
    assert run(["merge", "store", "others", "-o", "both"]) == 0
    for chosen in ("", " --where attention=none"):
        line = refused(f"export --results store --bundle both{chosen}")
        assert "is a bundle with other runs" in line


def test_a_link_to_itself_among_the_runs_is_passed_over_and_hides_none(place, capsys):
    assert run(["export", "--results", "store"]) == 0
    whole = capsys.readouterr().out
    (place / "store" / STORE / "loop").symlink_to("loop")
    assert run(["export", "--results", "store"]) == 0
    assert capsys.readouterr().out == whole


def test_a_store_that_cannot_be_listed_is_not_taken_for_one_without_runs(refused, monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", closed)
    assert f"store/{STORE}': Permission denied; check its rights" in refused(
        "export --results store"
    )


def test_a_file_that_may_not_be_read_is_not_to_be_made_again(place):
    assert "check its rights" in str(damaged(place / "store" / "x", PermissionError(13, "no")))
