"""The study of lengths on real runs, counted again from the run's own files."""

import csv
import json

import numpy as np
import pytest

from seq2seq_bottleneck.questions.output_length import QUESTION
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.results.folders import HYPOTHESES, SENTENCES
from seq2seq_bottleneck.settings.run import resolve


def test_ratio_and_unfinished_are_those_of_the_files(subject):
    lines = (subject.folder / HYPOTHESES).read_text(encoding="utf8").splitlines()
    held = [json.loads(line) for line in lines]
    assert [each["reference"] for each in held] == [pair.target for pair in subject.corpus.test]
    with (subject.folder / SENTENCES).open(newline="") as file:
        rows = list(csv.DictReader(file))
    probed = QUESTION.probe(subject, lambda _: None)
    found = {name: np.asarray(column, dtype=np.float64) for name, column in probed.items()}
    words = [len(pair.source.split()) for pair in subject.corpus.test]
    assert list(found["source_words"]) == words
    table = QUESTION.summarise([Probed(subject.folder, subject.settings, found)])
    inside = [place for place, count in enumerate(words) if 5 <= count <= 10]
    values = {
        row["measure"]: row["value"]
        for row in table
        if row["bucket"] == "5-10" and row.get("seed") is None
    }
    # The grammar's words and marks stand apart but for elisions: counted by the scorer's columns.
    columns = ("hypothesis_tokens", "reference_tokens")
    sums = [sum(len(_pieces(held[place][name])) for place in inside)
            for name in ("hypothesis", "reference")]  # fmt: skip
    assert [sum(found[name][inside]) for name in columns] == sums
    assert values["length_ratio"] == pytest.approx(sums[0] / sums[1])
    lost = [rows[place]["ended"] != "True" for place in inside]
    assert values["unfinished"] == pytest.approx(sum(lost) / len(lost))
    empty = [not held[place]["hypothesis"] for place in inside]
    assert values["empty"] == pytest.approx(sum(empty) / len(empty))


def _pieces(text: str) -> list[str]:
    """Words, elided words and marks, one by one."""
    for mark in ("'", ".", ",", "?", "!"):
        text = text.replace(mark, f"{mark} " if mark == "'" else f" {mark} ")
    return text.split()


def test_a_model_of_the_language_alone_is_not_asked():
    settings = resolve("smoke")
    assert QUESTION.suits(settings)
    assert not QUESTION.suits(settings.changed(model={"source": "hidden"}))
