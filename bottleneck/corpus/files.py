"""Read parallel text (the user's or downloaded), and split it by source sentence.

It is two files with a sentence per line, or one file with two tab-separated columns; plain or gzip,
UTF-8, with LF or CRLF. It is normalised to Unicode form NFC and to single spaces.
"""

import gzip
import zlib
from collections.abc import Sequence
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from random import Random
from unicodedata import normalize

from ..settings.concerns import NAMED, CorpusSettings, bucket_members, span_label
from ..settings.errors import UsageError, UserError, counted
from .download import folder_of
from .drawing import note, within_test
from .pair import Edges, Pairs, SentencePair, Splits, sources
from .vocabulary import subword_advice


def pair_files(corpus: CorpusSettings, split: str) -> tuple[str, list[str]] | None:
    """What messages call the text of split train, valid or test, and its one or two files.

    None if the split has no files, so that it has to be split off.
    """
    name = corpus.test if corpus.test and split == "test" else corpus.name
    if name in NAMED:
        folder = folder_of(name)
        if not folder.is_dir():
            raise UserError(
                f"corpus {name!r} is not on this machine; "
                f"`bottleneck corpus {name} --fetch` downloads it"
            )
        paths = sorted(map(str, folder.glob(f"{split}.*")))  # English first
        return (f"corpus {name!r}", paths) if paths else None
    fields = [side if split == "train" else f"{split}_{side}" for side in ("source", "target")]
    source, target = (getattr(corpus, field) for field in fields)
    paths = [path for path in (source, target) if path is not None]
    if split != "train" and not paths:
        return None
    has_both_sides = source is not None and source.lower().endswith((".tsv", ".tsv.gz"))
    if source is None or has_both_sides == (target is not None):
        flag = "--{} FILE" if split == "train" else "--set corpus.{}=FILE"
        both = " and ".join(map(flag.format, fields))
        raise UsageError(f"give {both}, or one .tsv file of two columns as the source alone")
    for path in paths:
        if Path(path).is_fifo():
            raise UsageError(
                f"{path!r} is a pipe, which can be read once, not by every run: use a file"
            )
    return f"corpus.{fields[0]}", paths


def read_split(corpus: CorpusSettings, split: str) -> Pairs | None:
    """The pairs of a split's files in order, source language first; None if it has no files.

    A side of a pair may be empty.
    """
    files = pair_files(corpus, split)
    if files is None:
        return None
    setting, (path, *others) = files
    name, lines = f"{setting} {path!r}", read_lines(path, setting)
    if others:
        target = setting.replace("source", "target")
        theirs = read_lines(others[0], target)
        if len(lines) != len(theirs):
            raise UserError(
                f"{name} has {len(lines):,} lines and {target} {others[0]!r} has "
                f"{len(theirs):,}; each line must translate the same line of the other"
            )
        rows = list(zip(lines, theirs, strict=True))
    else:
        rows = [line.split("\t") if line.strip() else ("", "") for line in lines]
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise UserError(
                f"{name} line {number} has {counted(len(row), 'column')}; each line must be "
                "source<TAB>target"
            )
    cased = str.lower if corpus.lowercase else str
    sides = ([" ".join(normalize("NFC", cased(side)).split()) for side in row] for row in rows)
    return tuple(SentencePair(*(row[::-1] if corpus.reverse_direction else row)) for row in sides)


def read_lines(path: str, setting: str) -> list[str]:
    """The lines of a text or gzip file, without byte-order mark; an empty file is refused."""
    name = f"{setting} {path!r}"
    try:
        opened = gzip.open if path.lower().endswith(".gz") else open
        with opened(Path(path).expanduser(), "rb") as file:
            data = file.read().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        raise UserError(f"{name} does not exist; paths start from {str(Path.cwd())!r}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise UserError(f"{name} is not a complete gzip file; pack it again or unpack it") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{name} cannot be read ({reason}); name a text file") from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name} line {number} is not UTF-8; save the file as UTF-8") from None
    if not text:
        raise UserError(f"{name} is empty; give a file with one sentence per line")
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def split_files(corpus: CorpusSettings, edges: Edges) -> Splits:
    """Read the text and split it by source sentence.

    A given test set is used whole, without repeated pairs; else one is split off, spread evenly
    over the length buckets. Validation is a random part of a given set, else of the training text.
    min_words and longest_trained apply only to training and validation.
    """
    notes: list[str] = []
    pairs, parts = read_split(corpus, "train"), read_split(corpus, "test")
    if parts is not None:
        different = tuple(dict.fromkeys(pair for pair in parts if pair.source and pair.target))
        note(notes, len(parts) - len(different), "test pair", "empty or repeated: dropped")
        test = within_test(different, corpus, notes)
    else:
        if corpus.test:  # without a test set: split it off, as a run on that corpus does
            parts = read_split(corpus.model_copy(update={"name": corpus.test}), "train")
        whole = tuple(pair for pair in parts or pairs if pair.source and pair.target)
        within = within_test(whole, corpus, notes)
        test = split_off(within, corpus.test_pairs, f"{corpus.seed}:test", edges)
    tested = sources(test)
    span, given = range(corpus.min_words, corpus.longest_trained + 1), read_split(corpus, "valid")
    # Pairs of the training text, then those of a given validation set.
    usable = [
        [pair for pair in text if pair.words in span and pair.target and pair.source not in tested]
        for text in ([pairs] if given is None else [pairs, given])
    ]
    part = 10 if given is None else 1
    valid = split_off(usable[-1], corpus.valid_pairs, f"{corpus.seed}:valid", part=part)
    validated, words = sources(valid), span_label(span[0], span[-1])
    left = [pair for pair in usable[0] if pair.source not in validated]
    if not valid or not left:
        raise UserError(
            f"{pair_files(corpus, 'train')[0]} leaves no pairs of {words} words to train on; "
            "give more text, other lengths or another test set"
        )
    reason = f"not trained on: empty, not of {words} words, or tested or validated on"
    note(notes, len(pairs) - len(left), "pair", reason)
    sides = {side: [getattr(pair, side) for pair in left] for side in ("source", "target")}
    notes += subword_advice(sides)
    # In the order of the file; a smaller number of pairs is a subset of a larger.
    random = Random(f"{corpus.seed}:train")
    keys = sorted((random.random(), row) for row in range(len(left)))
    train = tuple(left[row] for row in sorted(row for _, row in keys[: corpus.train_pairs]))
    return Splits(train, valid, test, tuple(notes))


def split_off(
    pairs: Sequence[SentencePair], count: int, seed: str, edges: Edges | None = None, part: int = 10
) -> Pairs:
    """Choose up to ``count`` pairs of different sources by seed, in the order of the file.

    With ``edges`` the buckets take turns. At most one in ``part`` pairs of a bucket is chosen.
    """
    first: dict[str, SentencePair] = {}
    for pair in pairs:
        first.setdefault(pair.source, pair)
    different, buckets = list(first.values()), [range(len(first))]
    if edges is not None:
        buckets = bucket_members([pair.words for pair in different], edges).values()
    digests = [blake2b(f"{seed}:{text}".encode(), digest_size=8).digest() for text in first]
    ranked = (sorted(rows, key=digests.__getitem__)[: -(-len(rows) // part)] for rows in buckets)
    turns = [row for turn in zip_longest(*ranked) for row in turn if row is not None]
    return tuple(different[row] for row in sorted(turns[:count]))
