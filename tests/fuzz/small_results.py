"""Results of two arms, short enough that reading them takes milliseconds, and all that reads them.

The studies' tables are committed ones; the weights are those that a run begins with.
"""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
from listed import relist, write_relisted
from planted import planted_settings, sentences, write_planted, write_run
from planted_logs import write_log

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.corpus.vocabulary import build_vocabulary
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.results.bundle import Bundle, load_bundle, load_results, tidy_csv
from seq2seq_bottleneck.results.found import find_runs
from seq2seq_bottleneck.results.outputs import read_texts
from seq2seq_bottleneck.results.study_files import rests_on
from seq2seq_bottleneck.runs.gathered import gather
from seq2seq_bottleneck.runs.stored import arms
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.runs.vocabularies import save_vocabularies
from seq2seq_bottleneck.runs.weights import save_weights
from seq2seq_bottleneck.tables.decided import decision
from seq2seq_bottleneck.tables.names import TABLES
from seq2seq_bottleneck.tables.pages import make_page, render, study_pages

COMMITTED = Path(__file__).parents[2] / "results" / "reference" / "vindication" / "probes"
STUDIED = sorted(path.stem for path in COMMITTED.glob("*.csv"))
TINY = {"context_size": 2, "embedding_size": 2, "hidden_size": 2, "layers": 1}
TRANSLATOR = "translator"
"""The run that has a network's files."""
OF_TRANSLATOR = ("weights.safetensors", "source.vocabulary", "target.vocabulary")


def write_small(folder: Path) -> None:
    """A store of two finished runs and its bundle; the one is a `TRANSLATOR` beside them."""
    write_planted(folder, {"none": [0.5] * 5, "additive": [0.1] * 5}, 1, keep=frozenset({7, 15}))
    for number, name in enumerate(("additive1x1", "none1x1")):
        run = folder / "runs" / name
        write_log(run, number)
        texts = [json.dumps(dict.fromkeys(("source", "reference", "hypothesis"), text))
                 for text in sentences()[:4]]  # fmt: skip
        write_relisted(run / "hypotheses.jsonl", "".join(f"{text}\n" for text in texts))
    gather(folder, {"none1x1": "a", "additive1x1": "a"})
    for study in STUDIED:
        write_relisted(folder / "probes" / f"{study}.csv", "".join(_few_rows(study)))


def _few_rows(study: str) -> Iterator[str]:
    """Of a committed table the first line, and of two buckets the means and the first seed."""
    head, *lines = (COMMITTED / f"{study}.csv").read_text().splitlines(keepends=True)
    names = head.rstrip().split(",")
    seed, bucket = names.index("seed"), names.index("bucket")
    yield head
    for cells, line in zip(csv.reader(lines), lines, strict=True):
        if cells[seed] in ("", "1") and cells[bucket] in ("", "5-10", "31-40"):
            yield line


def write_translator(folder: Path) -> Path:
    """A finished run whose network is as small as one can be, in a store of its own."""
    settings = planted_settings("additive", model=TINY)
    run = write_run(folder, TRANSLATOR, settings, ["w1"], ["w1"])
    words = build_vocabulary([["w1", "w2"]], 9)
    _, weights = create(settings.model, len(words), len(words), 1)
    save_vocabularies(run, (words, words))
    save_weights(run / OF_TRANSLATOR[0], weights)
    relist(*(run / name for name in OF_TRANSLATOR))
    return run


def translator(folder: Path) -> str:
    """What a run's network is: its words, and every weight."""
    held = load_run(folder / "runs" / TRANSLATOR)
    weights = [leaf.tolist() for leaf in jax.tree.leaves(held.weights)]
    return repr([held.source_vocabulary.to_bytes(), held.target_vocabulary.to_bytes(), weights])


def _page(folder: Path, table: str) -> str:
    return render(make_page(table, load_bundle(folder)), "markdown")


def _of_bundle(read: Callable[[Bundle], object]) -> Callable[[Path], str]:
    return lambda folder: repr(read(load_bundle(folder)))


def _texts(folder: Path) -> str:
    return repr([read_texts(run) for run in find_runs(folder).done])


def _study(folder: Path, study: str) -> str:
    rests = sorted(rests_on(folder / "probes" / f"{study}.csv"))
    return repr(rests) + render(study_pages(study, folder)[0], "markdown")


def _verdicts(folder: Path, study: str) -> str:
    asked = (claim for claim in CLAIMS if claim.study == study)
    return repr([decision(claim, folder, None).verdict for claim in asked])


def readers(name: str, table: str = TABLES[0]) -> Iterator[Callable[[Path], str]]:
    """All that reads results without a network: of a study's table that alone."""
    if name.startswith("probes/"):
        yield lambda folder: _study(folder, Path(name).stem)
        yield lambda folder: _verdicts(folder, Path(name).stem)
        return
    yield lambda folder: str({arm: run.name for arm, run in arms(folder).items()})
    yield lambda folder: tidy_csv(load_results(folder))
    yield _of_bundle(lambda bundle: tidy_csv(bundle.learning()))
    yield _of_bundle(lambda bundle: bundle.examples())
    yield _of_bundle(lambda bundle: tidy_csv(bundle.unfinished()))
    yield _texts
    yield lambda folder: _page(folder, table)
