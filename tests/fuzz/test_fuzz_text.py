"""Parallel text and translations of every kind, compared with independent oracles.

The oracles read lines as README defines them (only LF or CRLF ends one) and do not use our readers;
scores are sacreBLEU's own.
"""

import unicodedata

import pytest
import sacrebleu
from hostile import file_bytes, long_sentence, plain_sentence, sentence, try_cases
from hypothesis import strategies as st
from lanes import draws

from seq2seq_bottleneck.corpus.corpus import describe, load_corpus
from seq2seq_bottleneck.corpus.files import read_split
from seq2seq_bottleneck.corpus.vocabulary import count_words
from seq2seq_bottleneck.runs.checkpoint import load_vocabularies, save_vocabularies
from seq2seq_bottleneck.settings.concerns import CorpusSettings, ScoringSettings
from seq2seq_bottleneck.tables.score import read_systems, score_page

EDGES = (1, 4, 8)
line = st.one_of(*[plain_sentence] * 6, *[sentence] * 6, st.sampled_from(["", " ", "\u00a0"]))


def lines_of(data):
    """The lines of a file; None if it is not UTF-8."""
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
    """The bytes of files with the same number of lines, sometimes with different ones."""
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
        source, target = write(tmp_path, ("s", "t"), sides)
        known = [lines_of(data) for data in sides]
        corpus = CorpusSettings(name="files", source=source, target=target)
        read = read_split(corpus, "train")
        assert len({len(lines) for lines in known}) == 1
        pairs = [tuple(map(folded, pair)) for pair in zip(*known, strict=True)]
        assert [(pair.source, pair.target) for pair in read] == pairs

    try_cases(check, parallel(), budget)


@pytest.mark.parametrize("budget", draws(30, 800))
def test_a_corpus_of_such_files(tmp_path, budget):
    """Splits share no source, name what they drop, and get their vocabularies back from disk."""

    def check(case):
        sides, lowercase = case
        source, target = write(tmp_path, ("s", "t"), sides)
        corpus = CorpusSettings(
            name="files", source=source, target=target, lowercase=lowercase, valid_pairs=3,
            test_pairs=9, min_words=1, max_words=12,
        )  # fmt: skip
        made = load_corpus(corpus, EDGES)
        splits = made.train, made.valid, made.test
        parts = [{pair.source for pair in pairs} for pairs in splits]
        assert len(parts[0] | parts[1] | parts[2]) == sum(map(len, parts))
        assert all(pair.words <= 12 for pair in (*made.train, *made.valid))
        assert made.fingerprint == load_corpus(corpus, EDGES).fingerprint
        vocabularies = made.source_vocabulary, made.target_vocabulary
        (tmp_path / "status.json").write_text('{"status": "running"}')  # so that it needs no sums
        save_vocabularies(tmp_path, vocabularies)
        assert load_vocabularies(tmp_path, corpus) == vocabularies
        assert describe(made, EDGES)["pairs"].sum() == sum(map(len, splits))

    text = st.one_of(*[plain_sentence] * 3, sentence, line)
    try_cases(check, st.tuples(parallel(2, 60, text), st.booleans()), budget)


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
        page.render("csv")
        rows, gains = (
            {row["bucket"]: row for row in table.to_dict("records")}
            for table in (page.frame, frame)
        )
        a, b, gold, source = [lines_of(data) for data in sides]
        rows_of = [text.split("\t") if "\t" in gold[0] else [text] for text in gold]
        rest = [*map(list, zip(*rows_of, strict=True)), source]  # tabs separate references
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
