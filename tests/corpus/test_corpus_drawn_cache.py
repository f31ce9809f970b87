"""What is read from the cache is what was drawn, to the last bit; whatever is wrong there."""

import gzip
import json
import os

import pytest

from seq2seq_bottleneck.corpus import corpus as made
from seq2seq_bottleneck.corpus import drawn_cache
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.drawn_cache import cache_file
from seq2seq_bottleneck.settings.concerns import CorpusSettings
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


@pytest.mark.parametrize("settings", CORPORA.values(), ids=CORPORA)
def test_a_corpus_that_is_read_is_the_one_that_was_drawn(settings, monkeypatch):
    drawn = load_corpus(settings, EDGES)
    *splits, notes = json.loads(gzip.decompress(cache_file(settings, EDGES).read_bytes()))
    assert [len(split) for split in splits] == [len(pairs) for pairs in drawn.splits.values()]
    monkeypatch.setattr(made, "draw_splits", None)  # which cannot be called
    read = load_corpus(settings, EDGES)
    assert read == drawn
    assert [pair.bits for pair in read.train] == [pair.bits for pair in drawn.train]
    assert read.notes[: len(notes)] == tuple(notes) != ()


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
    monkeypatch.setattr(drawn_cache, "__file__", str(tmp_path / "drawn_cache.py"))
    names = set()
    for name in ("drawing.py", "grammar/lexicon.toml", "grammar/rules.txt"):
        (tmp_path / "grammar").mkdir(exist_ok=True)
        (tmp_path / name).write_text("another way to draw")
        names.add(cache_file(COPY, EDGES))
    assert len(names | {now}) == 4


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "changed": lambda content: content[:900] + b"\0" + content[901:],
    "empty": lambda _: b"",
    "no gzip": lambda _: b"[[], [], [], []]",
    "no JSON": lambda content: gzip.compress(gzip.decompress(content)[:-30]),
    "another table": lambda _: gzip.compress(b"[1]"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_drawn_and_written_again(damage):
    drawn, path = load_corpus(COPY, EDGES), cache_file(COPY, EDGES)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert load_corpus(COPY, EDGES) == drawn
    assert path.read_bytes() == whole


@pytest.mark.parametrize("fault", ["a folder", "a file for the folder", "no home"])
def test_without_a_place_to_write_it_is_drawn(cache, fault, monkeypatch):
    if fault == "a folder":
        cache_file(COPY, EDGES).mkdir(parents=True)
    elif fault == "a file for the folder":
        (cache / "seq2seq-bottleneck").write_text("a file in the place of the folder")
    else:
        monkeypatch.setattr(drawn_cache, "cache_root", lambda: None)
    assert load_corpus(COPY, EDGES).train == load_corpus(COPY, EDGES).train


@pytest.mark.parametrize("pairs", [range(201, 300), range(1, 200)])
def test_a_corpus_that_is_not_worth_it_has_no_file(monkeypatch, pairs):
    monkeypatch.setattr(drawn_cache, "PAIRS", pairs)
    load_corpus(COPY, EDGES)
    assert not (cache_root() / "drawn").exists()


def test_the_files_read_last_stay_where_there_is_no_room_for_all(monkeypatch):
    corpora = [COPY.model_copy(update={"seed": seed}) for seed in (1, 2, 3)]
    paths = [cache_file(corpus, EDGES) for corpus in corpora]
    for place in (0, 1):
        load_corpus(corpora[place], EDGES)
        os.utime(paths[place], (place, place))
    monkeypatch.setattr(drawn_cache, "MOST_BYTES", 2.5 * paths[0].stat().st_size)
    load_corpus(corpora[0], EDGES)  # which makes it the one read last
    load_corpus(corpora[2], EDGES)
    assert [path.exists() for path in paths] == [True, False, True]
