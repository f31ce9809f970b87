"""``bottleneck score`` and ``bottleneck compare`` from the command line."""

import gzip
import io
import json
import subprocess
import sys

import pandas as pd
import pytest
import sacrebleu
from system_files import outputs, reference_texts, write_lines, write_test_set, write_translated

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import read_table
from seq2seq_bottleneck.results.folders import read_settings
from seq2seq_bottleneck.scoring.bleu import bleu_signature

LENGTHS = [3] * 3 + [7] * 20 + [15] * 20 + [25] * 20
REFERENCES = reference_texts(LENGTHS)
A, B = outputs(REFERENCES, 0.3, 1), outputs(REFERENCES, 0.2, 2)
AWKWARD = [
    "L'e\u0301te\u0301 dernier , il a dit : « oui » .",
    "L'été dernier, il a dit : « oui ».  \t",
    "",
    "   ",
    "un\u2028deux\x0btrois\x85quatre cinq",
    "a\rb c d e f",
    "\u00a0un\u00a0deux trois\u3000quatre ",
    "&quot;un&quot; <skipped> 3,000.5-7 d'une",
    "Œuvre ﬁn Å Å ½ \u037e; \x00 \ufeff z",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_test_set(tmp_path, references=REFERENCES, sources=REFERENCES, a=A, b=B)
    return tmp_path


TEST_SET = ["--references", "references", "--sources", "sources"]
SCORE = ["score", "--hypotheses", "a", *TEST_SET]
COMPARE = ["compare", "a", "b", *TEST_SET, "--resamples", "100", "--trials", "100"]


def printed(capsys, arguments):
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def fails(capsys, arguments, code, *parts):
    assert run(arguments) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    for part in ("bottleneck: ", *parts):
        assert part in shown.err, shown.err


@pytest.mark.usefixtures("folder")
def test_score_prints_the_buckets_as_csv(capsys):
    text = printed(capsys, [*SCORE, "--format", "csv"])
    frame = pd.read_csv(io.StringIO(text))
    assert frame["bucket"].tolist() == ["5-10", "11-20", "21-30", "31-40", "41+"]
    assert frame["n"].tolist() == [20, 20, 20, 0, 0]
    for row, length in zip(frame.to_dict("records"), [7, 15, 25], strict=False):
        places = [place for place, words in enumerate(LENGTHS) if words == length]
        texts = [[side[place] for place in places] for side in (A, REFERENCES)]
        score = sacrebleu.corpus_bleu(texts[0], [texts[1]])
        assert row["bleu"] == pytest.approx(score.score, abs=5.1e-5)
        assert row["signature"] == bleu_signature()


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_scores_are_those_of_sacrebleus_own_command_on_the_same_files(tmp_path, capsys, end):
    """Whatever signs the text holds: nothing that a score depends on is changed on the way."""
    sources = [" ".join("x" * (5 + 7 * (n % 2))) for n in range(len(AWKWARD))]
    turned = [*AWKWARD[1:], AWKWARD[0]]
    for name, lines in (("r", AWKWARD), ("h", turned), ("s", sources)):
        write_lines(tmp_path / name, lines, end=end)
    ours = ["--hypotheses", "h", "--references", "r", "--sources", "s", "--format", "json"]
    ours = [str(tmp_path / part) if len(part) == 1 else part for part in ours]
    page = json.loads(printed(capsys, ["score", *ours, "--edges", "1,9"]))
    command, options = [sys.executable, "-m", "sacrebleu"], ["-m", "bleu", "chrf", "-w", "9", "-b"]
    for row, parity in zip(page["rows"], (0, 1), strict=True):
        # each bucket's lines as files of their own, and the other tool's command on them
        for name, lines in (("br", AWKWARD), ("bh", turned)):
            write_lines(tmp_path / name, lines[parity::2], end=end)
        theirs = subprocess.run(
            [*command, tmp_path / "br", "-i", tmp_path / "bh", *options],
            capture_output=True,
            check=True,
            text=True,
        )
        scores = json.loads(theirs.stdout)
        assert [row["bleu"], row["chrf"]] == pytest.approx(scores, abs=1e-8)


def test_gzip_and_plain_files_give_the_same_bytes(folder, capsys):
    plain = printed(capsys, [*SCORE, "--format", "csv"])
    for name in ("a", "references", "sources"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    packed = ["score", "--hypotheses", "a.gz", "--references", "references.gz"]
    assert printed(capsys, [*packed, "--sources", "sources.gz", "--format", "csv"]) == plain


@pytest.mark.usefixtures("folder")
def test_score_prints_a_table_with_its_caption(capsys):
    text = printed(capsys, [*SCORE, "--resamples", "50", "--seed", "3"])
    assert text.startswith("BLEU by sentence length")
    told = " ".join(text.split())
    assert "50 resamples, seed 3" in told
    assert f"sacreBLEU: {bleu_signature()}" in told
    assert "3 sentences of fewer than 5 source words" in told
    assert max(map(len, text.splitlines())) <= 80


def test_a_files_name_is_printed_as_it_is(folder, capsys):
    """It may look like a sign of rich's, or hold bytes that are no text."""
    for name, form, shown in (
        (":bug:[red]", "rich", ":bug:[red]"),
        (":bug:[red]", "json", ":bug:[red]"),
        ("h\udcff", "rich", r"h\udcff"),
        ("h\udcff", "json", "h?"),
    ):
        (folder / name).write_bytes((folder / "a").read_bytes())
        asked = ["score", "--hypotheses", name, *TEST_SET, "--format", form]
        assert f"Hypotheses: {shown}." in printed(capsys, asked)


def test_a_runs_own_rows_come_back_from_its_texts(folder, capsys):
    """The same numbers and intervals as the run's own table, from files alone."""
    held = write_translated(folder, "none", REFERENCES, A)
    columns = dict.fromkeys(
        ["n", "bleu", "bleu_low", "bleu_high", "chrf", "length_ratio"], "float64"
    )
    own = read_table(held / "scores.csv", columns)
    resamples = str(read_settings(held).scoring.resamples)
    text = printed(capsys, [*SCORE, "--format", "json", "--resamples", resamples])
    ours = pd.DataFrame(json.loads(text)["rows"])[list(columns)].astype("float64")
    pd.testing.assert_frame_equal(ours, own, rtol=1e-12)


@pytest.mark.usefixtures("folder")
def test_compare_prints_both_systems_as_csv_and_as_a_table(capsys):
    frame = pd.read_csv(io.StringIO(printed(capsys, [*COMPARE, "--seed", "3", "--format", "csv"])))
    names = ["5-10", "11-20", "21-30", "31-40", "41+", "all", "interaction"]
    assert frame["bucket"].tolist() == names
    whole = frame.set_index("bucket").loc["all"]
    scores = [sacrebleu.corpus_bleu(side, [REFERENCES]).score for side in (A, B)]
    assert whole["difference"] == pytest.approx(scores[1] - scores[0], abs=5.1e-5)
    assert set(frame["resamples"]) == set(frame["trials"]) == {100}
    assert set(frame["seed"]) == {3}
    text = " ".join(printed(capsys, COMPARE).split())
    for part in ("A: a.", "B: b.", "100 resamples", "interaction", bleu_signature()):
        assert part in text


def test_compare_takes_runs_by_their_folders(folder, capsys):
    runs = [str(write_translated(folder, *each, A)) for each in (("none", REFERENCES),)]
    runs.append(str(write_translated(folder, "dot", REFERENCES, B)))
    options = ["--resamples", "100", "--trials", "100", "--format", "json"]
    rows = json.loads(printed(capsys, ["compare", *runs, *options]))["rows"]
    from_files = json.loads(printed(capsys, [*COMPARE, "--format", "json"]))["rows"]
    assert rows == from_files


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["score", *TEST_SET], ["--hypotheses"]),
        (["score", "--hypotheses", "a", "--references", "references"], ["--sources"]),
        ([*SCORE, "--format", "cvs"], ["unknown format 'cvs'", "'csv'"]),
        ([*SCORE, "--edges", "5"], ["--edges '5'", "two or more"]),
        ([*SCORE, "--edges", "5,x"], ["--edges '5,x'"]),
        ([*SCORE, "--edges", "11,5"], ["--edges '11,5'", "ascending"]),
        ([*SCORE, "--resamples", "0"], ["--resamples"]),
        (["compare", "a", *TEST_SET], ["argument", "B"]),
        (["compare", "a", "b"], ["system A 'a'", "--references and --sources"]),
        (["compare", "a", "b", "--references", "references"], ["--sources missing"]),
        ([*COMPARE, "--format", "cvs"], ["'csv'"]),
        ([*COMPARE, "--trials", "0"], ["--trials"]),
    ],
)
def test_usage_errors_end_with_two(capsys, arguments, parts):
    fails(capsys, arguments, 2, *parts)


def test_files_of_unequal_length_are_named_with_their_counts(folder, capsys):
    write_lines(folder / "references", REFERENCES[:-1])
    parts = ["'a' has 63 lines", "--references 'references' has 62"]
    fails(capsys, SCORE, 1, "--hypotheses", *parts)
    fails(capsys, COMPARE, 1, "system A", *parts)
    write_lines(folder / "references", REFERENCES)
    write_lines(folder / "sources", [*REFERENCES, ""])
    fails(capsys, SCORE, 1, "'a' has 63 lines", "--sources 'sources' has 64")


def test_what_is_wrong_with_a_file_is_told(folder, capsys):
    fails(
        capsys, ["score", "--hypotheses", "absent", *TEST_SET], 1, "--hypotheses 'absent'", "exist"
    )
    fails(capsys, ["compare", "a", "absent", *TEST_SET], 1, "system B 'absent'", "exist")
    (folder / "a").write_bytes(b"")
    fails(capsys, SCORE, 1, "--hypotheses 'a' is empty")
    (folder / "a").write_bytes(b"un\ncaf\xe9\n")
    fails(capsys, SCORE, 1, "--hypotheses 'a' line 2 is not UTF-8")
    (folder / "a.gz").write_bytes(gzip.compress(b"un\n" * 900)[:-9])
    fails(capsys, ["score", "--hypotheses", "a.gz", *TEST_SET], 1, "'a.gz' is no whole gzip file")
    fails(capsys, ["score", "--hypotheses", ".", *TEST_SET], 1, "--hypotheses '.' is a folder")


@pytest.mark.usefixtures("folder")
def test_fewer_than_two_filled_buckets(capsys):
    parts = ["63 sources fill only bucket 5-39", "two are needed"]
    fails(capsys, [*SCORE, "--edges", "5,40"], 1, *parts)
    fails(capsys, [*COMPARE, "--edges", "5,40"], 1, *parts)


def test_outputs_that_are_all_empty_are_a_system_too(folder, capsys):
    (folder / "a").write_bytes(b"\n" * len(REFERENCES))
    frame = pd.read_csv(io.StringIO(printed(capsys, [*SCORE, "--format", "csv"])))
    assert frame["bleu"].dropna().tolist() == [0, 0, 0]
    assert frame["empty"].tolist() == frame["n"].tolist()
