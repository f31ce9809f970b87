"""Bundles with made-up translations, so that every number in them is known."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from seq2seq_bottleneck.results.bundle import Results, tidy_csv
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import ENDED
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.runs.evaluation import bucket_rows
from seq2seq_bottleneck.scoring.bleu import bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import Estimate
from seq2seq_bottleneck.settings.files import seal, write_listed
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, RunSettings, resolve
from seq2seq_bottleneck.settings.sweep import Cell, declare


def estimate(value: float, half: float = 0.0) -> Estimate:
    """An estimate whose 95 % interval is value plus and minus half."""
    return Estimate(float(value), value + np.linspace(-half, half, 401) / 0.95)


PLANTED = "planted"
_CELLS: dict[Path, dict[str, Cell]] = {}
"""The runs planted in each folder."""
LENGTHS = [3] * 2 + [7] * 12 + [15] * 12 + [25] * 12 + [35] * 12 + [50] * 12


def sentences(seed: int = 0) -> list[str]:
    """References of the lengths above, of 60 words."""
    random = np.random.default_rng(seed)
    return [" ".join(f"w{word}" for word in random.integers(60, size=n)) for n in LENGTHS]


def damaged(reference: str, share: float, random: np.random.Generator) -> str:
    """The reference with a share of its words replaced."""
    words = [word if random.random() >= share else "x" for word in reference.split()]
    return " ".join(words)


def write_run(
    folder: Path,
    name: str,
    settings: RunSettings,
    hypotheses: list[str],
    references: list[str],
    group: str | None = "",
    **facts: object,
) -> Path:
    """A finished run in the store of ``folder``; ``facts`` are further facts of its data.

    The run belongs to this group of the store's one experiment, `PLANTED`, or with None to none.
    """
    # Only settings that change scores, so that the cache finds them.
    sizes = {name: getattr(settings.model, name) for name in ("embedding_size", "context_size")}
    alone = RunSettings().changed(
        model={"attention": "none"} | sizes, scoring=settings.scoring.model_dump()
    )
    columns, scores = _scored(tuple(hypotheses), tuple(references), alone)
    known = {
        "train_pairs": 10,
        "best_update": settings.training.updates,
        "epochs": 2.5,
        "train_loss": 0.5,
        "valid_loss": 1.0,
        "train_tokens": 100,
        "parameters": 1000 if settings.model.attention == "none" else 1300,
        "train_seconds": 1.0,
        "train_tokens_per_second": 100.0,
        "near_copies": None,
    }
    rows = [known | row for row in scores]
    run = write_begun(folder, name, settings, "done", **facts)
    (run / "scores.csv").write_text(tidy_csv(pd.DataFrame(rows, dtype=object)))
    (run / "sentences.csv").write_text(tidy_csv(columns))
    (run / "examples.json").write_text("[]")
    reseal(run)
    if group is not None:
        known = _CELLS.setdefault(folder, {}) | {name: Cell(group, settings)}
        _CELLS[folder] = known
        cells = zip(known, declare(known.values()), strict=True)
        declared = {PLANTED: {run: [cell.arm, cell.baseline] for run, cell in cells}}
        write_listed(folder, [("experiments.json", json.dumps(declared).encode())])
    return run


@cache
def _scored(
    hypotheses: tuple[str, ...], references: tuple[str, ...], settings: RunSettings
) -> tuple[pd.DataFrame, list[dict[str, object]]]:
    """The counts of a run's sentences, and its scores; cached, because many tests share texts."""
    words = np.array([len(reference.split()) for reference in references])
    texts = {"sentence": range(len(words)), "hypothesis": hypotheses, "reference": references}
    lengths = {"source_words": words, "nll": 1.5 * words, "target_tokens": words + 1}
    counts = zip(BLEU_COLUMNS, bleu_statistics(hypotheses, references).T, strict=True)
    sentences = pd.DataFrame(texts | lengths | {"ended": True} | dict(counts))
    return sentences.drop(columns=["reference", "hypothesis"]), bucket_rows(sentences, settings)


def reseal(folder: Path) -> None:
    """List a folder's files as they are now, for tests that change what a file says."""
    seal(folder, ["status.json"])


def write_begun(
    folder: Path,
    name: str,
    settings: RunSettings,
    status: str = "running",
    reason: str = "",
    **facts: object,
) -> Path:
    """The folder of a run without scores: it has not ended, or it failed."""
    run = folder / "runs" / name
    run.mkdir(parents=True)
    (run / "settings.json").write_text(json.dumps(settings.model_dump()))
    known = {"notes": ["2 test sentences outside"], "source_unknown": 0.25, "target_unknown": 0.5}
    known |= {"source_vocabulary": 1234, "target_vocabulary": 60}
    known |= {"fingerprint": "planted", "schema": SCHEMA_VERSION}
    (run / "environment.json").write_text(json.dumps(known | facts))
    (run / "status.json").write_text(json.dumps({"status": status, "reason": reason}))
    if status in ENDED:
        reseal(run)
    return run


def planted_settings(arm: str, seed: int = 1, **concerns: dict[str, object]) -> RunSettings:
    """The settings of the planted runs of one arm and seed, with changes by concern."""
    model = {"attention": arm} | concerns.pop("model", {})
    training = {"seed": seed, "updates": 10} | concerns.pop("training", {})
    return resolve("smoke").changed(model=model, training=training, **concerns)


def write_planted(
    folder: Path,
    damage: dict[str, list[float]],
    seeds: int = 2,
    keep: frozenset[int] = frozenset(LENGTHS),
) -> dict[str, list[list[str]]]:
    """A bundle in ``folder``; returns each arm's hypotheses, one list per seed.

    ``damage`` is the share of words lost in each bucket, by arm; ``keep`` the lengths tested.
    """
    references = [text for text in sentences() if len(text.split()) in keep]
    made: dict[str, list[list[str]]] = {arm: [] for arm in damage}
    for seed in range(1, seeds + 1):
        for arm, shares in damage.items():
            texts = translations(references, shares, [seed, len(arm)])
            settings = planted_settings(arm, seed)
            write_run(folder, f"{arm}{seed}x1", settings, texts, references)
            made[arm].append(texts)
    write_bundle(Results.open(folder), folder)
    return made


def translations(references: list[str], shares: list[float], seed: list[int]) -> list[str]:
    """The references with each bucket's share of words lost."""
    random = np.random.default_rng(seed)
    share = dict(zip([3, 7, 15, 25, 35, 50], [0.0, *shares], strict=True))
    return [damaged(text, share[len(text.split())], random) for text in references]


def write_sizes(
    folder: Path,
    damage: dict[tuple[int, str], list[float]],
    seeds: int = 1,
    changes: dict[str, object] | None = None,
) -> dict[tuple[int, str], list[list[str]]]:
    """A bundle of (context size, arm) cells, named such as ``none32s1``; returns hypotheses.

    ``changes`` are further settings of the model for all runs.
    """
    references = sentences()
    made: dict[tuple[int, str], list[list[str]]] = {cell: [] for cell in damage}
    for (size, arm), shares in damage.items():
        for seed in range(1, seeds + 1):
            texts = translations(references, shares, [seed, size, len(arm)])
            model = {"context_size": size} | (changes or {})
            settings = planted_settings(arm, seed, model=model)
            write_run(folder, f"{arm}{size}s{seed}", settings, texts, references)
            made[size, arm].append(texts)
    write_bundle(Results.open(folder), folder)
    return made
