"""Named corpora and test sets as a run meets them: read from the cache, offline."""

import gzip
import json
from hashlib import sha256
from pathlib import Path

import pytest

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.named import testsets
from seq2seq_bottleneck.corpus.named.listing import listed
from seq2seq_bottleneck.corpus.named.places import folder_of
from seq2seq_bottleneck.corpus.named.testsets import fetch_test_set, known_test_sets
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
    hashes = {}
    for split, pairs in splits.items():
        for place, side in enumerate(("en", "fr")):
            text = "".join(f"{pair[place]}\n" for pair in pairs)
            packed = gzip.compress(text.encode())
            hashes[f"{split}.{side}.gz"] = sha256(packed).hexdigest()
            (folder / f"{split}.{side}.gz").write_bytes(packed)
    held = {
        **{"name": name, "licence": "any", "citation": "no one", "fetched": "2026-11-21"},
        **{"files": hashes, "sources": [], "left_out": {}, "limit": None},
        "pairs": {split: len(pairs) for split, pairs in splits.items()},
    }
    (folder / "SOURCE.json").write_text(json.dumps(held))


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_here_says_how_to_fetch_it(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load_corpus(CorpusSettings(name=name), EDGES)
    assert str(caught.value) == (
        f"corpus {name!r} is not on this machine; `bottleneck corpus fetch {name}` brings it"
    )
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("missing", ["pairs", "fetched", "limit", "left_out", "all"])
def test_a_damaged_record_is_told(missing: str) -> None:
    put("europarl", train=rows(0, 5))
    record = folder_of("europarl") / "SOURCE.json"
    held = json.loads(record.read_text())
    held.pop(missing, None)
    record.write_text("{" if missing == "all" else json.dumps(held))
    with pytest.raises(UserError, match=r"SOURCE\.json' is damaged; delete its folder and fetch"):
        load_corpus(CorpusSettings(name="europarl"), EDGES)
    assert not next(row for row in listed() if row.name == "europarl").here


@pytest.mark.parametrize("damage", ["missing", "cut off", "other text"])
def test_files_that_are_not_as_they_were_fetched_say_how_to_mend_it(damage: str) -> None:
    put("europarl", train=rows(0, 300))
    path = folder_of("europarl") / "train.fr.gz"
    whole = path.read_bytes()
    path.unlink()
    if damage != "missing":
        text = gzip.decompress(whole).replace(b"y", b"z")
        path.write_bytes(whole[:-9] if damage == "cut off" else gzip.compress(text))
    with pytest.raises(UserError) as caught:
        load_corpus(CorpusSettings(name="europarl"), EDGES)
    assert str(caught.value) == (
        f"{str(path)!r} is missing or is not as it was fetched; `bottleneck corpus fetch europarl` "
        "brings it anew"
    )


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
    for held in ("test", "validation"):
        note = f"5 pairs taken out of training: their source is in the {held} set"
        assert note in corpus.notes


def test_what_is_left_out_of_a_given_validation_set_is_counted() -> None:
    put(
        "canada-laws",
        train=rows(0, 200),
        valid=[*rows(300, 50), *rows(300, 3), ("", "f"), *rows(400, 2)],
        test=rows(400, 80),
    )
    settings = CorpusSettings(name="canada-laws", max_words=12, valid_pairs=15)
    notes = load_corpus(settings, EDGES).notes
    held = [note for note in notes if "validation" in note and "taken out of training" not in note]
    assert held == [
        "1 validation line with an empty side dropped",
        "2 validation pairs dropped: their source is in the test",
        "30 validation pairs outside 2-12 words dropped",
        "3 validation pairs of a repeated source dropped",
        "15 of 20 validation pairs kept (valid_pairs)",
    ]


def test_training_lengths_stand_under_the_buckets_of_the_test() -> None:
    put("multi30k", train=rows(0, 300), test=rows(400, 80))
    corpus = load_corpus(CorpusSettings(name="multi30k", valid_pairs=1), EDGES)
    counts = [0, 0, 0, 0]
    for pair in corpus.train:
        counts[sum(len(pair.source.split()) >= edge for edge in EDGES)] += 1
    shown = dict(zip(("under 5", "5-10", "11-20", "21+"), counts, strict=True))
    held = "; ".join(f"{name} {count}" for name, count in shown.items())
    assert f"training pairs by source words: {held}" in corpus.notes


def test_lower_case_is_told() -> None:
    put("multi30k", train=rows(0, 300), test=rows(400, 80))
    notes = load_corpus(CorpusSettings(name="multi30k", lowercase=True), EDGES).notes
    assert any("lower-case references" in note for note in notes)
    notes = load_corpus(CorpusSettings(name="multi30k"), EDGES).notes
    assert not any("lower-case" in note for note in notes)


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
        "test set 'wmt14' is not on this machine; `bottleneck corpus fetch wmt14` brings it"
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


@pytest.mark.parametrize("reverse", [False, True])
def test_another_named_corpus_to_test_on(reverse: bool) -> None:
    """Its own test set, else the pairs that a run on it is tested on; training is as it was."""
    put("canada-laws", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))
    put("multi30k", train=rows(500, 300), valid=rows(800, 40), test=rows(900, 60))
    put("tatoeba", train=rows(1_000, 400) + rows(0, 20))
    home = CorpusSettings(name="canada-laws", reverse_direction=reverse)
    own = load_corpus(home, EDGES)
    for other in ("multi30k", "tatoeba"):
        theirs = load_corpus(home.model_copy(update={"name": other}), EDGES)
        abroad = load_corpus(home.model_copy(update={"test": other}), EDGES)
        assert abroad.test == theirs.test
        tested = sources(abroad.test)
        assert abroad.train == tuple(pair for pair in own.train if pair.source not in tested)
        assert abroad.fingerprint not in (own.fingerprint, theirs.fingerprint)


def test_a_corpus_to_test_on_that_is_not_there() -> None:
    put("multi30k", train=rows(0, 300))
    with pytest.raises(UserError, match=r"^corpus 'tatoeba' is not on this machine; `bottleneck"):
        load_corpus(CorpusSettings(name="multi30k", test="tatoeba"), EDGES)
    with pytest.raises(UsageError, match=r"^unknown test set 'tatoeb'; did you mean 'tatoeba'\?$"):
        load_corpus(CorpusSettings(name="multi30k", test="tatoeb"), EDGES)


def test_names_of_test_sets(wmt14: Path) -> None:
    assert {"wmt14", "wmt14/full", "wmt13"} <= set(known_test_sets())
    assert "wmt19" not in known_test_sets()
    put("multi30k", train=rows(0, 300))
    with pytest.raises(UsageError, match=r"^unknown test set 'wmt14s'; did you mean 'wmt14'\?$"):
        load_corpus(CorpusSettings(name="multi30k", test="wmt14s"), EDGES)
    for reverse in (False, True):
        with pytest.raises(UserError, match="'wmt14' is not on this machine"):
            testsets.test_set_files("wmt14", reverse)
    put_test_set(wmt14)
    for reverse in (False, True):
        assert all(Path(path).is_file() for path in testsets.test_set_files("wmt14", reverse))


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


def test_what_a_failing_fetch_wrote_is_gone_and_nothing_else(
    wmt14: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """sacreBLEU would take its half files for whole ones, with other test sets beside them."""
    from sacrebleu import DATASETS

    (wmt14 / "full").mkdir(parents=True)
    (wmt14 / "full" / "wmt14_full.en-fr.src").write_text("of another set")
    (tmp_path / "test.tgz").write_bytes(b"not the known file")
    monkeypatch.setattr(DATASETS["wmt14"], "data", [(tmp_path / "test.tgz").as_uri()])
    with pytest.raises(UserError, match=r"cannot be fetched \(what came is not the known file\)"):
        fetch_test_set("wmt14")
    assert [path.name for path in wmt14.rglob("*") if path.is_file()] == ["wmt14_full.en-fr.src"]


def test_a_test_set_that_another_process_is_fetching(
    wmt14: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import portalocker
    from sacrebleu import DATASETS

    lock, dataset = portalocker.Lock, DATASETS["wmt14"]
    name = dataset._get_tarball_filename(dataset.data[0])
    (wmt14 / "raw").mkdir(parents=True)
    with (wmt14 / "raw" / f"{name}.lock").open("a") as held:
        portalocker.lock(held, portalocker.LOCK_EX)
        monkeypatch.setattr(portalocker, "Lock", lambda path, **_: lock(path, timeout=0.1))
        with pytest.raises(UserError, match=r"^test set 'wmt14' is being fetched by another proc"):
            fetch_test_set("wmt14")
        assert (wmt14 / "raw").is_dir()


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
    for reverse in (False, True):
        ours, theirs = testsets.test_set_files("wmt14", reverse)
        assert Path(ours).read_text().splitlines() == sides["en"]
        assert Path(theirs).read_text().splitlines() == sides["fr"]
