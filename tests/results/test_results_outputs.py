"""A run's translations, read back as they were written, and what is said of damaged ones."""

import pytest
from listed import relist, write_relisted
from system_files import outputs, reference_texts, write_translated

from seq2seq_bottleneck.results.folders import read_outputs
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.sums import write_listed

REFERENCES = reference_texts([6, 12, 25])
HYPOTHESES = [*outputs(REFERENCES[:2], 0.3, 1), 'un\u2028deux\x85trois « "quatre" » \\ \t']


@pytest.fixture
def run(tmp_path):
    return write_translated(tmp_path, "none", REFERENCES, HYPOTHESES)


def test_texts_come_back_sign_by_sign(run):
    held = read_outputs(run)
    assert held.hypotheses == HYPOTHESES
    assert held.references == held.sources == REFERENCES


def test_a_run_that_did_not_end_says_so(run):
    write_listed(run, [], ["hypotheses.jsonl"])
    with pytest.raises(UserError, match=r"nonerun' has no hypotheses.jsonl: the run did not end"):
        read_outputs(run)


def last_line(text: str, line: str) -> str:
    kept = text.removesuffix("\n").split("\n")[:-1]
    return "".join([*(f"{each}\n" for each in kept), line])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:-20], "delimiter|Unterminated|Expecting"),
        (lambda text: last_line(text, ""), "it has 2 sentences, sentences.csv has 3"),
        (lambda text: text[:0], "Expecting value"),
        (lambda text: last_line(text, "[1]\n"), "indices"),
        (lambda text: last_line(text, "3\n"), "subscriptable"),
        (lambda text: last_line(text, '{"source": "a", "reference": "b"}\n'), "hypothesis"),
    ],
)
def test_a_damaged_file_is_named_with_the_way_out(run, change, said):
    path = run / "hypotheses.jsonl"
    write_relisted(path, change(path.read_text()))
    with pytest.raises(UserError, match=said) as error:
        read_outputs(run)
    assert str(path) in str(error.value)
    assert "train it again" in str(error.value)


def test_bytes_that_are_no_utf8_are_told(run):
    path = run / "hypotheses.jsonl"
    path.write_bytes(path.read_bytes().replace(b"mot", b"\xff", 1))
    relist(path)
    with pytest.raises(UserError, match="utf-8"):
        read_outputs(run)
