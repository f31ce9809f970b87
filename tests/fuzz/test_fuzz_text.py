"""Parallel text, gold links and translations of every kind: what we make of them, told by others.

The oracles read lines as README defines them (LF or CRLF ends one, nothing else does) and know
nothing of our readers; scores are sacreBLEU's own.
"""

import unicodedata

import pytest
import sacrebleu
from hostile import fault_of, file_bytes, long_sentence, plain_sentence, sentence, try_cases
from hypothesis import strategies as st
from lanes import Draws, draws

from seq2seq_bottleneck.corpus.corpus import describe, load_corpus
from seq2seq_bottleneck.corpus.files import PairFiles, read_pairs
from seq2seq_bottleneck.corpus.vocabulary import Vocabulary, count_words
from seq2seq_bottleneck.questions.alignment import read_gold
from seq2seq_bottleneck.settings.concerns import CorpusSettings, ScoringSettings
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.page import csv
from seq2seq_bottleneck.tables.score import read_systems, score_page

EDGES = (1, 4, 8)
line = st.one_of(*[plain_sentence] * 6, *[sentence] * 6, st.sampled_from(["", " ", "\u00a0"]))


def lines_of(data):
    """The lines of a file, or None where it is not UTF-8."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    lines = text.removeprefix("\ufeff").split("\n")
    lines = [item[:-1] if item.endswith("\r") and n < len(lines) - 1 else item
             for n, item in enumerate(lines)]  # fmt: skip
    return lines[:-1] if lines[-1] == "" else lines


@st.composite
def parallel(draw, sides=2, most=30, kinds=line):
    """The bytes of files of as many lines, now and then one of another count."""
    count = draw(st.integers(0, most))
    parts = [draw(st.lists(kinds, min_size=count, max_size=count)) for _ in range(sides)]
    if draw(st.integers(0, 14)) == 0:
        parts[-1].append("le chat")
    if draw(st.integers(0, 19)) == 0 and count:
        parts[0][0] = draw(long_sentence)
    return tuple(draw(file_bytes(lines)) for lines in parts)


def write(folder, names, sides):
    paths = [folder / name for name in names]
    for path, data in zip(paths, sides, strict=True):
        path.write_bytes(data)
    return [str(path) for path in paths]


def folded(text):
    return " ".join(unicodedata.normalize("NFC", text).split())


@pytest.mark.parametrize("budget", draws(100, 2_000))
def test_two_files(tmp_path, budget):
    def check(sides):
        files = PairFiles("corpus.source", *write(tmp_path, ("s", "t"), sides))
        known = [lines_of(data) for data in sides]
        read, blank = read_pairs(files, lowercase=False)
        assert len({len(lines) for lines in known}) == 1
        pairs = [tuple(map(folded, pair)) for pair in zip(*known, strict=True)]
        assert [(pair.source, pair.target) for pair in read] == [p for p in pairs if all(p)]
        assert blank == sum(not all(pair) for pair in pairs)

    try_cases(check, parallel(), budget)


@pytest.mark.parametrize("budget", draws(60, 1_000))
def test_a_file_of_two_columns(tmp_path, budget):
    def check(data):
        (tmp_path / "a.tsv").write_bytes(data)
        read, _ = read_pairs(PairFiles("corpus.source", str(tmp_path / "a.tsv"), None), False)
        rows = [item.split("\t") for item in lines_of(data) if item.strip()]
        assert {len(row) for row in rows} <= {2}
        pairs = [tuple(map(folded, row)) for row in rows]
        assert [(pair.source, pair.target) for pair in read] == [p for p in pairs if all(p)]

    no_tabs = line.map(lambda text: text.replace("\t", " "))
    row = st.tuples(no_tabs, no_tabs).map("\t".join)
    rows = st.lists(row | row | row | row | line, max_size=20)
    try_cases(check, rows.flatmap(file_bytes), budget)


@pytest.mark.parametrize("budget", draws(30, 800))
def test_a_corpus_of_such_files(tmp_path, budget):
    """Splits share no source, drop nothing unsaid, and their vocabularies come back from disk."""

    def check(case):
        sides, lowercase = case
        source, target = write(tmp_path, ("s", "t"), sides)
        corpus = CorpusSettings(
            name="files", source=source, target=target, lowercase=lowercase, valid_pairs=3,
            test_pairs=9, min_words=1, max_words=12,
        )  # fmt: skip
        made = load_corpus(corpus, EDGES)
        parts = [{pair.source for pair in pairs} for pairs in made.splits.values()]
        assert len(parts[0] | parts[1] | parts[2]) == sum(map(len, parts))
        assert all(pair.words <= 12 for pair in (*made.train, *made.valid))
        assert made.fingerprint == load_corpus(corpus, EDGES).fingerprint
        for vocabulary in (made.source_vocabulary, made.target_vocabulary):
            assert Vocabulary.from_bytes(vocabulary.to_bytes()).tokens == vocabulary.tokens
        assert len(describe(made, EDGES)) == 3 * (len(EDGES) + 1)

    text = st.one_of(*[plain_sentence] * 3, sentence, line)
    try_cases(check, st.tuples(parallel(2, 60, text), st.booleans()), budget)


link = st.builds("{}{}{}".format, st.integers(0, 6), st.sampled_from("-?"), st.integers(0, 6))
other = st.sampled_from(["", "a-b", "1-", "-1-2", "1--2", "1:2", "٣-٣", "9999999999-1", "0\x000"])
links = st.lists(st.one_of(*[link] * 12, other), max_size=4).map(" ".join)


@pytest.mark.parametrize("budget", draws(100, 1_500))
def test_gold_links(tmp_path, budget):
    def check(case):
        sides, gold, base = case
        write(tmp_path, ("gold", "s", "t"), (gold, *sides))
        sentences, _ = read_gold(*(tmp_path / name for name in ("gold", "s", "t")), base)
        known = [[item.split() for item in lines_of(data)] for data in sides]
        assert [len(item.words[0]) for item in sentences] == [len(words) for words in known[0]]
        for (_, _, sure, possible), gold_line, *pair in zip(
            sentences, lines_of(gold), *known, strict=True
        ):
            entries = {entry.replace("?", "-"): "?" in entry for entry in sorted(gold_line.split())}
            places = {tuple(int(n) - base for n in entry.split("-")) for entry in entries}
            assert possible == places
            assert sure <= possible
            assert all(i < len(pair[0]) and j < len(pair[1]) for i, j in places)

    kinds = (plain_sentence, plain_sentence, links)
    golds = st.integers(0, 8).flatmap(
        lambda n: st.tuples(
            *(st.lists(k, min_size=n, max_size=n).flatmap(file_bytes) for k in kinds)
        )
    )
    cases = st.tuples(golds, st.integers(0, 1))
    try_cases(check, cases.map(lambda c: (c[0][:2], c[0][2], c[1])), budget)


SCORING = ScoringSettings(edges=",".join(map(str, EDGES)), resamples=9)


def sacre(pairs):
    """sacreBLEU's own score of hypotheses and references."""
    hypotheses, *references = zip(*pairs, strict=True)
    return sacrebleu.corpus_bleu(list(hypotheses), [list(text) for text in references], force=True)


def by_bucket(known):
    """Hypotheses and references of each bucket of the sources' words."""
    buckets = {"1-3": [], "4-7": [], "8+": []}
    for hypothesis, *references, source in zip(*known, strict=True):
        if words := count_words(source):
            bucket = "1-3" if words < 4 else "4-7" if words < 8 else "8+"
            buckets[bucket].append((hypothesis, *references))
    return buckets


@pytest.mark.parametrize("budget", draws(60, 1_500))
def test_scores_and_differences_are_sacrebleus(tmp_path, budget):
    def check(sides):
        names = ("a", "b", "references", "sources")
        write(tmp_path, names, sides)
        paths = [tmp_path / name for name in names]
        gold, sources = [paths[2]], paths[3]
        systems = read_systems({"a": paths[0], "b": paths[1]}, gold, sources)
        page = score_page(systems[:1], SCORING)
        frame = score_page(systems, SCORING, 9).frame
        csv(page.frame)
        rows, gains = (
            {row["bucket"]: row for row in table.to_dict("records")}
            for table in (page.frame, frame)
        )
        a, b, gold, source = [lines_of(data) for data in sides]
        rows_of = [text.split("\t") if "\t" in gold[0] else [text] for text in gold]
        rest = [*map(list, zip(*rows_of, strict=True)), source]  # tabs part references
        buckets = [by_bucket([item, *rest]) for item in (a, b)]
        for name, pairs in buckets[0].items():
            assert rows[name]["n"] == gains[name]["n"] == len(pairs)
            theirs = sacre(pairs) if pairs else None
            if theirs and theirs.ref_len:
                assert rows[name]["bleu"] == pytest.approx(theirs.score, abs=1e-9)
                assert rows[name]["brevity_penalty"] == pytest.approx(theirs.bp, abs=1e-12)
                gain = sacre(buckets[1][name]).score - theirs.score
                assert gains[name]["difference"] == pytest.approx(gain, abs=1e-9)

    try_cases(check, parallel(4, 24), budget)


def test_a_line_of_10_000_words_is_counted_and_told_and_never_cut(tmp_path):
    texts = [f"le chat {n} " + "noir " * (n % 9) for n in range(60)]
    for side in "st":
        (tmp_path / side).write_text("\n".join([*texts, "mot " * 10_000, "mot 2 " * 5_000]))
        (tmp_path / f"test.{side}").write_text("\n".join(["le 1", "le chat 1 2 3", "un " * 10_000]))
    paths = {name: str(tmp_path / name[0]) for name in ("source", "target")}
    paths |= {f"test_{name}": str(tmp_path / f"test.{name[0]}") for name in ("source", "target")}
    corpus = CorpusSettings(name="files", **paths, valid_pairs=3, max_words=12)
    made = load_corpus(corpus, EDGES)
    assert "2 pairs outside 2-12 words taken out of training" in made.notes
    assert "1 test sentence longer than corpus.max_words=12" in made.notes
    assert [pair.words for pair in made.test] == [2, 5, 10_000]
    assert len(made.train) + len(made.valid) == 60


@pytest.mark.slow
def test_the_cases_are_not_all_refused(tmp_path):
    counts = {"refused": 0, "read": 0}

    def check(sides):
        files = PairFiles("corpus.source", *write(tmp_path, ("s", "t"), sides))
        fault = fault_of(lambda files: read_pairs(files, False), files)
        counts["refused" if isinstance(fault, UserError) else "read"] += 1

    try_cases(check, parallel(), Draws(100, False))
    assert min(counts.values()) >= 10
