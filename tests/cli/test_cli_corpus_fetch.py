"""``bottleneck corpus list`` and ``fetch``, and the flags that name text, as a user meets them."""

import csv
import io
import json
from hashlib import sha256

import pytest
from loopback import named_corpora

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.cli.options import corpus_values
from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.results.folders import SETTINGS
from seq2seq_bottleneck.settings.concerns import NAMED
from seq2seq_bottleneck.settings.sweep import load_sweep, make_grid

SMOKE = ["--preset", "smoke"]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The catalogue with two corpora on a server of this machine; the cache and the folder ours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with named_corpora(monkeypatch) as site:
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
    for name in NAMED:
        assert name in text
    assert "bottleneck corpus fetch" in text


@pytest.mark.usefixtures("site")
def test_the_list_as_csv(capsys):
    rows = as_rows(printed(capsys, ["corpus", "list", "--format", "csv"]).out)
    assert [row["name"] for row in rows] == [*NAMED]
    assert [row["here"] for row in rows] == ["False"] * 4
    assert all(row["licence"] and row["citation"] for row in rows)
    printed(capsys, ["corpus", "list", "--format", "cvs"], 2)


@pytest.mark.usefixtures("site")
def test_fetch_then_list_describe_and_show(capsys):
    fetched = printed(capsys, ["corpus", "fetch", "multi30k"])
    assert fetched.out.startswith("multi30k: 300 training, 30 validation, 60 test pairs in ")
    assert "non-commercial; cite: Elliott et al. 2016" in fetched.out
    assert fetched.err == ""  # a bar is drawn on a terminal alone
    assert "sha256" not in fetched.out
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


def test_a_hash_that_is_not_published_is_printed(capsys, site):
    out = printed(capsys, ["corpus", "fetch", "tatoeba", "--limit", "20", "--quiet"])
    assert f"{sha256(site.files['fra-eng.zip']).hexdigest()} (none is published)" in out.out
    assert "20 training pairs" in out.out
    assert out.err == ""


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["corpus", "fetch", "multi3k"], 2, "no corpus 'multi3k' to fetch; did you mean"),
        (["corpus", "fetch", "grammar"], 2, "no corpus 'grammar' to fetch; known are"),
        (["corpus", "fetch", "tatoeba", "--limit", "0"], 2, "--limit"),
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
            ["corpus", "describe", "grammar", "--test", "tatoeba"],
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
    assert err.startswith("bottleneck: tatoeba cannot be downloaded from ")
    site.cut.clear()
    printed(capsys, ["corpus", "fetch", "tatoeba", "--quiet"])


def test_options_of_a_sweep_are_settings():
    given = {"corpus": "multi30k", "test": None, "reverse_direction": True}
    assert corpus_values(given) == {"name": "multi30k", "reverse_direction": True}
    assert corpus_values({"test": "tatoeba", "reverse_direction": False}) == {"test": "tatoeba"}


@pytest.mark.parametrize(
    "name", ["1984", "true", "inf", "my file", "a,b.en", "2026-11-25", 'a"b', "1.5", "é/x", "./1"]
)
def test_the_name_of_a_text_stays_text(name):
    given = {"source": name, "target": "b.en", "test_source": "c.en", "test_target": name}
    options = {f"corpus.{key}": value for key, value in corpus_values(given).items()}
    for cell in make_grid(load_sweep("real_vindication"), given=options).cells:
        found = cell.settings.corpus
        assert (found.name, found.source, found.test_target) == ("files", name, name)


@pytest.mark.usefixtures("site")
def test_a_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert "train.en.gz" in printed(capsys, ["corpus", "fetch", "multi30k"]).err
    assert printed(capsys, ["corpus", "fetch", "tatoeba", "--quiet"]).err == ""


@pytest.mark.exhaustive(sample="session")
@pytest.mark.usefixtures("site")
def test_reproduce_on_a_fetched_corpus(capsys, tmp_path):
    printed(capsys, ["corpus", "fetch", "multi30k", "--quiet"])
    command = ["reproduce", *SMOKE, "--corpus", "multi30k", "--reverse-direction", "--quiet"]
    assert "BLEU" in printed(capsys, [*command, "--out", "out"]).out
    text = next((tmp_path / "out" / "runs").glob(f"*/{SETTINGS}")).read_text()
    settings = json.loads(text)["corpus"]
    assert (settings["name"], settings["reverse_direction"]) == ("multi30k", True)
