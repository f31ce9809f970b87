"""The study of capacity on a real run: its probe's counts, and what is summed up from them."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from listed import relist, write_relisted

from seq2seq_bottleneck.corpus.tokens import is_word, tokenize
from seq2seq_bottleneck.questions.capacity import QUESTION
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.subject import open_subject, source_words
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.folders import ENVIRONMENT, HYPOTHESES
from seq2seq_bottleneck.results.folders import TEXT_COLUMNS as COLUMNS


@pytest.fixture(scope="module")
def subject(finished):
    """A real run without attention."""
    opened = map(open_subject, finished_runs(finished))
    return next(one for one in opened if one.settings.model.attention == "none")


@pytest.mark.slow
def test_a_real_run_is_probed_and_summed_up(subject, tmp_path):
    columns = QUESTION.probe(subject, lambda _: None)
    words = source_words(subject.corpus.test)
    assert columns["source_words"].tolist() == words.tolist()
    assert (columns["kept"] <= columns["words"]).all()
    sources = [tokenize(pair.source) for pair in subject.corpus.test]
    assert columns["words"].tolist() == [sum(map(is_word, source)) for source in sources]
    assert not np.isnan(columns["kept_by_chance"]).any()
    keep(tmp_path, QUESTION, columns)
    rows = QUESTION.summarise([read_kept(tmp_path, subject.settings, QUESTION)])
    lengths = [row for row in rows if row["measure"] == "length" and "seed" not in row]
    # Hardly trained: even the shortest sentences' words do not survive.
    assert [row["note"].split(",")[0] for row in lengths] == ["value under"] * 2


@pytest.mark.slow
def test_perfect_outputs_keep_every_word_and_are_not_the_others(subject, tmp_path):
    shutil.copy(subject.folder / ENVIRONMENT, tmp_path)
    texts = [(pair.source, pair.target, pair.target) for pair in subject.corpus.test]
    lines = [json.dumps(dict(zip(COLUMNS, each, strict=True))) + "\n" for each in texts]
    write_relisted(tmp_path / HYPOTHESES, "".join(lines))
    relist(tmp_path / ENVIRONMENT)
    columns = QUESTION.probe(replace(subject, folder=tmp_path), lambda _: None)
    assert columns["kept"] == pytest.approx(columns["words"])
    assert columns["in_place"].tolist() == columns["tokens"]
    assert 0 < columns["kept_by_chance"].sum() < 0.6 * columns["words"].sum()
