"""What a command writes takes the place of no result: whatever its ``-o`` names is as it was."""

import shutil
from pathlib import Path

import pytest
from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results import export
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.discovery import finished_runs, results_inside
from seq2seq_bottleneck.results.export import check_bundle, write_bundle
from seq2seq_bottleneck.results.folders import STORE, damaged, removal, runs_in
from seq2seq_bottleneck.settings.errors import UserError
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
        ("export --results store --bundle probes", "'probes' is for studies' tables"),
        ("merge store bundle -o store/probes", "'probes' is for studies' tables"),
        ("report --results store -o bundle/sentences.csv.gz", "sentences.csv.gz' is one of the"),
        ("export --results store --bundle bundle", "is a bundle with other runs (none3x1, none4x1"),
        (f"export --results store --bundle {RUN}", "is a run or a store of runs"),
        (f"export --results store --bundle store/{STORE}", "is a run or a store of runs"),
        ("export --results store --bundle others", "'others' has results of its own"),
        ("merge store others -o bundle", "is a bundle with other runs"),
        (f"merge bundle -o {RUN}", "is a run or a store of runs"),
    ],
)
def test_no_result_is_written_over(command, said, place, capsys):
    (place / "mine.csv").write_text("mine\n")
    if command.startswith("merge store others"):  # which has two of the three
        shutil.rmtree(place / "others" / STORE / "none5x1")
    before = files(place)
    assert run(command.split()) in (1, 2)
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert files(place) == before


def test_a_studys_table_is_not_written_over_from_inside_or_by_a_link(place, capsys, monkeypatch):
    write_listed(place / "store", [("probes/length.csv", b"a,b\n")])
    (place / "link").symlink_to("store/probes")
    before = files(place)
    assert run(["export", "--results", "store", "-o", "link/length.csv"]) == 1
    monkeypatch.chdir(place / "store" / "probes")
    assert run(["export", "--results", "..", "-o", "length.csv"]) == 1
    assert capsys.readouterr().err.count("length.csv' is one of the results there") == 2
    assert files(place) == before


def test_results_in_a_folder_called_as_that_of_tables_are_refused(place, capsys):
    (place / "bundle").rename(place / "probes")
    assert run(["export", "--results", "probes"]) == 2
    assert "'probes' is for studies' tables" in capsys.readouterr().err


@pytest.mark.slow
def test_runs_do_not_go_among_studies_tables(place, capsys):
    for command in ("sweep failure_pattern --preset smoke", "reproduce --preset smoke"):
        assert run([*command.split(), "--quiet", "--out", "probes"]) == 2
        assert "'probes' is for studies' tables: name another folder" in capsys.readouterr().err
    assert not (place / "probes").exists()


def test_results_that_somebody_called_runs_are_no_store(place, capsys):
    (place / "bundle").rename(place / "runs")
    shutil.copytree(place / "store", place / "all" / "runs")
    assert [path.name for path in results_inside(place)] == ["others", "runs", "store"]
    assert [path.name for path in results_inside(place / "all")] == ["runs"]
    assert results_inside(place / "store") == []
    assert run(["export", "--results", "."]) == 1
    assert "holds folders of results (others, runs, store)" in capsys.readouterr().err


def test_a_run_named_from_inside_is_taken_away_by_its_own_name(place, monkeypatch):
    monkeypatch.chdir(place / RUN)
    told = f"`bottleneck runs none1x1 --remove --results {place / 'store'}`"
    assert removal(Path()) == told
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
    damage(place / "again", "runs.csv")
    assert run(arguments) == 0
    assert len(set(load_bundle(place / "again").runs["run"])) == 4


def damage(bundle, *names):
    for name in names:
        (bundle / name).write_text("")


@pytest.mark.parametrize(
    "command", ["merge store -o bundle", "export --results store --bundle bundle"]
)
@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (["runs.csv"], "is a bundle with other runs (none3x1, none4x1, none5x1)"),
        (["runs.csv", "environment.json"], "bundle/environment.json' cannot be read"),
    ],
)
def test_a_damaged_bundle_of_others_is_not_written_over(place, capsys, command, damaged, said):
    damage(place / "bundle", *damaged)
    before = files(place)
    assert run(command.split()) in (1, 2)
    told = capsys.readouterr().err
    assert said in told
    assert "or delete" in told
    assert files(place) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["runs.csv", "learning.csv", "environment.json", "probes/fit.csv"],
)
def test_a_file_of_no_bundle_is_not_written_over(place, capsys, name):
    (place / "mine" / name).parent.mkdir(parents=True)
    (place / "mine" / name).write_text("mine\n")
    for command in ("merge store -o mine", "export --results store --bundle mine"):
        assert run(command.split()) == 2
        said = [f"refusing to overwrite 'mine/{name}'", "'mine' has results of its own"]
        assert any(map(capsys.readouterr().err.__contains__, said))
    assert (place / "mine" / name).read_text() == "mine\n"


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


def test_a_bundle_with_runs_of_other_machines_beside_is_not_written_over(place, capsys):
    assert run(["merge", "store", "others", "-o", "both"]) == 0
    before = files(place / "both")
    for chosen in ([], ["--where", "attention=none"]):
        assert run(["export", "--results", "store", "--bundle", "both", *chosen]) == 2
        assert "is a bundle with other runs" in capsys.readouterr().err
    assert files(place / "both") == before


@pytest.mark.parametrize("command", ["merge store -o new", "export --results store --bundle new"])
def test_a_bundle_that_another_process_wrote_meanwhile_is_not_written_over(
    place, monkeypatch, capsys, command
):
    seen = []

    def check(*arguments):
        check_bundle(*arguments)
        if not seen:  # asked whether there is room, and the other is quicker
            shutil.copytree(place / "bundle", place / "new")
            seen.append(files(place / "new"))

    monkeypatch.setattr(export, "check_bundle", check)
    assert run(command.split()) == 2
    assert "is a bundle with other runs" in capsys.readouterr().err
    assert files(place / "new") == seen[0]


def test_a_link_to_itself_among_the_runs_is_passed_over_and_hides_none(place, capsys):
    assert run(["export", "--results", "store"]) == 0
    whole = capsys.readouterr().out
    (place / "store" / STORE / "loop").symlink_to("loop")
    assert run(["export", "--results", "store"]) == 0
    assert capsys.readouterr().out == whole


def test_a_store_that_cannot_be_listed_is_not_taken_for_one_without_runs(place, monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", closed)
    with pytest.raises(UserError, match=r"runs' cannot be listed \(Permission denied\); check its"):
        runs_in(place / "store" / STORE)
    assert "check its rights" in str(damaged(place / "store" / "x", PermissionError(13, "no")))
