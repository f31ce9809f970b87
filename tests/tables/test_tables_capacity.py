"""The tables of the study ``capacity`` on a planted bundle file."""

import json

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.capacity import page

SIZES = (16, 256, 512)


def _rows(corpus, size, updates, twice):
    facts = {
        "arm": f"{corpus} {size} {updates}", "attention": "none", "placement": "input",
        "context_size": size, "corpus": corpus, "updates": updates, "bucket": "", "control": "",
        "part": "", "n": 1600, "note": "",
    }  # fmt: skip
    for part, base in (("90 %", 4.0), ("50 %", 12.0)):
        value = base + size / 64 + (1.5 if twice else 0)
        length = facts | {"measure": "length", "part": part, "value": value}
        length |= {"low": value - 0.4, "high": value + 0.5}
        if size == 512 and part == "50 %":
            ends = {"value": 40.0, "low": 39.1, "high": 40.0}
            length |= ends | {"note": "value at least, high at least"}
        yield length
        yield length | {"run": "r1", "seed": 1, "value": 77.7}
        yield length | {"measure": "bits", "value": value * 3.5}
        yield length | {"measure": "bits_a_number", "value": 1.25, "low": 1.2, "high": 1.3}
        if corpus == "copy":
            yield length | {"measure": "length_in_place", "value": base / 2}
    if twice:
        added = {"measure": "added", "part": "50 %", "value": 1.5, "low": 0.6, "high": 2.4}
        if size == 512:
            added |= {"high": None, "note": "value at least"}
        yield facts | added
    yield facts | {"measure": "bits_a_word", "value": 7.0}
    for bucket, value in (("2-5", 0.02), ("36+", 0.25)):
        yield facts | {"measure": "chance", "bucket": bucket, "value": value, "n": 200}


def _frame(corpora=("grammar", "copy"), budgets=((1600, False), (3200, True))):
    rows = []
    for corpus in corpora:
        for updates, twice in budgets:
            made = [row for size in SIZES for row in _rows(corpus, size, updates, twice)]
            growth = made[0] | {"arm": f"{corpus} {updates}", "context_size": None}
            growth |= {"measure": "growth", "part": "50 %", "value": 0.31, "low": 0.25}
            rows += [*made, growth | {"high": 0.38, "n": 2, "note": "censored: 512"}]
    frame = pd.DataFrame(rows, columns=list(PROBE_COLUMNS))
    kinds = dict.fromkeys(("context_size", "updates", "seed", "n"), "Int64")
    return frame.astype(kinds)


def _printed(frame, width=80):
    console = Console(width=width, color_system=None)
    with console.capture() as held:
        console.print(page(frame).table)
    return held.get()


def test_a_row_a_context_in_each_corpus_with_twice_the_training_beside():
    text = _printed(_frame())
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.split() for line in text.splitlines()]
    rows = [line for line in lines if line and line[0] == "256"]
    words = ["256", "8.0", "16.0", "9.5", "17.5", "+1.5"]
    in_place = ["256", "2.0", "6.0", "2.0", "6.0", "1.25"]
    # The bits stand where their words are counted: copied ones at their own place.
    assert rows == [[*words, "1.25"], words, in_place]
    at = lines.index(rows[0])
    assert lines[at + 1] == ["7.6..8.5", "15.6..16.5", "9.1..10.0", "17.1..18.0", "+0.6..+2.4"]
    growth = [line for line in lines if line and line[0] == "growth"]
    assert growth == [["growth", "0.31", "0.31"]] * 2
    assert "copy, attention none: words at their own place, 1,600 updates" in text


def test_bounds_are_marked_and_open_ends_left_blank():
    lines = [line.split() for line in _printed(_frame()).splitlines()]
    at = next(place for place, line in enumerate(lines) if line and line[0] == "512")
    assert lines[at] == ["512", "12.0", ">40.0", "13.5", ">40.0", ">+1.5", ">1.25"]
    assert lines[at + 1][1] == "39.1..>40.0"
    assert lines[at + 1][4] == "+0.6.."


def test_the_caption_answers_the_question_for_each_corpus_first():
    made = page(_frame())
    assert made.caption[0].startswith(
        "With this training (3,200 updates) 256 numbers hold at least 9 words of grammar"
    )
    assert "words of copy" in made.caption[1]
    facts = next(line for line in made.caption if line.startswith("copy: 1,600 test sentences"))
    assert "7.00 bits a word" in facts
    assert "by chance 2% to 25%" in facts
    told = " ".join(made.caption)
    assert "Attention is not among the arms: with it there is no single vector to fill" in told
    assert "so that the exponent's range is too narrow where many are" in told
    attending = _frame()
    attending.loc[0, "attention"] = "additive"
    assert "no single vector" not in " ".join(page(attending).caption)
    bits = next(line for line in made.caption if line.startswith("Bits a number"))
    assert "up to a bit for each word of the sentence less is sure to be held" in bits
    assert "of the grammar's those survive first that have fewer bits" in bits


def test_without_twice_the_training_its_columns_are_left_out():
    text = _printed(_frame(budgets=((1600, False),)), 45)
    assert "twice" not in text
    lines = [line.split() for line in text.splitlines()]
    assert ["256", "8.0", "16.0", "1.25"] in lines


def test_the_data_name_the_bounds():
    held = page(_frame()).frame
    assert len(held) == 2 * 2 * (2 * len(SIZES) + 1)
    row = held[
        (held["corpus"] == "copy") & (held["updates"] == 3200) & (held["context_size"] == 512)
        & (held["part"] == "50 %")
    ].iloc[0]  # fmt: skip
    assert row["length_bounds"] == "value at least, high at least"
    assert row["added_bounds"] == "value at least"
    assert json.loads(page(_frame()).render("json"))["rows"]
