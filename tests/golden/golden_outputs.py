"""Numbers that the command line prints: how they are read, stored and compared.

Nothing of the package is used but its command, so that these outputs hold through a rebuild of
everything behind it. Each output is a table of columns by name. Its cells are strings; those that
are numbers are compared as numbers. `numbers.json.gz` has a line of JSON for each command:
`zcat tests/golden/numbers.json.gz` shows them. `record.py` writes it, `test_golden.py` compares.
"""

import csv
import gzip
import io
import json
import math
import os
import re
import shlex
from contextlib import chdir, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from seq2seq_bottleneck.cli.main import run

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_name("numbers.json.gz")
Columns = dict[str, list[str]]

TEXT = {"run", "signature", "note", "panel"}
"""Columns that are never stored: names that change with the schema, versions, captions."""
CLAIMS = ("id", "verdict", "value", "low", "high")
TWO_CELLS = """# Does attention help to copy?
preset = "smoke"
corpus.name = "copy"
corpus.copy_words = 30
model.attention = ["none", "dot"]
model.context_size = 8
scoring.resamples = 20
"""
TRAINING = ("reproduce", "sweep")
LOSSES = {"train_loss": 1e-3, "valid_loss": 1e-3, "nll_per_token": 1e-3}
"""Columns of fresh runs that differ with the machine's rounding, and how much they may."""
OF_ROUNDING = re.compile(
    "bleu|brevity|length_ratio|precision_|chrf|empty|unfinished|best_update"
    "|train_seconds|train_tokens_per_second|corpus_fingerprint"
)
"""Columns of fresh runs that are not stored: one other word in a translation changes them, times
differ, and the fingerprint changes with the schema."""
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")


def printed(command: str, folder: Path) -> str:
    """Run a line of commands, joined by ``&&``, beside `reference`; what the last one prints."""
    if not (folder / "reference").exists():
        (folder / "reference").symlink_to(ROOT / "results" / "reference")
    plain = patch.dict(os.environ, NO_COLOR="1", COLUMNS="100", MPLBACKEND="agg")
    text = ""
    with plain, chdir(folder):
        for line in command.split(" && "):
            output = io.TextIOWrapper(io.BytesIO(), encoding="utf8", newline="")
            with redirect_stdout(output):
                code = run(shlex.split(line))
            output.flush()
            if code != 0:
                raise ChildProcessError(f"exit code {code}: bottleneck {line}")
            text = output.buffer.getvalue().decode("utf8").replace("\r\n", "\n")
    return text


def answer(command: str, folder: Path) -> Columns:
    """The columns that a line of commands gives, without those that are not compared.

    A figure's numbers are in the CSV which stands next to its file.
    """
    text = printed(command, folder)
    words = shlex.split(command.split(" && ")[-1])
    if words[0] == "corpus":
        return corpus_columns(text)
    if words[-1] == "page.html":
        return explorer_columns((folder / words[-1]).read_text(encoding="utf8"))
    if words[0] == "plot":
        text = (folder / words[-1]).with_suffix(".csv").read_text(encoding="utf8")
    columns = read_columns(text)
    if words[:2] == ["table", "claims"]:
        return {name: columns[name] for name in CLAIMS}
    if words[0] == "lecture":
        return {
            "id": columns["id"],
            "printed": [" ".join(NUMBER.findall(cell)) for cell in columns["printed"]],
            "recomputed": [" ".join(NUMBER.findall(cell)) for cell in columns["recomputed"]],
            "verdict": columns["verdict"],
        }
    if command.startswith(TRAINING):
        return {name: cells for name, cells in columns.items() if not OF_ROUNDING.match(name)}
    return columns


def read_columns(text: str) -> Columns:
    """The columns of a CSV, without those that are text."""
    header, *rows = csv.reader(io.StringIO(text))
    cells = zip(*rows, strict=True) if rows else ([] for _ in header)
    pairs = zip(header, cells, strict=True)
    return {name: list(column) for name, column in pairs if name not in TEXT}


def corpus_columns(text: str) -> Columns:
    """Sentence pairs and their gold links as they are; of other lines the numbers."""
    columns: Columns = {"sentence": [], "links": [], "numbers": []}
    for line in text.splitlines():
        if line.startswith(("en  ", "fr  ")):
            columns["sentence"].append(line)
        elif line.strip() and all("-" in link for link in line.split()):
            columns["links"].append(line.strip())
        elif "fingerprint" not in line and NUMBER.search(line):
            columns["numbers"].append(" ".join(NUMBER.findall(line)))
    return columns


def explorer_columns(page: str) -> Columns:
    """A row for each sentence and arm of the page's explorer."""
    data = json.loads(page.partition('id="explorer-data">')[2].partition("</script>")[0])
    rows = [
        {
            "sentence": sentence["text"],
            "arm": arm["name"],
            "output": result["text"],
            "words": " ".join(word for word, *_ in sentence["words"]),
            "fates": ", ".join(fate for fate, _ in result["fates"]),
            "found": " ".join(found for _, found in result["fates"]),
            "weights": " ".join(str(max(row)) for row in result["weights"]),
            "looked_at": " ".join(str(row.index(max(row))) for row in result["weights"]),
        }
        for sentence in data["sentences"]
        for arm, result in zip(data["arms"], sentence["arms"], strict=True)
    ]
    return {name: [row[name] for row in rows] for name in rows[0]}


def write_inputs(folder: Path) -> None:
    """Translations by two systems: a drops words of longer sentences, b changes every ninth."""
    texts: dict[str, list[str]] = {name: [] for name in ("src", "ref", "a", "b")}
    for place in range(180):
        words = [f"w{(place * 7 + step * step * 3) % 23}" for step in range(1 + place % 60)]
        kept = [w for step, w in enumerate(words) if (step + place) % 6 or step < 8]
        changed = [w if (step + place) % 9 else "w0" for step, w in enumerate(words)]
        texts["src"].append(" ".join(words))
        for name, translation in (("ref", words), ("a", kept), ("b", changed)):
            texts[name].append(" ".join(f"{word}f" for word in translation) + " .")
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf8")
    (folder / "two.toml").write_text(TWO_CELLS, encoding="utf8")


def differences(
    expected: Columns,
    actual: Columns,
    *,
    key: str = "",
    tolerance: dict[str, float] | None = None,
    retired: dict[str, str] | None = None,
) -> list[str]:
    """What differs, a line each: column, row and its labels, the expected cell and the actual one.

    With a ``key`` rows are matched by that column, and there may be more of them than expected.
    """
    missing = [name for name in expected if name not in actual and name not in (retired or {})]
    lines = [f"column {name!r} is missing; there are {', '.join(actual)}" for name in missing]
    for name in filter(actual.__contains__, expected):
        cells, index = expected[name], list(range(len(expected[name])))
        if key:
            by_label = {label: row for row, label in enumerate(actual[key])}
            index = [by_label.get(label, -1) for label in expected[key]]
        elif len(actual[name]) != len(cells):
            lines.append(f"column {name!r}: {len(cells)} rows expected, {len(actual[name])} got")
        for place, row in enumerate(index):
            got = actual[name][row] if 0 <= row < len(actual[name]) else "no such row"
            if not same(cells[place], got, (tolerance or {}).get(name, 1e-9)):
                row_cells = [
                    (other, *column[place : place + 1]) for other, column in expected.items()
                ]
                texts = [pair for pair in row_cells if number(pair[-1]) is None and pair[-1]]
                labels = ", ".join("=".join(pair) for pair in texts if pair[0] != name)
                where = f"column {name!r}, row {place + 1} ({labels[:120]})"
                lines.append(f"{where}: expected {cells[place]!r}, got {got!r}")
    return lines


def number(cell: str) -> float | None:
    """The number that a cell is, infinity and nan among them; none if it is blank or text."""
    try:
        return float(cell)
    except ValueError:
        return None


def same(expected: str, actual: str, tolerance: float) -> bool:
    """Whether two cells are the same text, or numbers as near as that."""
    first, second = number(expected), number(actual)
    if first is None or second is None or expected == actual:
        return expected == actual
    return math.isclose(first, second, rel_tol=tolerance, abs_tol=1e-12)


def load() -> dict[str, Columns]:
    """All stored outputs by command."""
    with gzip.open(STORED, "rt", encoding="utf8") as file:
        return {entry["command"]: entry["columns"] for entry in map(json.loads, file)}


def save(outputs: dict[str, Columns]) -> None:
    """Write all outputs, numbers in at most 12 digits; the same bytes for the same outputs."""
    lines = []
    for command in sorted(outputs):
        columns = {
            name: [
                f"{number(c):.12g}" if len(c) > 13 and number(c) is not None else c for c in cells
            ]
            for name, cells in outputs[command].items()
        }
        entry = {"command": command, "columns": columns}
        lines.append(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
    STORED.write_bytes(gzip.compress("".join(lines).encode("utf8"), mtime=0))
