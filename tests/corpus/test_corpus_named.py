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
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder of the test's own, with one corpus in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))


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


def test_splits_of_the_corpus_are_used_and_notes_tell_training_lengths_and_the_case():
    settings = CorpusSettings(name="multi30k", valid_pairs=25, test_pairs=3)
    corpus = load_corpus(settings, EDGES)
    assert [pair.source for pair in corpus.test] == [ours for ours, _ in rows(400, 80)]
    assert len(corpus.valid) == 25
    assert sources(corpus.valid) <= {ours for ours, _ in rows(300, 40)}
    assert [(pair.source, pair.target) for pair in corpus.train] == rows(0, 300)
    assert corpus.notes == (
        "25 of 40 validation pairs kept (valid_pairs)",
        "8 test sentences under 5 words, in no bucket",
        "training pairs by source words: under 5 24; 5-10 72; 11-20 120; 21+ 84",
    )
    lower = settings.model_copy(update={"lowercase": True})
    assert "lower-case references" in load_corpus(lower, EDGES).notes[-1]
    changes = {"reverse_direction": True, "max_words": 12}
    back = load_corpus(settings.model_copy(update=changes), EDGES)
    expected = [(theirs, ours) for ours, theirs in rows(400, 80)]
    assert [(pair.source, pair.target) for pair in back.test] == expected
    assert max(pair.words for pair in back.train) == 12


@pytest.mark.parametrize("reverse", [False, True])
def test_another_named_corpus_to_test_on(reverse: bool):
    """Its own test set, else the pairs that a run on it is tested on; training is as it was."""
    put("news-commentary", train=rows(600, 300), valid=rows(300, 40), test=rows(400, 80))
    put("tatoeba", train=rows(1_000, 400) + rows(600, 20))
    home = CorpusSettings(name="news-commentary", reverse_direction=reverse)
    own = load_corpus(home, EDGES)
    for other in ("multi30k", "tatoeba"):
        theirs = load_corpus(home.model_copy(update={"name": other}), EDGES)
        abroad = load_corpus(home.model_copy(update={"test": other}), EDGES)
        assert abroad.test == theirs.test
        tested = sources(abroad.test)
        assert abroad.train == tuple(pair for pair in own.train if pair.source not in tested)
        assert abroad.fingerprint != theirs.fingerprint


def test_what_is_not_there(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{ours}\t{theirs}\n" for ours, theirs in rows(0, 300)))
    both = {"name": "files", "source": str(path), "test_source": str(path), "test": "multi30k"}
    cases = {
        r"^corpus 'tatoeba' is not on this machine; `bottleneck": {"test": "tatoeba"},
        r"^no corpus 'tatoeb' to test on; did you mean 'tatoeba'": {"test": "tatoeb"},
        r"^corpus\.test and corpus\.test_source both name a test": both,
        r"^corpus\.test is for real text, not for corpus 'copy'": {"name": "copy", "test": "a"},
        r"^corpus\.test is for real text, not for corpus 'gramm": {"name": "grammar", "test": "a"},
    }
    for message, given in cases.items():
        error = UserError if "machine" in message else UsageError
        with pytest.raises(error, match=message):
            load_corpus(CorpusSettings(**{"name": "multi30k", **given}), EDGES)
    for name in set(NAMED) - {"multi30k"}:
        message = (
            rf"^corpus '{name}' is not .* machine; `bottleneck corpus fetch {name}` brings it$"
        )
        with pytest.raises(UserError, match=message) as caught:
            load_corpus(CorpusSettings(name=name), EDGES)
        assert caught.value.exit_code == 1
    (folder_of("multi30k") / "train.fr.gz").unlink()
    with pytest.raises(UserError, match=r"corpus 'multi30k' '.*train\.fr\.gz' does not exist"):
        load_corpus(CorpusSettings(name="multi30k"), EDGES)
