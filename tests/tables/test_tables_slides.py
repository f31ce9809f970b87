"""The slides' tables from planted translations: every number against an outside computation."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from planted import LENGTHS, sentences, write_planted
from planted_arms import Store
from rich.console import Console
from sacrebleu import corpus_bleu

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.controlled import losses
from seq2seq_bottleneck.tables.page import write_pages
from seq2seq_bottleneck.tables.pages import make_page, slide_pages
from seq2seq_bottleneck.tables.slides import failure_pattern, vindication

FALLING = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1, 0.1, 0.1, 0.1, 0.1]}
BUCKETS = {"5-10": 7, "11-20": 15, "21-30": 25, "31-40": 35, "41+": 50}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return folder, write_planted(folder, FALLING)


def mean_bleu(hypotheses, length):
    """Sacrebleu's own score of the sentences of one length, mean over seeds."""
    places = [place for place, n in enumerate(LENGTHS) if n == length]
    references = [[sentences()[place] for place in places]]
    return np.mean([corpus_bleu([h[p] for p in places], references).score for h in hypotheses])


def test_failure_pattern_has_the_issues_columns_and_sacrebleus_numbers(planted):
    folder, made = planted
    table = failure_pattern(compare(load_bundle(folder)))
    expected = "bucket n compression_ratio bleu quality_drop slide_bleu slide_drop"
    assert list(table.columns[:7]) == expected.split()
    assert list(table["bucket"]) == list(BUCKETS)
    assert list(table["n"]) == [12] * 5
    for row, length in zip(table.to_dict("records"), BUCKETS.values(), strict=True):
        assert row["bleu"] == pytest.approx(mean_bleu(made["none"], length), abs=1e-9)
        assert row["compression_ratio"] == pytest.approx(length * 16 / 32)
        assert row["bleu_low"] <= row["bleu"] <= row["bleu_high"]
    base = table["bleu"].iloc[0]
    np.testing.assert_allclose(table["quality_drop"], 100 * (table["bleu"] / base - 1), atol=1e-9)
    assert list(table["slide_bleu"]) == [35.2, 28.5, 18.7, 12.4, 8.1]
    assert list(table["slide_drop"]) == [0, -19, -47, -65, -77]


def test_vindication_has_the_issues_columns_and_paired_gains(planted):
    folder, made = planted
    table = vindication(compare(load_bundle(folder)))
    expected = (
        "bucket n bleu_none bleu_attention gain improvement "
        "slide_none slide_attention slide_improvement"
    )
    assert list(table.columns[:9]) == expected.split()
    for row, length in zip(table.to_dict("records"), BUCKETS.values(), strict=True):
        none, attention = (mean_bleu(made[arm], length) for arm in ("none", "additive"))
        assert row["gain"] == pytest.approx(attention - none, abs=1e-9)
        assert row["improvement"] == pytest.approx(100 * (attention / none - 1), abs=1e-9)
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]
    assert list(table["slide_improvement"]) == [2.6, 14.7, 54.5, 100.0, 200.0]


def test_equal_arms_gain_exactly_nothing(tmp_path):
    write_planted(tmp_path, {"none": FALLING["none"], "dot": FALLING["none"]}, seeds=1)
    bundle = load_bundle(tmp_path)
    # The same hypotheses in both arms: the pairing leaves no interval at all.
    same = bundle.sentences | {"dot1x1": bundle.sentences["none1x1"]}
    table = vindication(compare(replace(bundle, sentences=same)))
    assert (table[["gain", "gain_low", "gain_high"]] == 0).all(axis=None)


def test_an_empty_bucket_is_a_row_of_blanks(tmp_path):
    write_planted(tmp_path, FALLING, seeds=1, keep=frozenset({7, 15, 25, 35}))
    for page in slide_pages(load_bundle(tmp_path)):
        row = page.frame.iloc[-1]
        assert (row["bucket"], row["n"]) == ("41+", 0)
        measured = [name for name in page.frame.columns[2:] if not name.startswith("slide")]
        assert row[measured].isna().all()
        assert "-" in " ".join(page.caption)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kept", "drops"),
    [
        ({7, 15, 25}, ["baseline", "%", "%", "", ""]),
        ({25, 35, 50}, ["", "", "baseline", "%", "%"]),
    ],
)
def test_the_row_that_drops_are_of_is_the_first_filled_one(tmp_path, kept, drops):
    write_planted(tmp_path, FALLING, seeds=1, keep=frozenset(kept))
    page = slide_pages(load_bundle(tmp_path))[0]
    columns = [[str(cell) for cell in one.cells] for one in page.table.make(0).columns]
    ours, printed = columns[5], columns[7]
    assert [cell.partition("\n")[0][-len(end) :] if end else cell
            for cell, end in zip(ours, drops, strict=True)] == drops  # fmt: skip
    assert printed == ["baseline", "-19%", "-47%", "-65%", "-77%"]


def test_pages_are_written_alike_as_csv_and_markdown(planted, tmp_path):
    pages = slide_pages(load_bundle(planted[0]))
    write_pages(pages, tmp_path)
    for page in pages:
        read = pd.read_csv(tmp_path / f"{page.name}.csv")
        pd.testing.assert_frame_equal(read, page.frame, atol=1e-4, check_dtype=False)
        text = (tmp_path / f"{page.name}.md").read_text()
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        assert len(rows) == 1 + len(page.frame)
        assert "sacreBLEU: nrefs:1|case".replace("|", "\\|") in text


def test_the_caption_says_all_that_an_honest_table_must(planted):
    failure, gains = slide_pages(load_bundle(planted[0]))
    text = "\n".join(failure.caption)
    for part in (
        "never levels",
        "none 1,000, additive 1,300 (the score has 300 of them)",
        "seed 1: ",
        "seed 2: ",
        "under 100 sentences",
        "2 test sentences outside",
        "1,234 source and 60 target words; unknown in the test set: 25.00 % and 50.00 %",
        "greedy",
        "not shown to be long enough",
        "|eff:no|tok:13a|",
    ):
        assert part in text
    assert failure.verdicts[0].startswith("L-FAIL: held")
    assert gains.verdicts[0].startswith("L-VIND: held")
    assert failure.caption[0].startswith("Ratio: mean source words of the bucket x")
    assert not any(line.startswith("Ratio:") for line in gains.caption)


def test_the_caption_counts_what_was_cut_and_what_training_holds_by_bucket(tmp_path):
    write_planted(tmp_path, FALLING, seeds=2)
    bundle = load_bundle(tmp_path)
    near = dict(zip(bundle.runs["bucket"].unique(), [0.1, 0.25, np.nan, 0.5, 1.0], strict=True))
    cut = bundle.runs["attention"].map({"none": 3, "additive": 1})
    runs = bundle.runs.assign(near_copies=bundle.runs["bucket"].map(near), unfinished=cut)
    held = {run: bundle.facts(run) | {"near_copies": 0.4} for run in runs["run"]}
    described = {run: bundle.environment["runs"][run] | {"environment": held[run]} for run in held}
    page, _ = slide_pages(type(bundle)(tmp_path, runs, bundle.sentences, {"runs": described}))
    assert "Outputs cut there without an end (all seeds): none: 30; additive: 10." in page.caption
    text = "Training has 40.0 % of the test set's source 5-grams; by bucket 10.0 25.0 - 50.0 100.0:"
    assert text in " ".join(page.caption)


def last_line(name, bundle):
    return make_page(name, bundle).caption[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["failure-pattern", "vindication", "context-size", "arms"])
def test_the_signature_is_that_of_the_scoring_and_not_of_the_sacrebleu_at_hand(planted, name):
    bundle = load_bundle(planted[0])
    runs = bundle.runs
    own = runs.assign(signature="nrefs:1|version:1.2.3")
    assert last_line(name, replace(bundle, runs=own)) == "sacreBLEU: nrefs:1|version:1.2.3"
    # A bucket without sentences has no score to sign.
    blank = own.assign(signature=own["signature"].where(own["bucket"] != "5-10", ""))
    assert last_line(name, replace(bundle, runs=blank)) == "sacreBLEU: nrefs:1|version:1.2.3"
    several = own.assign(signature=own["signature"].where(own["seed"] == 1, "version:4"))
    told = "sacreBLEU: nrefs:1|version:1.2.3; version:4"
    assert last_line(name, replace(bundle, runs=several)) == told
    none = replace(bundle, runs=runs.assign(signature=""))
    assert not last_line(name, none).startswith("sacreBLEU")


def test_the_signature_is_that_of_the_runs_in_the_table(tmp_path):
    write_planted(tmp_path, FALLING, seeds=1, factors=(1, 2))
    bundle = load_bundle(tmp_path)
    runs = bundle.runs
    other = runs["signature"].where(runs["updates"] == runs["updates"].min(), "version:4")
    signed = replace(bundle, runs=runs.assign(signature=other))
    assert "version:4" not in last_line("vindication", signed)
    assert "version:4" in last_line("arms", signed)


def test_nothing_is_stated_in_per_cent_of_next_to_nothing(tmp_path):
    write_planted(tmp_path, {"none": [1.0] * 5, "additive": [0.1] * 5}, seeds=1)
    failure, gains = slide_pages(load_bundle(tmp_path))
    assert failure.frame["quality_drop"].isna().all()
    assert gains.frame["improvement"].isna().all()
    assert (gains.frame["gain"] > 50).all()
    assert failure.verdicts[0].startswith("L-FAIL: not measured")


@pytest.mark.slow
def test_a_doubled_seed_is_held_against_the_same_seed(tmp_path):
    """Two seeds apart from each other, one of them doubled without any change: long enough."""
    write_planted(tmp_path, FALLING, seeds=2, factors=(1,))
    bundle = load_bundle(tmp_path)
    twice = tmp_path / "twice"
    write_planted(twice, FALLING, seeds=1, factors=(2,))
    other = load_bundle(twice)
    merged = type(bundle)(
        tmp_path,
        pd.concat([bundle.runs, other.runs]),
        bundle.sentences | other.sentences,
        {"runs": {**bundle.environment["runs"], **other.environment["runs"]}},
    )
    (line,) = [line for line in slide_pages(merged)[0].caption if line.startswith("Schedule")]
    assert line.startswith("Schedule: long enough; twice the updates (seed 1)")


def test_the_caption_tells_epochs_losses_and_a_loss_that_still_fell(planted):
    text = "\n".join(slide_pages(load_bundle(planted[0]))[0].caption)
    assert "2.5 epochs" in text
    assert "none 0.50 / 1.00, additive 0.50 / 1.00" in text
    assert "still falling at the end: none, additive" in text


@pytest.mark.parametrize(
    ("smoothing", "told"), [(0.0, "training / validation"),
                            (0.1, "training (with label smoothing 0.1) / validation")]
)  # fmt: skip
def test_a_smoothed_training_loss_is_called_so(tmp_path, smoothing, told):
    store = Store(tmp_path)
    for arm, shares in FALLING.items():
        store.add(arm, arm, shares, training={"label_smoothing": smoothing})
    page = slide_pages(load_bundle(store.write()))[0]
    (line,) = [line for line in page.caption if line.startswith("Training")]
    assert f"in nats per target token, {told}: none 0.50 / 1.00" in line
    assert ("with label smoothing" in losses(load_bundle(tmp_path).runs)) == (smoothing > 0)


@pytest.mark.parametrize(("optimizer", "told"), [("adam", "arm."), ("muon", "arm, by Muon.")])
def test_the_caption_names_an_optimizer_other_than_adam(tmp_path, optimizer, told):
    store = Store(tmp_path)
    for arm, shares in FALLING.items():
        store.add(arm, arm, shares, training={"optimizer": optimizer})
    page = slide_pages(load_bundle(store.write()))[0]
    (line,) = [line for line in page.caption if line.startswith("Run: ")]
    assert line.endswith(f"for each {told}")


@pytest.mark.parametrize(
    ("corpus", "text"), [({}, "corpus grammar, "),
                         ({"lexicon": "small"}, "corpus grammar (small lexicon), "),
                         ({"lexicon": "small", "name": "copy"}, "corpus copy, ")]
)  # fmt: skip
def test_the_caption_names_a_small_lexicon(tmp_path, corpus, text):
    store = Store(tmp_path)
    for arm, shares in FALLING.items():
        store.add(arm, arm, shares, corpus=corpus)
    page = slide_pages(load_bundle(store.write()))[0]
    assert any(line.startswith(f"Run: {text}") for line in page.caption)


def test_a_flat_curve_is_not_called_a_fall(tmp_path):
    write_planted(tmp_path, {"none": [0.3] * 5, "additive": [0.3] * 5})
    failure, gains = slide_pages(load_bundle(tmp_path))
    assert failure.verdicts[0].startswith("L-FAIL: not held")
    assert gains.verdicts[0].startswith("L-VIND: not held")


def test_a_doubled_schedule_that_changes_nothing_is_long_enough(tmp_path):
    write_planted(tmp_path, FALLING, seeds=1, factors=(1, 2))
    caption = slide_pages(load_bundle(tmp_path))[0].caption
    (line,) = [line for line in caption if line.startswith("Schedule: long enough; twice")]
    assert f"bucket: none {'+0.0 ' * 4}+0.0; additive {'+0.0 ' * 4}+0.0." in line


def test_a_doubled_schedule_that_moves_a_bucket_is_named(tmp_path):
    write_planted(tmp_path, FALLING, seeds=1, factors=(1,))
    better = tmp_path / "better"
    write_planted(better, {"none": [0.0] * 5, "additive": [0.1] * 5}, seeds=1, factors=(2,))
    once, twice = load_bundle(tmp_path), load_bundle(better)
    runs = pd.concat([once.runs, twice.runs])
    held = once.sentences | twice.sentences
    merged = type(once)(
        tmp_path, runs, held, {"runs": {**once.environment["runs"], **twice.environment["runs"]}}
    )
    (line,) = [line for line in slide_pages(merged)[0].caption if line.startswith("Schedule")]
    assert line.startswith("Schedule: not long enough")
    judged, added = line.split(". Twice the training adds, ")
    assert "none 41+" in judged
    assert "additive" not in judged
    none, attention = added.rstrip(".").split(": ")[1].split("; ")
    assert all(float(number) > 0 for number in none.split()[1:])
    assert attention == f"additive {'+0.0 ' * 4}+0.0"


def test_other_arms_than_a_pair_are_refused(tmp_path):
    write_planted(tmp_path, {"none": FALLING["none"]}, seeds=1)
    with pytest.raises(UserError, match="hold the arms none"):
        compare(load_bundle(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal(planted, width):
    for page in slide_pages(load_bundle(planted[0])):
        held = io.StringIO()
        Console(file=held, width=width).print(page.table)
        lines = held.getvalue().splitlines()
        assert max(len(line.rstrip()) for line in lines) <= width
        assert "…" not in held.getvalue()
        assert any("35.2" in line for line in lines)
