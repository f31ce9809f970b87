"""Two systems in one table: differences, the whole test set, the interaction, and names."""

import numpy as np
import pytest
import sacrebleu
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from system_files import outputs, reference_texts, write_lines, write_translated

from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate
from seq2seq_bottleneck.settings.concerns import ScoringSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.tables.score import Output, read_systems, score_page

LENGTHS = [3] * 5 + [7] * 40 + [15] * 120 + [25] * 40 + [44] * 40
REFERENCES = reference_texts(LENGTHS, seed=2)
SHARE = {3: 0.3, 7: 0.3, 15: 0.3, 25: 0.3, 44: 0.15}
"""Shares of words that system B loses; A loses 0.3 in every bucket."""
A = outputs(REFERENCES, 0.3, 3)
B = [outputs([text], SHARE[len(text.split())], 100 + n)[0] for n, text in enumerate(REFERENCES)]
HOW = ScoringSettings(resamples=500)
INSIDE = {"5-10": 7, "11-20": 15, "21-30": 25, "31-40": 33, "41+": 44}
P_VALUES = ["p_bootstrap", "p_randomisation"]


def of(name, hypotheses):
    return Output(name, REFERENCES, [REFERENCES], hypotheses)


def page_of(first=A, second=B, how=HOW):
    return score_page([of("one", first), of("two", second)], how, 500)


@pytest.fixture(scope="module")
def page():
    return page_of()


@pytest.fixture(scope="module")
def rows(page):
    return {row["bucket"]: row for row in page.frame.to_dict("records")}


def texts_of(bucket):
    """Texts of both systems and of the references, in a bucket or the whole test set."""
    places = [p for p, n in enumerate(LENGTHS) if bucket == "all" or n == INSIDE[bucket]]
    return [[side[place] for place in places] for side in (A, B, REFERENCES)]


@pytest.mark.parametrize("bucket", ["5-10", "41+", "all"])
def test_scores_and_differences_are_sacrebleus_paired_tests(rows, bucket):
    first, second, gold = texts_of(bucket)
    metrics = {"BLEU": BLEU(references=[gold])}
    test = PairedTest([("a", first), ("b", second)], metrics, None, test_type="bs", n_samples=10)
    theirs = [result.score for result in test()[1]["BLEU"]]
    row = rows[bucket]
    assert [row["bleu_a"], row["bleu_b"]] == pytest.approx(theirs, abs=1e-10)
    assert row["difference"] == pytest.approx(theirs[1] - theirs[0], abs=1e-10)
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    for name, side in (("a", first), ("b", second)):
        whole = sacrebleu.corpus_bleu(side, [gold])
        assert row[f"brevity_penalty_{name}"] == pytest.approx(whole.bp, abs=1e-12)
    assert all(0 < row[name] <= 1 for name in P_VALUES)


def test_the_interactions_interval_is_of_independent_resamples_of_both_buckets(rows):
    draws = []
    for bucket, place in (("5-10", 0), ("41+", 4)):
        *systems, gold = texts_of(bucket)
        counts = [bleu_statistics(texts, gold) for texts in systems]
        weights = draw(len(gold), HOW.resamples, seed=HOW.seed, bucket=place)
        first, second = (estimate(bleu, rows[None], weights) for rows in counts)
        draws.append(second.draws - first.draws)
    ends = np.quantile(draws[1] - draws[0], [0.025, 0.975])
    row = rows["interaction"]
    assert [row["difference_low"], row["difference_high"]] == pytest.approx(list(ends), abs=1e-9)


def test_a_bucket_of_few_sentences_is_left_out_of_the_interaction():
    """Two sentences of 44 words: their interval says nothing, so no interaction uses it."""
    texts = reference_texts([7] * 20 + [15] * 20 + [44] * 2)
    systems = (Output(str(seed), texts, [texts], outputs(texts, 0.3, seed)) for seed in (1, 2))
    page = score_page([*systems], HOW, 500)
    rows = {row["bucket"]: row for row in page.frame.to_dict("records")}
    more = rows["11-20"]["difference"] - rows["5-10"]["difference"]
    assert rows["interaction"]["difference"] == pytest.approx(more, abs=1e-12)
    assert rows["interaction"]["n"] == 40


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(page):
    assert page_of().render("csv") == page.render("csv")
    other = ScoringSettings(resamples=500, seed=2)
    assert page_of(how=other).frame["p_bootstrap"].tolist() != page.frame["p_bootstrap"].tolist()


# Which systems may be compared.


@pytest.fixture
def files(tmp_path):
    texts = {"references": REFERENCES, "sources": REFERENCES, "a": A, "b": B}
    for name, lines in texts.items():
        write_lines(tmp_path / name, lines)
    return {name: tmp_path / name for name in texts}


def read(files, a, b):
    systems = {"system A": a, "system B": b}
    return read_systems(systems, [files["references"]], files["sources"])


@pytest.mark.slow
def test_two_runs_two_files_and_one_of_each_give_one_table(tmp_path, files):
    systems = (("none", A), ("dot", B))
    runs = [write_translated(tmp_path, arm, REFERENCES, texts) for arm, texts in systems]
    pairs = [
        read_systems(dict(zip("AB", runs, strict=True)), [], None),
        read(files, files["a"], files["b"]),
        read(files, runs[0], files["b"]),
        read(files, files["a"], runs[1]),
    ]
    quick = ScoringSettings(resamples=50)
    tables = [score_page(pair, quick, 50).frame for pair in pairs]
    assert all(table.equals(tables[0]) for table in tables[1:])
    assert pairs[0][0].name == f"{runs[0]} (none, seed 1)"
    assert pairs[2][1].name == str(files["b"])


@pytest.mark.parametrize("what", ["references", "sources"])
def test_a_different_test_set_is_refused_with_its_line_and_white_space_is_ignored(
    tmp_path, files, what
):
    run = write_translated(tmp_path, "none", REFERENCES, A)
    write_lines(files[what], [f" {text.replace(' ', '  ')}" for text in REFERENCES])
    assert read(files, run, files["b"])[1].hypotheses == B
    write_lines(files[what], [*REFERENCES[:9], "autre", *REFERENCES[10:]])
    with pytest.raises(UserError, match=r"different test sets: .*line 10\)"):
        read(files, run, files["b"])


def test_what_is_not_a_system_is_refused_with_a_way_out(tmp_path, files):
    run = write_translated(tmp_path / "out", "none", REFERENCES, A)
    shorter = write_translated(tmp_path, "dot", REFERENCES[:-1], B[:-1])
    a, b = files["a"], files["b"]
    for systems, error, message in (
        ((run, shorter), UserError, r"references differ \(first in line 245\)"),
        ((a, b), UsageError, "A .* also give --references and --sources"),
        ((run, tmp_path / "out"), UsageError, "B .* not the folder of one run"),
    ):
        with pytest.raises(error, match=message):
            read_systems(dict(zip("AB", systems, strict=True)), [], None)
