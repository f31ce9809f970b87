"""A run's translations, read back as they were written; damaged ones are named."""

import pytest
from listed import relist
from system_files import outputs, reference_texts, write_translated

from seq2seq_bottleneck.results.folders import read_outputs
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed

REFERENCES = reference_texts([6, 12, 25])
HYPOTHESES = [*outputs(REFERENCES[:2], 0.3, 1), 'un\u2028deux\x85trois « "quatre" » \\ \t']


@pytest.fixture
def run(tmp_path):
    return write_translated(tmp_path, "none", REFERENCES, HYPOTHESES)


def test_texts_come_back_sign_by_sign(run):
    read = read_outputs(run)
    assert read.hypotheses == HYPOTHESES
    assert read.references == read.sources == REFERENCES


def test_a_run_that_did_not_end_says_so(run):
    write_listed(run, [], ["hypotheses.jsonl"])
    with pytest.raises(UserError, match=r"nonerun' has no hypotheses.jsonl: the run did not end"):
        read_outputs(run)


def ending(line):
    """A change of the last line."""
    return lambda content: content.removesuffix(b"\n").rpartition(b"\n")[0] + b"\n" + line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-20], "delimiter|Unterminated|Expecting"),
        (ending(b""), "it has 2 sentences, sentences.csv has 3"),
        (lambda content: content[:0], "Expecting value"),
        (ending(b"[1]\n"), "indices"),
        (ending(b"3\n"), "subscriptable"),
        (ending(b'{"source": "a", "reference": "b"}\n'), "hypothesis"),
        (lambda content: content.replace(b"mot", b"\xff", 1), "utf-8"),
    ],
)
def test_a_damaged_file_is_named_with_the_way_out(run, change, message):
    path = run / "hypotheses.jsonl"
    path.write_bytes(change(path.read_bytes()))
    relist(path)
    with pytest.raises(UserError, match=message) as error:
        read_outputs(run)
    assert str(path) in str(error.value)
    assert "train it again" in str(error.value)
