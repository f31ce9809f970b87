"""The table of any system's output: sacreBLEU's scores of each bucket's sentences as given."""

import numpy as np
import pytest
import sacrebleu
from system_files import outputs, reference_texts, write_lines

from seq2seq_bottleneck.scoring.bleu import bleu, bleu_signature, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate
from seq2seq_bottleneck.settings.concerns import ScoringSettings
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.score import Output, read_files, score_page

LENGTHS = [3] * 4 + [7] * 110 + [15] * 30 + [25] * 30 + [44] * 20
SOURCES = reference_texts(LENGTHS, seed=1)
REFERENCES = reference_texts([length + 1 for length in LENGTHS], seed=2)
HYPOTHESES = ["", *outputs(REFERENCES, 0.3, 3)[1:-1], "  "]
SCORING = ScoringSettings(resamples=200)
INSIDE = {"5-10": 7, "11-20": 15, "21-30": 25, "31-40": 33, "41+": 44}


def system(hypotheses=HYPOTHESES, references=REFERENCES, sources=SOURCES):
    return Output("mine", sources, references, hypotheses)


def rows_of(output, scoring=SCORING):
    return score_page(output, scoring).frame.to_dict("records")


@pytest.fixture(scope="module")
def page():
    return score_page(system(), SCORING)


def members(length):
    places = [place for place, words in enumerate(LENGTHS) if words == length]
    return [[text[place] for place in places] for text in (HYPOTHESES, REFERENCES)]


def test_every_bucket_is_sacrebleus_score_of_its_sentences(page):
    rows = page.frame.to_dict("records")
    assert [row["bucket"] for row in rows] == list(INSIDE)
    for row in rows:
        hypotheses, references = members(INSIDE[row["bucket"]])
        assert row["n"] == len(hypotheses)
        if not hypotheses:
            continue
        score = sacrebleu.corpus_bleu(hypotheses, [references])
        assert row["bleu"] == pytest.approx(score.score, abs=1e-10)
        assert row["brevity_penalty"] == pytest.approx(score.bp, abs=1e-12)
        assert row["length_ratio"] == pytest.approx(score.ratio, abs=1e-12)
        assert row["reference_tokens"] == score.ref_len
        chrf = sacrebleu.corpus_chrf(hypotheses, [references]).score
        assert row["chrf"] == pytest.approx(chrf, abs=1e-10)
        assert row["source_words"] == INSIDE[row["bucket"]]
        assert row["signature"] == bleu_signature()


def test_intervals_are_those_of_a_runs_own_table(page):
    for place, row in enumerate(page.frame.to_dict("records")):
        hypotheses, references = members(INSIDE[row["bucket"]])
        if hypotheses:
            weights = draw(len(hypotheses), SCORING.resamples, seed=SCORING.seed, bucket=place)
            same = estimate(bleu, bleu_statistics(hypotheses, references)[None], weights).interval
            assert (row["bleu_low"], row["bleu_high"]) == pytest.approx((same.low, same.high))
            assert row["bleu_low"] < row["bleu"] < row["bleu_high"]


def test_an_empty_bucket_is_a_row_of_blanks(page):
    row = page.frame.set_index("bucket").loc["31-40"]
    assert row["n"] == row["empty"] == row["reference_tokens"] == 0
    assert row["signature"] == ""
    names = ["bleu", "bleu_low", "bleu_high", "brevity_penalty", "length_ratio", "chrf"]
    assert row[[*names, "source_words"]].isna().all()
    line = page.render("csv").splitlines()[4]
    assert line == "31-40,0,,,,,,,,0,0,"


@pytest.mark.parametrize(
    ("edges", "kept", "text"),
    [
        ("80,90", LENGTHS, "the 194 sentences of mine whose references have words fill no bucket"),
        ("5,11,21,31", [25], "the 30 sentences of mine whose .* fill only bucket 21-30 of"),
    ],
)
def test_fewer_than_two_buckets_with_references_are_refused(edges, kept, text):
    references = [
        line if length in kept else " " for line, length in zip(REFERENCES, LENGTHS, strict=True)
    ]
    with pytest.raises(UserError, match=f"{text}.*two are needed.*--edges"):
        score_page(system(references=references), ScoringSettings(edges=edges))


def test_a_bucket_whose_references_are_all_empty_has_no_score_and_is_not_filled():
    references = [
        text if length != 25 else " " for text, length in zip(REFERENCES, LENGTHS, strict=True)
    ]
    output = system(references=references)
    row = {row["bucket"]: row for row in rows_of(output)}["21-30"]
    assert row["n"] == 30
    assert np.isnan(row["bleu"])
    assert np.isnan(row["bleu_low"])
    assert row["signature"] == ""


def test_files_are_read_sign_by_sign(tmp_path):
    """No form is normalised and no space folded; only LF and CRLF end a line.

    A byte-order mark is no part of the text.
    """
    lines = ["e\u0301te\u0301 ", "", "a\u2028b\x0bc\x85d\rf", "\u00a0x\u3000 y\t", "\ufeffz"]
    for name, end in (("a", "\n"), ("b", "\r\n")):
        write_lines(tmp_path / name, lines, end=end)
    output = read_files(*(tmp_path / name for name in "aba"))
    assert output.hypotheses == output.references == lines
    assert output.name == str(tmp_path / "a")
    assert output.words.tolist() == [1, 0, 5, 2, 1]
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfun\r\ndeux")
    (tmp_path / "b").write_bytes(b"un\ndeux\n")
    output = read_files(*(tmp_path / name for name in "abb"))
    assert output.hypotheses == output.references == ["un", "deux"]


def test_text_that_looks_tokenised_is_named():
    spaced = [f"{text} ." if place < 100 else text for place, text in enumerate(HYPOTHESES)]
    caption = "\n".join(score_page(system(spaced), SCORING).caption)
    assert "100 or more hypotheses of mine end in a full stop after a space" in caption
    caption = "\n".join(score_page(system([*spaced[1:], "."]), SCORING).caption)
    assert "after a space" not in caption
