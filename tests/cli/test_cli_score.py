"""``bottleneck score`` and ``bottleneck compare`` from the command line."""

import gzip
import io
import json

import pandas as pd
import pytest
import sacrebleu
from system_files import outputs, reference_texts, write_test_set, write_translated

from seq2seq_bottleneck.scoring.bleu import bleu_signature

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
    """What a command prints that has nothing to say on stderr."""

    def text(*arguments):
        answer = ok(*arguments)
        assert answer.err == ""
        return answer.out

    return text


def test_score_prints_the_buckets_as_csv_and_as_a_table_of_plain_or_packed_files(folder, printed):
    text = printed("score --hypotheses a --format csv", TEST_SET)
    frame = pd.read_csv(io.StringIO(text))
    assert frame["bucket"].tolist() == ["5-10", "11-20", "21-30", "31-40", "41+"]
    assert frame["n"].tolist() == [20, 20, 20, 0, 0]
    assert set(frame["signature"].dropna()) == {bleu_signature()}
    for name in ("a", "references", "sources"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    packed = "score --hypotheses a.gz --references references.gz --sources sources.gz --format csv"
    assert printed(packed) == text
    table = printed("score --hypotheses a --resamples 50 --seed 3", TEST_SET)
    assert table.startswith("BLEU by sentence length")
    assert max(map(len, table.splitlines())) <= 80
    caption = " ".join(table.split())
    assert "50 resamples, seed 3" in caption
    assert f"sacreBLEU: {bleu_signature()}" in caption
    assert "3 sentences of fewer than 5 source words" in caption


@pytest.mark.parametrize(
    ("name", "form", "expected"),
    [
        (":bug:[red]", "rich", ":bug:[red]"),
        ("h\udcff", "rich", r"h\udcff"),
        ("h\udcff", "json", "h?"),
    ],
)
def test_a_files_name_is_printed_as_it_is(folder, printed, name, form, expected):
    """It may look like a sign of rich's, or hold bytes that are no text."""
    (folder / name).write_bytes((folder / "a").read_bytes())
    text = printed("score --format", form, "--hypotheses", [name], TEST_SET)
    assert f"Hypotheses: {expected}." in text


def test_compare_prints_two_files_or_two_runs_as_csv_and_as_a_table(folder, printed):
    few = "--resamples 100 --trials 100"
    frame = pd.read_csv(io.StringIO(printed("compare a b --seed 3 --format csv", few, TEST_SET)))
    names = ["5-10", "11-20", "21-30", "31-40", "41+", "all", "interaction"]
    assert frame["bucket"].tolist() == names
    scores = [sacrebleu.corpus_bleu(side, [REFERENCES]).score for side in (A, B)]
    difference = frame.set_index("bucket").loc["all", "difference"]
    assert difference == pytest.approx(scores[1] - scores[0], abs=5.1e-5)
    assert set(frame["resamples"]) == set(frame["trials"]) == {100}
    assert set(frame["seed"]) == {3}
    text = " ".join(printed("compare a b", few, TEST_SET).split())
    for part in ("A: a.", "B: b.", "100 resamples", "interaction", bleu_signature()):
        assert part in text
    runs = [write_translated(folder, arm, REFERENCES, text) for arm, text in
            (("none", A), ("dot", B))]  # fmt: skip
    of_files = json.loads(printed("compare a b --format json", few, TEST_SET))["rows"]
    assert json.loads(printed("compare --format json", few, *runs))["rows"] == of_files
