"""``bottleneck corpus list`` and ``fetch``, and the flags that name text, as a user meets them."""

import csv
import io
import json
from dataclasses import replace
from hashlib import sha256

import pytest
from loopback import multi30k_files, served, tatoeba_zip

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.cli.options import corpus_settings
from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.named.catalogue import CATALOGUE
from seq2seq_bottleneck.corpus.named.download import Remote
from seq2seq_bottleneck.results.folders import SETTINGS
from seq2seq_bottleneck.settings.concerns import NAMED
from seq2seq_bottleneck.settings.grid import make_grid
from seq2seq_bottleneck.settings.sweep import load_sweep

SMOKE = ["--preset", "smoke"]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The catalogue with two corpora on a server of this machine; the cache and the folder ours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    with served({"fra-eng.zip": tatoeba_zip(), **multi30k_files()}) as site:
        for name in ("multi30k", "tatoeba"):
            remotes = [
                Remote(
                    site.url(remote.name),
                    sha256(site.files[remote.name]).hexdigest() if remote.sha256 else None,
                    10**7,
                )
                for remote in CATALOGUE[name].remotes
            ]
            monkeypatch.setitem(CATALOGUE, name, replace(CATALOGUE[name], remotes=tuple(remotes)))
        yield site


def printed(capsys, arguments, code=0):
    """Output and errors of a command that ends as it should."""
    assert run(arguments) == code
    return capsys.readouterr()


def as_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.usefixtures("site")
def test_the_list_fits_its_columns(capsys):
    lines = printed(capsys, ["corpus", "list"]).out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for name in ("grammar", "copy", *NAMED):
        assert name in text
    assert "bottleneck corpus fetch" in text


@pytest.mark.usefixtures("site")
def test_the_list_as_csv(capsys):
    rows = as_rows(printed(capsys, ["corpus", "list", "--format", "csv"]).out)
    assert [row["name"] for row in rows] == ["grammar", "copy", *NAMED]
    assert [row["here"] for row in rows] == ["True", "True", *["False"] * 5]
    assert all(row["licence"] and row["citation"] for row in rows)
    printed(capsys, ["corpus", "list", "--format", "cvs"], 2)


def test_fetch_then_list_describe_and_show(capsys, site):
    fetched = printed(capsys, ["corpus", "fetch", "multi30k"])
    assert fetched.out.startswith("multi30k: 300 training, 30 validation, 60 test pairs in ")
    assert "non-commercial; cite: Elliott et al. 2016" in fetched.out
    assert len(fetched.err.splitlines()) == 7  # six files, then their reading: no bar is drawn
    assert site.url("train.en.gz") in fetched.err
    listed = printed(capsys, ["corpus", "list", "--format", "csv"]).out
    row = next(row for row in as_rows(listed) if row["name"] == "multi30k")
    assert (row["here"], row["pairs"]) == ("True", "390")
    described = printed(capsys, ["corpus", "describe", "multi30k", *SMOKE]).out
    assert "fingerprint" in described
    assert "bits" not in described  # only what draws sentences knows
    back = printed(capsys, ["corpus", "describe", "multi30k", "--reverse-direction", *SMOKE]).out
    assert back.splitlines()[-1] != described.splitlines()[-1]
    shown = printed(capsys, ["corpus", "show", "multi30k", "-n", "2", *SMOKE]).out
    assert shown.count("en  tren") == shown.count("fr  trfr") == 2
    shown = printed(capsys, ["corpus", "show", "multi30k", "--reverse-direction", *SMOKE]).out
    assert shown.startswith("fr  trfr")


def test_show_takes_the_small_lexicon(capsys):
    few = [*SMOKE, "--set", "corpus.test_pairs=20", "--set", "corpus.valid_pairs=5"]
    shown = printed(capsys, ["corpus", "show", "-n", "3", *few, "--set", "corpus.lexicon=small"])
    english = [line[4:] for line in shown.out.splitlines() if line.startswith("en  ")]
    assert len(english) == 3
    assert all(map(english_french("small").parse, english))
    wrong = printed(capsys, ["corpus", "show", *few, "--set", "corpus.lexicon=smal"], 2).err
    assert "did you mean 'small'" in wrong


def test_the_hash_of_what_no_one_vouches_for_is_printed(capsys, site):
    out = printed(capsys, ["corpus", "fetch", "tatoeba", "--limit", "20", "--quiet"])
    assert f"{sha256(site.files['fra-eng.zip']).hexdigest()} (recorded)" in out.out
    assert "20 training pairs" in out.out
    assert out.err == ""


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["corpus", "fetch", "multi3k"], 2, "unknown corpus or test set 'multi3k'; did you mean"),
        (["corpus", "fetch", "files"], 2, "unknown corpus or test set 'files'"),
        (["corpus", "fetch", "tatoeba", "--limit", "0"], 2, "--limit"),
        (["corpus", "fetch", "wmt14", "--limit", "9"], 2, "'wmt14' takes no --limit"),
        (["corpus", "fetch", "grammar", "--again"], 2, "'grammar' takes no --limit and no --again"),
        (
            ["corpus", "describe", "tatoeba"],
            1,
            "corpus 'tatoeba' is not on this machine; `bottleneck corpus fetch tatoeba`",
        ),
        (
            ["reproduce", *SMOKE, "--corpus", "europarl", "--out", "out", "--quiet"],
            1,
            "corpus 'europarl' is not on this machine; `bottleneck corpus fetch europarl`",
        ),
        (
            ["sweep", "context_size", *SMOKE, "--corpus", "europarl", "--dry-run"],
            1,
            "corpus 'europarl' is not on this machine; `bottleneck corpus fetch europarl`",
        ),
        (
            ["corpus", "describe", "grammar", "--test", "wmt14"],
            2,
            "corpus.test is for real text, not for corpus 'grammar'",
        ),
        (["reproduce", *SMOKE, "--corpus", "multi"], 2, "corpus.name"),
    ],
)
def test_errors_are_one_line(capsys, arguments, code, message):
    err = printed(capsys, arguments, code).err
    lines = [line for line in err.splitlines() if line.startswith("bottleneck: ")]
    assert len(lines) == 1
    assert message in lines[0]
    assert "Traceback" not in err


def test_a_cut_off_transfer_is_one_line(capsys, site):
    site.cut.add("fra-eng.zip")
    err = printed(capsys, ["corpus", "fetch", "tatoeba", "--quiet"], 1).err
    assert err.startswith("bottleneck: the transfer of ")
    site.cut.clear()
    printed(capsys, ["corpus", "fetch", "tatoeba", "--quiet"])


def test_options_of_a_sweep_are_settings():
    given = {"name": "multi30k", "test": None, "reverse_direction": True}
    assert corpus_settings(given) == {"corpus.name": "multi30k", "corpus.reverse_direction": True}
    assert corpus_settings({"test": "wmt14", "reverse_direction": False}) == {
        "corpus.test": "wmt14"
    }


@pytest.mark.parametrize(
    "name", ["1984", "true", "inf", "my file", "a,b.en", "2026-11-25", 'a"b', "1.5", "é/x", "./1"]
)
def test_the_name_of_a_text_stays_text(name):
    given = {"source": name, "target": "b.en", "test_source": "c.en", "test_target": name}
    for cell in make_grid(load_sweep("real_vindication"), given=corpus_settings(given)).cells:
        found = cell.settings.corpus
        assert (found.name, found.source, found.test_target) == ("files", name, name)


@pytest.mark.parametrize("name", ["grammar", "copy"])
def test_what_is_built_in_needs_no_fetching(capsys, name):
    assert "built in" in printed(capsys, ["corpus", "fetch", name]).out


def test_a_bar_on_a_terminal(monkeypatch):
    """What pooch does to a bar, done to rich's."""
    from seq2seq_bottleneck.cli.named import _Bars

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with _Bars(quiet=False) as bars:
        bar = bars.make("a.tgz")
        bar.total = 100
        bar.update(60)
        assert bars._progress.tasks[0].completed == 60
        bar.reset()
        bar.update(100)
        bar.close()
        assert bar.total == bars._progress.tasks[0].completed == 100
    with _Bars(quiet=True) as bars:
        assert bars.make("a.tgz") is None


@pytest.mark.exhaustive(sample="session")
@pytest.mark.usefixtures("site")
def test_reproduce_on_a_fetched_corpus(capsys, tmp_path):
    printed(capsys, ["corpus", "fetch", "multi30k", "--quiet"])
    command = ["reproduce", *SMOKE, "--corpus", "multi30k", "--reverse-direction", "--quiet"]
    assert "BLEU" in printed(capsys, [*command, "--out", "out"]).out
    text = next((tmp_path / "out" / "runs").glob(f"*/{SETTINGS}")).read_text()
    settings = json.loads(text)["corpus"]
    assert (settings["name"], settings["reverse_direction"]) == ("multi30k", True)
