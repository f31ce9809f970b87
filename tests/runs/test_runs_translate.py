"""Sentences and texts translated: each as it is alone, with its weights, nothing cut in silence.

Weights are checked against a decoder walked by hand.
"""

import gzip
import io
import json
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from executing import executed, smoke
from random_run import never_ending, random_run, walked

from seq2seq_bottleneck.corpus.batches import EncodedPairs
from seq2seq_bottleneck.corpus.vocabulary import EOS
from seq2seq_bottleneck.results.folders import HYPOTHESES
from seq2seq_bottleneck.runs import translate
from seq2seq_bottleneck.runs.translate import (
    END,
    Tally,
    Translation,
    attended,
    attention_matrices,
    check_pointing,
    open_file,
    read_lines,
    translate_lines,
    with_links,
)
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.settings.run import resolve

TEXT = ["w1 w0 w3", "", "w4", "   ", "w2 w2 w9 w1 w0 w3 w4 w1", "w0 w1", "\t"]


@pytest.fixture(scope="module")
def run():
    return random_run()


def translation_of(run, sentence):
    """A sentence's translation with its weights."""
    return run.translations([sentence], 1, attended=True)[0]


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_comes_with_the_weights_behind_it(beam):
    run = random_run(decoding={"beam_size": beam})
    sentence = "w1 w0 w3 w9"
    matrix = attended(run, translation_of(run, sentence))
    assert matrix.source == ["w1", "w0", "w3", "w9", END]
    words = [word for word in matrix.output if word != END]
    assert " ".join(words) == run.translate([sentence])[0]
    assert matrix.weights.shape == (len(matrix.output), len(matrix.source))
    np.testing.assert_allclose(matrix.weights.sum(axis=1), 1, rtol=1e-5)
    ids = [*run.target_vocabulary.encode(words), EOS]
    expected = walked(run, [5, 4, 7, 3, EOS], ids)[: len(matrix.output)]
    np.testing.assert_allclose(matrix.weights, expected, rtol=1e-4, atol=1e-6)


def test_an_output_that_was_cut_has_no_row_for_an_end():
    run = never_ending(random_run())
    matrix = attended(run, translation_of(run, "w1 w0"))
    assert END not in matrix.output
    assert len(matrix.weights) == len(matrix.output) > 2


@pytest.mark.slow
def test_many_sentences_are_translated_as_each_alone(run):
    """Words of the user that the run never saw among them, and no words at all."""
    sentences = [" ".join(f"w{n * k % 7}" for k in range(1, n)) for n in range(1, 12)]
    empty, *translations = run.translations(sentences, 4, attended=True)
    assert empty.source == empty.output == []
    for sentence, item in zip(sentences[1:], translations, strict=True):
        alone = translation_of(run, sentence)
        assert item[:-1] == alone[:-1]
        assert item.source == sentence.split()
        assert item.unknown == len(run.unknown(sentence))
        np.testing.assert_allclose(item.weights, alone.weights, rtol=1e-4, atol=1e-6)
    assert any(item.unknown for item in translations)


def test_words_are_copied_as_they_are_written():
    """The corpus is in lower case; where another case has other tokens, the model's own are it."""
    run = random_run(corpus={"lowercase": True})
    assert run.written("W1 John  O.K.") == ["W1", "John", "O.K", "\uffed."]
    assert run.tokens("W1 John") == ["w1", "john"]
    assert run.written("\u0130x") == run.tokens("\u0130x")
    grammar = random_run(corpus={"name": "grammar"})
    assert grammar.written("The Cat sat.") == ["The", "Cat", "sat"]
    assert grammar.prepare("  The  black CAT sat. ") == "the black cat sat"
    assert random_run().prepare("w1 W2.") == "w1 W2."
    files = random_run(corpus={"name": "files", "source": "a", "lowercase": True})
    assert files.prepare("Cafe\u0301 !") == "café !"


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
def test_unknown_words_of_an_output_become_the_users_own(reverse):
    """By the largest weights, in reading order, never those of the end token, the last column."""
    plain, copying = (
        random_run(7, {"lowercase": True}, {"copy_unknown": copy}, reverse_source=reverse)
        for copy in (False, True)
    )
    sentences = ["Anna w0 w3 Bert", "w2 w1 Carla w1 w4 Doris", "w1"]
    before, after = (run.translations(sentences, 2, True) for run in (plain, copying))
    replaced = 0
    for first, other in zip(before, after, strict=True):
        best = first.weights[: len(first.output), : len(first.source)].argmax(axis=1)
        assert other.output == [
            first.source[i] if word == "⁇" else word
            for i, word in zip(best, first.output, strict=True)
        ]
        replaced += first.output.count("⁇")
    assert replaced > 0


def read(data):
    return list(read_lines(io.BytesIO(data), "text"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\n\r\nb\r\n", ["a", "", "b"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        ("a\u2028b\x0cc\rd\n".encode(), ["a\u2028b\x0cc\rd"]),
    ],
)
def test_only_line_feeds_end_a_line(data, expected):
    assert read(data) == expected


def test_what_never_ends_is_no_text(tmp_path, monkeypatch):
    """A device, by its own name or by another, and a line without an end."""
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in (Path("/dev/zero"), Path("/dev/null"), tmp_path / "link"):
        with pytest.raises(UserError, match="is a device"), open_file(path):
            pass
    monkeypatch.setattr(translate, "LONGEST", 100)
    assert read(b"a" * 99 + b"\n" + b"b" * 100) == ["a" * 99, "b" * 100]
    with pytest.raises(UserError, match=r"text line 2 is over 100 bytes"):
        read(b"a\n" + b"b" * 101)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.gz", gzip.compress(b"a\nb\n", mtime=0), None),
        ("a.txt", b"a\nb\n", None),
        ("bytes.txt", b"a\nb\n\xff\xfe\nd\n", r"bytes.txt' line 3 is not UTF-8"),
        ("none", None, "none' cannot be read"),
        ("cut.gz", gzip.compress(b"a", mtime=0)[:-9], "cut.gz' cannot be read"),
        ("plain.gz", b"a\n", "plain.gz' cannot be read"),
    ],
)
def test_a_file_may_be_packed_and_one_that_cannot_be_read_is_named(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    if message is None:
        with open_file(tmp_path / name) as lines:
            assert list(lines) == ["a", "b"]
        return
    with pytest.raises(UserError, match=message), open_file(tmp_path / name) as lines:
        list(lines)


def translated(run, lines, **options):
    tally = Tally()
    chunks = list(translate_lines(run, lines, tally, **options))
    return [line for chunk in chunks for line in chunk], tally


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 3, 7, 4096])
def test_every_line_has_its_own_translation(run, monkeypatch, chunk):
    monkeypatch.setattr(translate, "CHUNK", chunk)
    lines, tally = translated(run, TEXT)
    assert len(lines) == len(TEXT) == tally.lines
    for line, text in zip(TEXT, lines, strict=True):
        assert text == (run.translate([line])[0] if line.strip() else "")
        assert bool(text) == bool(line.strip())
    assert len(set(lines)) > 3


def test_a_stream_is_read_no_further_than_needed(run, monkeypatch):
    monkeypatch.setattr(translate, "CHUNK", 5)
    numbers = count()
    endless = (f"w{number % 5}" for number in numbers)
    chunks = list(islice(translate_lines(run, endless, Tally()), 2))
    assert [len(chunk) for chunk in chunks] == [5, 5]
    assert next(numbers) == 10


def test_what_a_reader_should_know_is_counted(run):
    cut_short = never_ending(random_run(corpus={"max_words": 6, "min_words": 2}))
    _, tally = translated(cut_short, TEXT)
    assert (tally.lines, tally.empty, tally.tokens, tally.unknown) == (7, 3, 14, 1)
    lines, unknown, long, cut = tally.notes(cut_short.settings)
    assert "7 lines translated, 3 of them empty" in lines
    assert "1 of 14 source tokens" in unknown
    assert "1 line longer than any trained on (6 words)" in long
    assert long.endswith("line 5")
    assert "4 translations without an end, cut at the cap" in cut
    assert cut.endswith("line 1 and others")
    assert translated(run, [])[1].notes(run.settings) == []


def test_links_are_the_largest_weights_without_the_ends(run):
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.9, 0.1, 0.0]])
    item = Translation(["One", "two￭"], ["un", "￭,", "deux"], "un, deux", True, 0, weights)
    assert with_links(run, item) == "un, deux\t1-0 0-1 1-2\tOne two\tun , deux"


@pytest.mark.slow
@pytest.mark.parametrize("model", [{}, {"reverse_source": True, "placement": "output"}])
def test_aligned_lines_hold_what_plain_ones_do_and_their_links(model):
    run = random_run(**model)
    plain, _ = translated(run, TEXT)
    aligned, _ = translated(run, TEXT, aligned=True)
    for line, text, row in zip(TEXT, plain, aligned, strict=True):
        if not line.strip():
            assert row == ""
            continue
        first, links, source, output = row.split("\t")
        assert (first, source.split()) == (text, line.split())
        item = translation_of(run, line)
        best = item.weights[: len(item.output), : len(item.source)].argmax(axis=1)
        assert links.split() == [f"{i}-{j}" for j, i in enumerate(best)]
        assert len(output.split()) == len(best)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(
    "model",
    [
        {"placement": "input"},
        {"placement": "output", "attention": "general"},
        {"placement": "output", "reverse_source": True},
    ],
)
def test_row_t_is_what_target_token_t_was_chosen_with(model):
    trained = random_run(**model)
    reverse = trained.settings.model.reverse_source
    sources = [[5, 4, 7, EOS], [6, EOS], [8, 8, 4, 5, 6, 7, 4, EOS], [4, EOS]]
    targets = [[4, 6, EOS], [7, 8, 4, 5, EOS], [EOS], []]
    encoded = EncodedPairs(sources, targets)
    matrices = attention_matrices(trained.graph, trained.weights, encoded, reverse, 2)
    assert matrices.pop().shape == (0, 2)
    for matrix, source, target in zip(matrices, sources[:-1], targets[:-1], strict=True):
        expected = walked(trained, source, target)
        if reverse:
            expected = expected[:, [*reversed(range(len(source) - 1)), len(source) - 1]]
        assert matrix.shape == (len(target), len(source))
        np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "model", [{"attention": "none"}, {"attention": "uniform"}, {"source": "hidden"}]
)
def test_an_arm_whose_weights_point_at_no_word_is_refused(model):
    settings = resolve("smoke").changed(model=model)
    with pytest.raises(UsageError, match=r"this wish needs attention.*--arm"):
        check_pointing(settings, "this wish")
    check_pointing(resolve("smoke").changed(model={"attention": "dot"}), "this wish")


SMALL = [
    "corpus.target_vocabulary=8", "corpus.max_words=12", "corpus.test_pairs=40",
    "scoring.edges=3,7", "scoring.resamples=9", "training.shapes=1", "training.updates=40",
    "training.validations=1", "model.attention=additive",
]  # fmt: skip


@pytest.mark.exhaustive(sample="session")
def test_a_runs_own_test_decoding_copies_by_setting(tmp_path):
    """The same network with and without: only unknown words differ, and all of them."""
    texts = []
    for copy in ("false", "true"):
        settings = smoke(*SMALL, f"decoding.copy_unknown={copy}")
        path = tmp_path / executed(tmp_path, settings)[-1]["run"] / HYPOTHESES
        texts.append([json.loads(line) for line in path.read_text().splitlines()])
    replaced = 0
    for plain, filled in zip(*texts, strict=True):
        pairs = zip(plain["hypothesis"].split(), filled["hypothesis"].split(), strict=True)
        for word, written in pairs:
            assert written in plain["source"].split() if word == "⁇" else written == word
            replaced += word == "⁇"
    assert replaced > 20
