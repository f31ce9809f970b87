"""``bottleneck corpus``, and the flags that name text, as a user sees them."""

import gzip

import pytest
from loopback import named_corpora

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.settings.concerns import NAMED
from seq2seq_bottleneck.settings.errors import UserError

SMOKE = "--preset smoke"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A catalogue that this machine serves, with a cache and a folder for the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with named_corpora(monkeypatch) as site:
        yield site


def here(ok):
    """The corpora that `corpus` lists as being on this machine."""
    rows = [line.split() for line in ok("corpus").out.splitlines()]
    return [row[0] for row in rows if row and row[0] in NAMED and row[1] == "downloaded;"]


@pytest.mark.usefixtures("site")
def test_fetch_then_list_describe_and_show(ok):
    text = ok("corpus").out
    assert max(map(len, text.splitlines())) <= 80
    assert all(name in text for name in (*NAMED, "--fetch` downloads one of these"))
    assert here(ok) == []
    fetched = ok("corpus multi30k --fetch")
    assert fetched.out.startswith("multi30k is in ")
    assert "non-commercial; cite: Elliott et al. 2016" in fetched.out
    assert fetched.err.splitlines()[0] == "downloading train.en.gz"
    assert here(ok) == ["multi30k"]
    described = ok("corpus multi30k -n 0", SMOKE).out
    assert "fingerprint" in described
    assert "bits" not in described  # only drawn sentences have known bits
    back = ok("corpus multi30k -n 0 --reverse-direction", SMOKE).out
    assert back.splitlines()[-1] != described.splitlines()[-1]
    text = ok("corpus multi30k -n 2", SMOKE).out
    assert text.count("en  tren") == text.count("fr  trfr") == 2
    assert ok("corpus multi30k --reverse-direction", SMOKE).out.startswith("fr  trfr")


def test_a_users_text_is_shown_with_its_own_languages_or_none(ok, tmp_path):
    lines = [f"x{row} " + "w " * (4 + 9 * (row % 3)) for row in range(60)]
    for name in ("a.de", "a"):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "a.en.gz").write_bytes(gzip.compress((tmp_path / "a").read_bytes()))
    command = f"corpus files -n 1 {SMOKE} --target"
    for source, heads in (("a.de", ["de  x", "en  x"]), ("a", ["source  x", "target  x"])):
        printed = ok(command, tmp_path / "a.en.gz", "--source", tmp_path / source).out
        assert [line.partition("x")[0] + "x" for line in printed.splitlines()[:2]] == heads


@pytest.mark.parametrize("name", ["1984", "a,b.en", 'é/a"b'])
def test_the_name_of_a_text_stays_text(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for start, file in enumerate((name, "b.en", "c.en")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        lines = ["w " * (5 + 9 * (row % 3)) + f"x{row}y{start}" for row in range(60)]
        (tmp_path / file).write_text("\n".join(lines) + "\n")
    cells = []

    def run_cells(new, *_, **__):
        cells.extend(new)
        raise UserError("it would train now")

    monkeypatch.setattr("seq2seq_bottleneck.runs.pool.run_cells", run_cells)
    options = ["--source", name, "--target", "b.en", "--test-source", "c.en", "--test-target", name]
    assert run(["sweep", "real_vindication", "--preset", "smoke", "--out", "out", *options]) == 1
    assert len(cells) == 2
    for cell in cells:
        corpus = cell.settings.corpus
        assert (corpus.name, corpus.source, corpus.test_target) == ("files", name, name)
