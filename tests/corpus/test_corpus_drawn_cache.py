"""What is read from the cache is what was drawn, to the last bit; whatever is wrong there."""

import gzip
import os
import threading
import time

import pytest

from seq2seq_bottleneck.corpus import corpus as made
from seq2seq_bottleneck.corpus import drawn_cache
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.drawn_cache import cache_file
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.machine import cache_root

pytestmark = pytest.mark.usefixtures("unchecked")

EDGES = (5, 11, 21, 31, 41)
COPY = CorpusSettings(
    name="copy", copy_words=50, train_pairs=200, valid_pairs=20, test_pairs=60, joined=2
)
GRAMMAR = COPY.model_copy(update={"name": "grammar", "lexicon": "small"})
REVERSED = GRAMMAR.model_copy(update={"reverse_direction": True, "test_max_words": 50})
CORPORA = {"copy": COPY, "grammar": GRAMMAR, "reversed": REVERSED}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache that keeps the smallest corpora, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(drawn_cache, "PAIRS", range(1, 1_000))
    return tmp_path


@pytest.fixture
def undrawable(monkeypatch):
    """Calling it makes any further draw fail."""

    def refuse(*_):
        raise AssertionError("drawn again")

    return lambda: monkeypatch.setattr(made, "_draw", refuse)


@pytest.mark.parametrize("settings", CORPORA.values(), ids=CORPORA)
def test_a_corpus_that_is_read_is_the_one_that_was_drawn(settings, undrawable):
    drawn = load_corpus(settings, EDGES)
    undrawable()
    read = load_corpus(settings, EDGES)
    assert read == drawn
    assert [pair.bits for pair in read.train] == [pair.bits for pair in drawn.train]
    assert read.notes == drawn.notes != ()


def test_the_file_is_a_table_that_a_person_can_open():
    pair = load_corpus(GRAMMAR, EDGES).train[0]
    head, *rows, end = gzip.decompress(cache_file(GRAMMAR, EDGES).read_bytes()).decode().split("\n")
    assert end == ""
    assert head.split("\t") == ["split", "source", "target", "links", "bits"]
    name, source, target, links, bits = next(row.split("\t") for row in rows if row[:5] == "train")
    assert (name, source, target, float(bits)) == ("train", pair.source, pair.target, pair.bits)
    assert links == " ".join(f"{ours}-{theirs}" for ours, theirs in pair.links)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2}, {"train_pairs": 201}, {"joined": 1}, {"copy_words": 51}, {"name": "grammar"},
        {"lengths": "uniform"}, {"min_words": 3}, {"train_max_words": 30}, {"test_max_words": 50},
        {"reverse_direction": True}, {"lexicon": "small"},
    ],
)  # fmt: skip
def test_another_corpus_has_another_file(change):
    assert cache_file(COPY.model_copy(update=change), EDGES) != cache_file(COPY, EDGES)


def test_what_comes_after_drawing_changes_no_file_and_other_code_does(monkeypatch, tmp_path):
    now = cache_file(COPY, EDGES)
    for change in ({"tokens": "subwords"}, {"source_vocabulary": 9}):
        assert cache_file(COPY.model_copy(update=change), EDGES) == now
    assert cache_file(COPY, (5, 11)) != now
    (tmp_path / "drawing.py").write_text("another way to draw")
    monkeypatch.setattr(drawn_cache, "__file__", str(tmp_path / "drawn_cache.py"))
    assert cache_file(COPY, EDGES) != now


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "changed": lambda content: content[:900] + b"\0" + content[901:],
    "empty": lambda _: b"",
    "no gzip": lambda _: b"split\tsource\ttarget\tlinks\tbits\n",
    "another table": lambda _: gzip.compress(b"a\tb\n1\t2\n"),
    "no last line": lambda content: gzip.compress(gzip.decompress(content)[:-30]),
    "a row too short": lambda content: gzip.compress(gzip.decompress(content) + b"train\ta\n"),
    "no number": lambda content: gzip.compress(gzip.decompress(content) + b"train\ta\ta\t0-x\t1\n"),
    "no such split": lambda content: gzip.compress(gzip.decompress(content) + b"rest\ta\ta\t\t1\n"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_drawn_and_written_again(damage):
    drawn, path = load_corpus(COPY, EDGES), cache_file(COPY, EDGES)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert load_corpus(COPY, EDGES) == drawn
    assert path.read_bytes() == whole


@pytest.mark.parametrize("folder", [False, True])
def test_without_a_place_to_write_it_is_drawn(cache, folder):
    if folder:
        cache_file(COPY, EDGES).mkdir(parents=True)
    else:
        (cache / "seq2seq-bottleneck").write_text("a file in the place of the folder")
    assert load_corpus(COPY, EDGES).train == load_corpus(COPY, EDGES).train


def test_without_a_home_it_is_drawn(monkeypatch):
    monkeypatch.setattr(drawn_cache, "cache_root", lambda: None)
    assert len(load_corpus(COPY, EDGES).train) == 200
    assert not (cache_root() / "drawn").exists()


@pytest.mark.parametrize("pairs", [range(201, 300), range(1, 200)])
def test_a_corpus_that_is_not_worth_it_has_no_file(monkeypatch, pairs):
    monkeypatch.setattr(drawn_cache, "PAIRS", pairs)
    load_corpus(COPY, EDGES)
    assert not (cache_root() / "drawn").exists()


def test_of_two_that_begin_at_once_one_draws(monkeypatch):
    draw, draws = made._draw, []

    def slow(*given):
        draws.append(given)
        time.sleep(0.3)
        return draw(*given)

    monkeypatch.setattr(made, "_draw", slow)
    read = []
    threads = [threading.Thread(target=lambda: read.append(load_corpus(COPY, EDGES)))
               for _ in range(3)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(draws) == 1
    assert read[0] == read[1] == read[2]


def test_who_has_waited_too_long_draws(monkeypatch):
    monkeypatch.setattr(drawn_cache, "WAIT", 0.1)
    path = cache_file(COPY, EDGES)
    path.parent.mkdir(parents=True)
    with drawn_cache.FileLock(path.with_suffix(".lock")):
        assert len(load_corpus(COPY, EDGES).train) == 200


def test_an_error_of_drawing_is_told_and_nothing_is_kept():
    with pytest.raises(UserError, match="too few different sentences"):
        load_corpus(COPY.model_copy(update={"copy_words": 2, "test_pairs": 90_000}), EDGES)
    assert not list((cache_root() / "drawn").glob("*.gz"))


def test_the_files_read_last_stay_where_there_is_no_room_for_all(monkeypatch):
    corpora = [COPY.model_copy(update={"seed": seed}) for seed in (1, 2, 3)]
    paths = [cache_file(each, EDGES) for each in corpora]
    for place in (0, 1):
        load_corpus(corpora[place], EDGES)
        os.utime(paths[place], (place, place))
    monkeypatch.setattr(drawn_cache, "MOST_BYTES", 2.5 * paths[0].stat().st_size)
    load_corpus(corpora[0], EDGES)  # which makes it the one read last
    load_corpus(corpora[2], EDGES)
    assert [path.exists() for path in paths] == [True, False, True]
    assert len(list(paths[0].parent.iterdir())) == 4  # two files and their locks
