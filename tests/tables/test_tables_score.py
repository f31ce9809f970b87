"""The table of any system's output: sacreBLEU's scores of each bucket's unchanged sentences."""

import subprocess

import pandas as pd
import pytest
import sacrebleu
from system_files import outputs, reference_texts, write_lines

from seq2seq_bottleneck.corpus.vocabulary import count_words, subword_advice, tokenizer_advice
from seq2seq_bottleneck.scoring.bleu import bleu, bleu_signature, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate
from seq2seq_bottleneck.settings.concerns import ScoringSettings
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.score import Output, read_systems, score_page

LENGTHS = [3] * 4 + [7] * 110 + [15] * 30 + [25] * 30 + [44] * 20
SOURCES = reference_texts(LENGTHS, seed=1)
REFERENCES = reference_texts([length + 1 for length in LENGTHS], seed=2)
HYPOTHESES = ["", *outputs(REFERENCES, 0.3, 3)[1:-1], "  "]
SCORING = ScoringSettings(resamples=200)
INSIDE = {"5-10": 7, "11-20": 15, "21-30": 25, "31-40": 33, "41+": 44}


def system(hypotheses=HYPOTHESES, references=REFERENCES, sources=SOURCES):
    return Output("mine", sources, [references], hypotheses)


@pytest.fixture(scope="module")
def page():
    return score_page([system()], SCORING)


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
            same = estimate(bleu, bleu_statistics(hypotheses, references)[None], weights)
            assert (row["bleu_low"], row["bleu_high"]) == pytest.approx((same.low, same.high))
            assert row["bleu_low"] < row["bleu"] < row["bleu_high"]


def test_a_text_without_references_is_refused():
    with pytest.raises(UserError, match="no reference of mine has words"):
        score_page([system(references=[" "] * len(REFERENCES))], SCORING)


@pytest.fixture
def read(tmp_path):
    """A system's output, from hypotheses, references and sources by file name."""

    def of(hypotheses, references, sources):
        gold = [tmp_path / name for name in references.split()]
        given = {"--hypotheses": tmp_path / hypotheses}
        (output,) = read_systems(given, gold, tmp_path / sources)
        return output

    return of


def test_files_are_read_unchanged(tmp_path, read):
    """Nothing is normalised and no space is folded; a byte-order mark is not part of the text."""
    lines = ["e\u0301te\u0301 ", "", "a\u2028b\x0bc\x85d\rf", "\u00a0x\u3000 y\t", "\ufeffz"]
    for name, end in (("a", "\n"), ("b", "\r\n")):
        write_lines(tmp_path / name, lines, end=end)
    output = read("a", "b", "a")
    assert [output.hypotheses] == output.references == [lines]
    assert output.name == str(tmp_path / "a")
    assert [*map(count_words, output.sources)] == [1, 0, 5, 2, 1]
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfun\r\ndeux")
    (tmp_path / "b").write_bytes(b"un\ndeux\n")
    output = read("a", "b", "b")
    assert [output.hypotheses] == output.references == [["un", "deux"]]


def test_subwords_left_in_text_are_counted_with_a_command_that_joins_them():
    cut = {"@@ ": "le ch@@ at do@@ rt", "▁": "▁le ▁ch at ▁do rt"}
    for mark, text in cut.items():
        (line,) = subword_advice({"hypotheses of mine": ["le chat dort", text, text]})
        assert line.startswith(f"Subwords ({mark!r}) in hypotheses of mine (2 lines): join them")
        command = line.partition("`")[2].removesuffix("`")
        ran = subprocess.run(command, shell=True, input=text, capture_output=True, text=True)
        assert ran.stdout == "le chat dort"


def test_references_in_several_files_or_columns_score_as_sacrebleus(tmp_path, read):
    first = [f"{text} " for text in REFERENCES]
    second = [" ".join(reversed(text.split())) for text in REFERENCES]
    third = ["" if place % 9 else text for place, text in enumerate(REFERENCES)]
    columns = ["\t".join(row) for row in zip(second, third, strict=True)]
    for name, lines in {"1": first, "2": second, "3": third, "tsv": columns}.items():
        write_lines(tmp_path / name, lines)
    write_lines(tmp_path / "h", HYPOTHESES)
    write_lines(tmp_path / "s", SOURCES)
    whole, split = (score_page([read("h", names, "s")], SCORING) for names in ("1 2 3", "1 tsv"))
    pd.testing.assert_frame_equal(whole.frame, split.frame)
    assert "References: 3 per sentence." in split.caption
    for row in whole.frame.to_dict("records"):
        places = [place for place, n in enumerate(LENGTHS) if n == INSIDE[row["bucket"]]]
        texts = [[text[p] for p in places] for text in (HYPOTHESES, first, second, third)]
        if places:
            score = sacrebleu.corpus_bleu(texts[0], texts[1:])
            measured = [row["bleu"], row["brevity_penalty"], row["reference_tokens"]]
            assert measured == pytest.approx([score.score, score.bp, score.ref_len], abs=1e-10)
            assert row["signature"].startswith("nrefs:3|")
    chrf = sacrebleu.CHRF()
    chrf.corpus_score(HYPOTHESES, [first, second, third])
    assert any(line.endswith(f"; chrF: {chrf.get_signature()}") for line in whole.caption)
    columns[7] = "one"
    write_lines(tmp_path / "tsv", columns)
    with pytest.raises(UserError, match=r"tsv' line 8 has a different number of references"):
        read("h", "tsv", "s")


FAIRSEQ = """2026-01-01 00:00:00 | INFO | model loaded
S-1\tan owl
T-1\tun hib@@ ou
H-1\t-0.2\tun hib@@ ou
D-1\t-0.2\tun hibou
H-1\t-0.9\tune chouette
D-1\t-0.9\tune chouette
P-1\t-0.1 -0.2
S-0\ta cat
T-0\tun chat
H-0\t-0.3\tle ch@@ at
D-0\t-0.3\tle chat
Generate test with beam=5: BLEU4 = 12.3"""


def test_fairseqs_lines_are_read_by_number(tmp_path, read):
    write_lines(tmp_path / "out", FAIRSEQ.splitlines())
    output = read("out", "out", "out")
    assert output.hypotheses == ["le chat", "un hibou"]
    assert output.references == [["un chat", "un hib@@ ou"]]
    assert output.sources == ["a cat", "an owl"]
    assert output.name == f"{tmp_path / 'out'} (fairseq's D lines)"
    write_lines(tmp_path / "h", [line for line in FAIRSEQ.splitlines() if line[:2] == "H-"])
    assert read("h", "out", "out").hypotheses == ["le ch@@ at", "un hib@@ ou"]


CHINESE = [("我们爱猫。", "we love cats") for _ in range(6)] + [
    ("他昨天看见了这条长河。", "a b")
] * 6


def test_text_without_spaces_is_counted_in_characters_and_its_tokenizer_is_named():
    sources, hypotheses = (list(side) for side in zip(*CHINESE, strict=True))
    scoring = ScoringSettings(edges="5,9", resamples=9)
    page = score_page([system(hypotheses, hypotheses, sources)], scoring)
    assert page.frame["source_words"].tolist() == [5, 11]
    assert "Lengths of the source are counted in characters: its script has no spaces." in (
        page.caption
    )
    advice = {"我们爱猫。": "zh", "猫が好きです": "ja-mecab", "a 猫": "zh"}
    advice = {text: f"{name} (or char)" for text, name in advice.items()} | {"ฉันรักแมว": "char"}
    for text, name in advice.items():
        (line,) = tokenizer_advice([text], "13a", "--tokenize ")
        assert line.endswith(f"has no spaces: give --tokenize {name}")
        assert tokenizer_advice([text], "char", "--tokenize ") == []
