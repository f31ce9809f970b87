"""Named corpora and test sets as a run meets them: read from the cache, offline."""

import gzip
import json
from pathlib import Path

import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.named import testsets
from seq2seq_bottleneck.corpus.named.places import folder_of
from seq2seq_bottleneck.corpus.named.testsets import fetch_test_set, is_here, known_test_sets
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


def put(name: str, **splits: Rows) -> None:
    """The files of a corpus as a fetch leaves them."""
    folder = folder_of(name)
    folder.mkdir(parents=True)
    for split, pairs in splits.items():
        for place, side in enumerate(("en", "fr")):
            text = "".join(f"{pair[place]}\n" for pair in pairs)
            (folder / f"{split}.{side}.gz").write_bytes(gzip.compress(text.encode()))
    counts = {split: len(pairs) for split, pairs in splits.items()}
    held = {"pairs": counts, "files": {}, "sources": [], "left_out": {}, "limit": None}
    (folder / "SOURCE.json").write_text(json.dumps(held))


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_here_says_how_to_fetch_it(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load_corpus(CorpusSettings(name=name), EDGES)
    assert str(caught.value) == (
        f"corpus {name!r} is not on this machine; bottleneck corpus fetch {name}"
    )
    assert caught.value.exit_code == 1


def test_a_damaged_record_is_told() -> None:
    put("europarl", train=rows(0, 5))
    (folder_of("europarl") / "SOURCE.json").write_text("{")
    with pytest.raises(UserError, match=r"SOURCE\.json' is damaged; delete its folder and fetch"):
        load_corpus(CorpusSettings(name="europarl"), EDGES)


def test_splits_of_the_corpus_are_used() -> None:
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))
    corpus = load_corpus(CorpusSettings(name="multi30k", valid_pairs=25, test_pairs=3), EDGES)
    assert [pair.source for pair in corpus.test] == [ours for ours, _ in rows(400, 80)]
    assert len(corpus.valid) == 25
    assert sources(corpus.valid) <= {ours for ours, _ in rows(300, 40)}
    assert [(pair.source, pair.target) for pair in corpus.train] == rows(0, 300)
    assert not any("split off" in note for note in corpus.notes)


def test_no_split_shares_a_source_with_another() -> None:
    """What was fetched may repeat itself: the test set is whole, then validation, then training."""
    put(
        "canada-laws",
        train=rows(0, 200) + rows(300, 5) + rows(400, 5),
        valid=rows(300, 40) + rows(410, 5),
        test=rows(400, 80),
    )
    corpus = load_corpus(CorpusSettings(name="canada-laws"), EDGES)
    train, valid, test = (sources(pairs) for pairs in corpus.splits.values())
    assert not train & valid | train & test | valid & test
    assert (len(train), len(valid), len(test)) == (200, 40, 80)
    note = "10 pair(s) left training: their source is in the test or validation set"
    assert note in corpus.notes


def test_validation_keeps_to_the_lengths_of_training() -> None:
    put("multi30k", train=rows(0, 300), valid=rows(300, 50), test=rows(400, 80))
    corpus = load_corpus(CorpusSettings(name="multi30k", max_words=12), EDGES)
    assert max(pair.words for pair in corpus.valid) == 12
    assert len(corpus.valid) == 20
    assert max(pair.words for pair in corpus.test) == 27


def test_a_corpus_without_splits_is_split() -> None:
    put("europarl", train=rows(0, 400))
    corpus = load_corpus(CorpusSettings(name="europarl", valid_pairs=20, test_pairs=30), EDGES)
    assert (len(corpus.valid), len(corpus.test)) == (20, 30)
    train, valid, test = (sources(pairs) for pairs in corpus.splits.values())
    assert not train & valid | train & test | valid & test


def test_french_to_english() -> None:
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))
    forth = load_corpus(CorpusSettings(name="multi30k", max_words=12), EDGES)
    back = load_corpus(CorpusSettings(name="multi30k", max_words=12, reverse_direction=True), EDGES)
    turned_round = [(theirs, ours) for ours, theirs in rows(400, 80)]
    assert [(pair.source, pair.target) for pair in back.test] == turned_round
    assert max(len(pair.source.split()) for pair in back.train) == 12
    assert max(len(pair.target.split()) for pair in back.train) == 11
    assert len(back.train) < len(forth.train)
    assert back.fingerprint != forth.fingerprint


@pytest.fixture
def wmt14(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """sacreBLEU's own folder for a test set, empty and in this test's cache."""
    from sacrebleu import DATASETS

    folder = tmp_path / "sacrebleu" / "wmt14"
    monkeypatch.setattr(DATASETS["wmt14"], "_outdir", str(folder))
    monkeypatch.setattr(DATASETS["wmt14"], "_rawdir", str(folder / "raw"))
    return folder


def put_test_set(folder: Path) -> None:
    """Both directions as sacreBLEU keeps them; which is which can be told."""
    folder.mkdir(parents=True)
    for pair, word, fields in (
        ("en-fr", "forth", ("src", "ref")),
        ("fr-en", "back", ("ref", "src")),
    ):
        for place, field in enumerate(fields):
            text = "".join(f"{word} {row[place]}\n" for row in rows(500, 60))
            (folder / f"wmt14.{pair}.{field}").write_text(text)


def test_a_test_set_of_sacrebleu(wmt14: Path) -> None:
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))
    settings = CorpusSettings(name="multi30k", test="wmt14")
    with pytest.raises(UserError) as caught:
        load_corpus(settings, EDGES)
    assert str(caught.value) == (
        "test set 'wmt14' is not on this machine; bottleneck corpus fetch wmt14"
    )
    put_test_set(wmt14)
    forth = load_corpus(settings, EDGES).test
    assert [(pair.source, pair.target) for pair in forth] == [
        (f"forth {ours}", f"forth {theirs}") for ours, theirs in rows(500, 60)
    ]
    back = load_corpus(settings.model_copy(update={"reverse_direction": True}), EDGES).test
    assert [(pair.source, pair.target) for pair in back] == [
        (f"back {theirs}", f"back {ours}") for ours, theirs in rows(500, 60)
    ]


def test_a_test_set_for_the_users_own_text(wmt14: Path, tmp_path: Path) -> None:
    put_test_set(wmt14)
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{ours}\t{theirs}\n" for ours, theirs in rows(0, 300)))
    corpus = load_corpus(CorpusSettings(name="files", source=str(path), test="wmt14"), EDGES)
    assert len(corpus.test) == 60
    both = CorpusSettings(name="files", source=str(path), test="wmt14", test_source=str(path))
    with pytest.raises(UsageError, match=r"^corpus\.test and corpus\.test_source both name a test"):
        load_corpus(both, EDGES)


def test_names_of_test_sets(wmt14: Path) -> None:
    assert {"wmt14", "wmt14/full", "wmt13"} <= set(known_test_sets())
    assert "wmt19" not in known_test_sets()
    put("multi30k", train=rows(0, 300))
    with pytest.raises(UsageError, match=r"^unknown test set 'wmt14s'; did you mean 'wmt14'\?$"):
        load_corpus(CorpusSettings(name="multi30k", test="wmt14s"), EDGES)
    assert not is_here("wmt14")
    put_test_set(wmt14)
    assert is_here("wmt14")


@pytest.mark.parametrize("name", ["grammar", "copy"])
def test_invented_corpora_take_no_test_set(name: str) -> None:
    with pytest.raises(UsageError, match=r"^corpus\.test is for real text, not for corpus"):
        load_corpus(CorpusSettings(name=name, test="wmt14"), EDGES)


def test_a_test_set_that_cannot_be_fetched(wmt14: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu import DATASETS

    monkeypatch.setenv("NO_PROXY", "*")
    address = "http://127.0.0.1:9/test.tgz"  # the port for what is thrown away: no one listens
    monkeypatch.setattr(DATASETS["wmt14"], "data", [address])
    with pytest.raises(UserError, match=r"^test set 'wmt14' cannot be fetched \(.*refused.*\); is"):
        fetch_test_set("wmt14")
    assert not wmt14.exists()


def test_a_test_set_that_is_another_file(
    wmt14: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sacrebleu import DATASETS

    (tmp_path / "test.tgz").write_bytes(b"not the known file")
    monkeypatch.setattr(DATASETS["wmt14"], "data", [(tmp_path / "test.tgz").as_uri()])
    with pytest.raises(UserError, match=r"cannot be fetched \(what came is not the known file\)"):
        fetch_test_set("wmt14")
    assert not wmt14.exists()


def test_a_test_set_is_fetched_by_sacrebleu(
    wmt14: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from loopback import tgz
    from sacrebleu import DATASETS

    sides = {"en": [ours for ours, _ in rows(0, 20)], "fr": [theirs for _, theirs in rows(0, 20)]}
    members = []
    for pair in ("en-fr", "fr-en"):
        for name in DATASETS["wmt14"].langpairs[pair]:
            text = "".join(f'<seg id="1">{row}</seg>\n' for row in sides[name.split(".")[-2]])
            members.append((name, text.encode()))
    (tmp_path / "test.tgz").write_bytes(tgz(dict(members).items()))
    monkeypatch.setattr(DATASETS["wmt14"], "data", [(tmp_path / "test.tgz").as_uri()])
    monkeypatch.setattr(DATASETS["wmt14"], "md5", None)
    assert fetch_test_set("wmt14") == wmt14
    assert is_here("wmt14")
    ours, theirs = testsets.test_set_files("wmt14", reverse=True)
    assert Path(ours).read_text().splitlines() == sides["en"]
    assert Path(theirs).read_text().splitlines() == sides["fr"]
