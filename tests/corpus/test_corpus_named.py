"""Named corpora as a run meets them: read from the cache, offline."""

import gzip
import json
from pathlib import Path

import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.download import folder_of
from seq2seq_bottleneck.corpus.pair import sources
from seq2seq_bottleneck.settings.concerns import NAMED, CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError

EDGES = (5, 11, 21)

Rows = list[tuple[str, str]]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def rows(start: int, count: int) -> Rows:
    """Different pairs, English of 3 to 27 words, the French one word longer."""
    return [
        (f"e{n}" + " x" * (n % 25 + 2), f"f{n}" + " y" * (n % 25 + 3))
        for n in range(start, start + count)
    ]


def put(name: str, **splits: Rows):
    """The files of a corpus as a fetch leaves them."""
    folder = folder_of(name)
    folder.mkdir(parents=True)
    for split, pairs in splits.items():
        for place, side in enumerate(("en", "fr")):
            text = "".join(f"{pair[place]}\n" for pair in pairs)
            (folder / f"{split}.{side}.gz").write_bytes(gzip.compress(text.encode()))
    source = {"pairs": {split: len(pairs) for split, pairs in splits.items()}, "limit": None}
    (folder / "SOURCE.json").write_text(json.dumps(source))


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_here_says_how_to_fetch_it(name: str):
    with pytest.raises(UserError) as caught:
        load_corpus(CorpusSettings(name=name), EDGES)
    assert str(caught.value) == (
        f"corpus {name!r} is not on this machine; `bottleneck corpus fetch {name}` brings it"
    )
    assert caught.value.exit_code == 1


def test_a_file_that_is_missing_is_named():
    put("europarl", train=rows(0, 300))
    (folder_of("europarl") / "train.fr.gz").unlink()
    with pytest.raises(UserError, match=r"corpus 'europarl' '.*train\.fr\.gz' does not exist"):
        load_corpus(CorpusSettings(name="europarl"), EDGES)


def test_splits_of_the_corpus_are_used():
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))
    corpus = load_corpus(CorpusSettings(name="multi30k", valid_pairs=25, test_pairs=3), EDGES)
    assert [pair.source for pair in corpus.test] == [ours for ours, _ in rows(400, 80)]
    assert len(corpus.valid) == 25
    assert sources(corpus.valid) <= {ours for ours, _ in rows(300, 40)}
    assert [(pair.source, pair.target) for pair in corpus.train] == rows(0, 300)
    assert not any("split off" in note for note in corpus.notes)


def test_notes_tell_training_lengths_by_the_buckets_of_the_test_and_the_case():
    put("multi30k", train=rows(0, 300), test=rows(400, 80))
    corpus = load_corpus(CorpusSettings(name="multi30k", valid_pairs=1), EDGES)
    counts = [0, 0, 0, 0]
    for pair in corpus.train:
        counts[sum(len(pair.source.split()) >= edge for edge in EDGES)] += 1
    lengths = dict(zip(("under 5", "5-10", "11-20", "21+"), counts, strict=True))
    text = "; ".join(f"{name} {count}" for name, count in lengths.items())
    assert f"training pairs by source words: {text}" in corpus.notes
    lower = CorpusSettings(name="multi30k", lowercase=True)
    assert any("lower-case references" in note for note in load_corpus(lower, EDGES).notes)
    assert not any("lower-case" in note for note in corpus.notes)


def test_french_to_english():
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))
    forth = load_corpus(CorpusSettings(name="multi30k", max_words=12), EDGES)
    back = load_corpus(CorpusSettings(name="multi30k", max_words=12, reverse_direction=True), EDGES)
    expected = [(theirs, ours) for ours, theirs in rows(400, 80)]
    assert [(pair.source, pair.target) for pair in back.test] == expected
    assert max(len(pair.source.split()) for pair in back.train) == 12
    assert max(len(pair.target.split()) for pair in back.train) == 11
    assert len(back.train) < len(forth.train)
    assert back.fingerprint != forth.fingerprint


@pytest.mark.parametrize("reverse", [False, True])
def test_another_named_corpus_to_test_on(reverse: bool):
    """Its own test set, else the pairs that a run on it is tested on; training is as it was."""
    put("news-commentary", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))
    put("multi30k", train=rows(500, 300), valid=rows(800, 40), test=rows(900, 60))
    put("tatoeba", train=rows(1_000, 400) + rows(0, 20))
    home = CorpusSettings(name="news-commentary", reverse_direction=reverse)
    own = load_corpus(home, EDGES)
    for other in ("multi30k", "tatoeba"):
        theirs = load_corpus(home.model_copy(update={"name": other}), EDGES)
        abroad = load_corpus(home.model_copy(update={"test": other}), EDGES)
        assert abroad.test == theirs.test
        tested = sources(abroad.test)
        assert abroad.train == tuple(pair for pair in own.train if pair.source not in tested)
        assert abroad.fingerprint not in (own.fingerprint, theirs.fingerprint)


def test_a_corpus_to_test_on_that_is_not_there(tmp_path: Path):
    put("multi30k", train=rows(0, 300))
    with pytest.raises(UserError, match=r"^corpus 'tatoeba' is not on this machine; `bottleneck"):
        load_corpus(CorpusSettings(name="multi30k", test="tatoeba"), EDGES)
    with pytest.raises(UsageError, match=r"^no corpus 'tatoeb' to test on; did you mean 'tatoeba'"):
        load_corpus(CorpusSettings(name="multi30k", test="tatoeb"), EDGES)
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{ours}\t{theirs}\n" for ours, theirs in rows(0, 300)))
    both = CorpusSettings(name="files", source=str(path), test="multi30k", test_source=str(path))
    with pytest.raises(UsageError, match=r"^corpus\.test and corpus\.test_source both name a test"):
        load_corpus(both, EDGES)


@pytest.mark.parametrize("name", ["grammar", "copy"])
def test_invented_corpora_take_no_test_set(name: str):
    with pytest.raises(UsageError, match=r"^corpus\.test is for real text, not for corpus"):
        load_corpus(CorpusSettings(name=name, test="multi30k"), EDGES)
