"""Commands that read results, or the output of any system."""

import csv
import gzip
import io
import os

import pandas as pd
import pytest
import sacrebleu
from planted import write_planted, write_sizes
from system_files import outputs, reference_texts, write_lines, write_test_set

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import ENDINGS
from seq2seq_bottleneck.scoring.bleu import bleu_signature

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
IDS = [claim.id for claim in CLAIMS]


def test_export_takes_conditions_as_tables_do_and_writes_the_file_or_bundle_that_is_named(
    tmp_path, ok
):
    write_planted(tmp_path / "out", ARMS)
    arguments = ["export --where attention=none --results", tmp_path / "out"]
    text = ok(*arguments).out
    frame = pd.read_csv(io.StringIO(text), keep_default_na=False)
    assert set(frame["run"]) == {"none1x1", "none2x1"}
    path = tmp_path / "tidy" / "runs.csv"
    printed = ok(*arguments, "-o", path)
    assert printed.out == f"Written to {path}: {len(text.splitlines()) - 1} rows\n"
    assert path.read_text(encoding="utf8") == text
    said = ok(*arguments, "--where seed=2 --bundle", tmp_path / "b").out
    assert said == f"Written to {tmp_path / 'b'}: 1 run\n"
    assert set(Results.open(tmp_path / "b").runs["run"]) == {"none2x1"}
    folders = ["--results", tmp_path / "out", "--results", tmp_path / "b"]
    said = ok("export", *folders, "--bundle", tmp_path / "all").out
    assert said == f"Written to {tmp_path / 'all'}: 4 runs\n"


TITLES = [
    "The failure pattern (L-FAIL): no attention",
    "The vindication (L-VIND): no attention against",
    "BLEU by context size and source words",
    "BLEU of every arm by sentence length",
]


@pytest.mark.parametrize(
    ("arms", "sizes", "heads"),
    [
        (["none", "additive"], [8], TITLES[:2]),
        (["none", "additive"], [8, 16], [TITLES[2]]),
        (["none", "additive", "dot"], [8], [TITLES[3]]),
    ],
)
def test_table_without_a_name_is_the_one_that_shows_every_arm(
    arms, sizes, heads, tmp_path, ok, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shares = {"none": ARMS["none"]}
    write_sizes(
        tmp_path / "results" / "runs" / "latest",
        {(size, arm): shares.get(arm, [0.1] * 5) for size in sizes for arm in arms},
    )
    text = ok("table").out
    assert [title for title in TITLES if title in text] == heads
    assert "All tables: failure-pattern, vindication," in " ".join(text.split())


def test_a_table_is_written_to_a_file_in_the_format_of_its_ending(tmp_path, ok):
    write_planted(tmp_path / "out", ARMS)
    line = ["table vindication --like-slide --results", tmp_path / "out"]
    for ending, form in ENDINGS.items():
        path = tmp_path / "new" / f"table{ending}"
        assert ok(*line, "-o", path).out == f"Written to {path}\n"
        assert path.read_text(encoding="utf8") == ok(*line, "--format", form).out


def claims(ok, *arguments):
    """The rows of the CSV by id, and the text on stderr."""
    printed = ok("table claims --format csv --results", *arguments)
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(printed.out))}
    assert list(rows) == IDS
    return rows, printed.err


def test_reproduce_decides_the_tables_and_other_claims_name_their_command(tmp_path, ok):
    out = tmp_path / "my results"
    write_planted(out, ARMS)
    rows, said = claims(ok, out)
    assert said == ""
    assert {rows[claim]["verdict"] for claim in IDS[:2]} == {"held"}
    assert rows["L-VIND"]["runs"] == "4 runs: none, additive, seeds 1, 2"
    assert rows["L-VIND"]["command"] == ""
    for claim in IDS[IDS.index("C1") :]:
        assert rows[claim]["verdict"] == "not measured"
        assert rows[claim]["because"]
        assert rows[claim]["rule"]
    assert rows["C1"]["command"] == f"bottleneck sweep context_size --out '{out}'"
    assert rows["C10"]["command"] == f"bottleneck sweep controls --out '{out}'"
    assert rows["C11"]["command"] == f"bottleneck study length --results '{out}'"
    rows, _ = claims(ok, out, "--where seed=2")
    assert rows["L-VIND"]["runs"] == "2 runs: none, additive, seed 2"


LENGTHS = [3] * 3 + [7] * 20 + [15] * 20 + [25] * 20
REFERENCES = reference_texts(LENGTHS)
A, B = outputs(REFERENCES, 0.3, 1), outputs(REFERENCES, 0.2, 2)
TEST_SET = "--references references --sources sources"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_test_set(tmp_path, references=REFERENCES, sources=REFERENCES, a=A, b=B)
    return tmp_path


@pytest.fixture
def printed(ok):
    """What a command prints; its stderr must be empty."""

    def text(*arguments):
        answer = ok(*arguments)
        assert answer.err == ""
        return answer.out

    return text


def test_score_prints_the_buckets_as_csv_and_as_a_table_of_plain_or_packed_files(folder, printed):
    text = printed("score a --format csv", TEST_SET)
    frame = pd.read_csv(io.StringIO(text))
    assert frame["bucket"].tolist() == ["5-10", "11-20", "21-30", "31-40", "41+"]
    assert frame["n"].tolist() == [20, 20, 20, 0, 0]
    assert set(frame["signature"].dropna()) == {bleu_signature()}
    for name in ("a", "references", "sources"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    packed = "score a.gz --references references.gz --sources sources.gz --format csv"
    assert printed(packed) == text
    table = printed("score a --resamples 50", TEST_SET)
    assert table.startswith("BLEU by sentence length")
    assert max(map(len, table.splitlines())) <= 80
    caption = " ".join(table.split())
    assert "50 resamples, seed 1" in caption
    assert f"sacreBLEU: {bleu_signature()}" in caption


@pytest.mark.usefixtures("folder")
def test_compare_prints_the_difference_and_what_it_was_asked_for(printed):
    options = "--resamples 100 --trials 90 --format csv"
    frame = pd.read_csv(io.StringIO(printed("score a b", options, TEST_SET)))
    scores = [sacrebleu.corpus_bleu(side, [REFERENCES]).score for side in (A, B)]
    difference = frame.set_index("bucket").loc["all", "difference"]
    assert difference == pytest.approx(scores[1] - scores[0], abs=5.1e-5)
    for column, value in {"seed": 1, "resamples": 100, "trials": 90}.items():
        assert set(frame[column]) == {value}


def test_texts_are_read_once_so_they_may_be_pipes_and_references_several(folder, printed):
    write_lines(folder / "more", [f"{text} encore" for text in REFERENCES])
    for command in ("score a", "score a b --resamples 50 --trials 50"):
        line, pipes = f"{command} {TEST_SET} --references more --format csv", {}
        for name in ("references", "more", "sources"):
            pipes[name], writing = os.pipe()
            os.write(writing, (folder / name).read_bytes())
            os.close(writing)
        piped = [f"/dev/fd/{pipes[word]}" if word in pipes else word for word in line.split()]
        text = printed(piped)
        assert text == printed(line)
        assert "nrefs:2|" in text
        for reading in pipes.values():
            os.close(reading)


@pytest.mark.usefixtures("folder")
def test_bleu_uses_the_named_tokenizer_and_an_unknown_one_is_refused(tmp_path, ok, fails):
    lines = [f"{'我们喜欢' * (1 + n % 4)}{'猫狗鸟鱼'[n // 4 % 4]}。" for n in range(32)]
    texts = {"r": lines, "b": [line.replace("狗", "马") for line in lines], "a": lines[::-1]}
    for name, text in texts.items():
        write_lines(tmp_path / name, text)
    command = "score a b --references r --sources r --resamples 9 --trials 9 --format csv"
    printed = ok(command, "--tokenize zh")
    assert printed.err == ""
    row = pd.read_csv(io.StringIO(printed.out)).set_index("bucket").loc["all"]
    theirs = [sacrebleu.corpus_bleu(texts[name], [lines], tokenize="zh") for name in "ab"]
    assert [row["bleu_a"], row["bleu_b"]] == pytest.approx([t.score for t in theirs], abs=1e-4)
    assert "|tok:zh|" in row["signature"]
    score = "score b --references r --sources r --format csv --tokenize"
    assert "|tok:zh|" in ok(score, "zh").out
    for warned in (ok(command), ok(score, "intl")):
        (line,) = warned.err.splitlines()
        assert line.endswith("has no spaces: give --tokenize zh (or char)")
    assert "has no tokenizer 'zhh'; did you mean 'zh'?" in fails(score, "zhh", code=2)
    write_lines(tmp_path / "a", ["▁"])
    warned = ok("score a --references a --sources a").err
    assert " of a (1 line), references (1 line), sources (1 line): " in warned
