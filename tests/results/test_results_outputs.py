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


def test_texts_come_back_sign_by_sign_and_a_run_that_did_not_end_has_none(run):
    read = read_outputs(run)
    assert read.hypotheses == HYPOTHESES
    assert read.references == read.sources == REFERENCES
    write_listed(run, [], ["hypotheses.jsonl"])
    with pytest.raises(UserError, match=r"nonerun' has no hypotheses.jsonl: the run did not end"):
        read_outputs(run)


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (b'{"source": "a', "delimiter|Unterminated|Expecting"),
        (b"", "it has 2 sentences, sentences.csv has 3"),
        (b"[1]\n", "indices"),
        (b"3\n", "subscriptable"),
        (b'{"source": "a", "reference": "b"}\n', "hypothesis"),
        (b'{"source": "\xff"}\n', "utf-8"),
    ],
)
def test_a_damaged_last_line_is_named_with_the_way_out(run, last, message):
    path = run / "hypotheses.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], last]))
    relist(path)
    with pytest.raises(UserError, match=message) as error:
        read_outputs(run)
    assert str(path) in str(error.value)
    assert "train it again" in str(error.value)
