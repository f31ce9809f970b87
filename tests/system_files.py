"""Made-up systems on one test set: their texts, as files and as runs."""

import json
from pathlib import Path

import numpy as np
from listed import write_relisted
from planted import planted_settings, write_run

WORDS = [*(f"mot{n}" for n in range(60)), "l'été,", "3.5", "«oui»", "dort.", "&amp;", "Œuvre"]
EDGES = (5, 11, 21, 31, 41)


def reference_texts(lengths: list[int], seed: int = 0) -> list[str]:
    """A sentence of each length, in words."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, size=length)) for length in lengths]


def outputs(references: list[str], share: float, seed: int) -> list[str]:
    """The references with a share of words replaced, and some words left out."""
    random = np.random.default_rng(seed)
    return [
        " ".join(
            word if random.random() > share else "euh"
            for word in text.split()
            if random.random() > 0.03
        )
        for text in references
    ]


def write_lines(path: Path, lines: list[str], end: str = "\n") -> str:
    """Write lines as bytes; return the path."""
    path.write_bytes("".join(f"{line}{end}" for line in lines).encode())
    return str(path)


def write_test_set(folder: Path, **texts: list[str]) -> list[str]:
    """Write texts as files; return the options that name references and sources."""
    for name, lines in texts.items():
        write_lines(folder / name, lines)
    sources = "sources" if "sources" in texts else "references"
    return ["--references", str(folder / "references"), "--sources", str(folder / sources)]


def write_translated(folder: Path, arm: str, references: list[str], hypotheses: list[str]) -> Path:
    """A finished run with these hypotheses; its sources equal its references."""
    run = write_run(folder, f"{arm}run", planted_settings(arm), hypotheses, references)
    rows = [
        {"sentence": place, "source": text, "reference": text, "hypothesis": output}
        for place, (text, output) in enumerate(zip(references, hypotheses, strict=True))
    ]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    write_relisted(run / "hypotheses.jsonl", "".join(f"{line}\n" for line in lines))
    return run
