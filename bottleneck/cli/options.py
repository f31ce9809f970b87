"""Options that several commands share, the names that they take, and the settings they make."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from ..results.schema import ALL_TABLES, FIGURES, FORMATS, GOLD_TABLE, QUESTIONS
from ..settings.errors import UsageError, UserError
from ..settings.machine import DEFAULT_OUT

TABLES = (*ALL_TABLES, "claims", "runs")
OF_RUNS = {
    "claims": "Each claim of the lecture: held, partly, not held, not measured; why.",
    "runs": "All runs of a folder, finished or not.",
    "failure-pattern": "BLEU without attention by sentence length (L-FAIL).",
    "vindication": "No attention against attention by sentence length (L-VIND).",
    "context-size": "BLEU by context size and sentence length; several sizes (C1).",
    "compression": "BLEU without attention by compression ratio (C1).",
    "arms": "BLEU of every arm of a sweep by sentence length (C10, C12).",
    "bleu": "BLEU by sentence length, one line per arm (L-FAIL, L-VIND).",
    "attention": "Attention weights of an example, or of --sentence.",
    GOLD_TABLE: "Attention weights against your own gold links, --gold (C7).",
}
"""What tables and figures that belong to no question show."""
SETTINGS = {
    "corpus": "corpus.name",
    "source": "corpus.source",
    "target": "corpus.target",
    "test_source": "corpus.test_source",
    "test_target": "corpus.test_target",
    "test": "corpus.test",
    "reverse_direction": "corpus.reverse_direction",
    "context_size": "model.context_size",
    "attention": "model.attention",
    "train_length": "corpus.train_max_words",
}
"""The setting of each option that sets one, by the parameter's name."""


def check_sentence(sentence: str | None) -> str | None:
    """Refuse an empty sentence, and one in bytes that are not UTF-8, as a ``UsageError``."""
    if sentence is not None and not sentence.strip():
        raise UsageError("the sentence is empty; write it in quotes")
    if any("\ud800" <= sign <= "\udfff" for sign in sentence or ""):
        raise UsageError("the sentence is not UTF-8; write it in UTF-8")
    return sentence


Name = Annotated[str, Argument(help="Which one. Without a name, list them.")]
SweepName = Annotated[str, Argument(help="The name of a sweep in experiments/, or a TOML file.")]
Preset = Annotated[
    str,
    Option(
        help="smoke, quick, lecture, capacity, real or paper: from seconds to a night on a GPU."
    ),
]
OtherPreset = Annotated[
    str | None, Option(help="Preset of the runs to train [default: the sweep's, else lecture].")
]
Assignments = Annotated[
    list[str] | None,
    Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting. Can be repeated."),
]
ContextSize = Annotated[str | None, Option(metavar="N,..", help="Numbers in the context.")]
Attention = Annotated[str | None, Option(metavar="NAME,..", help="Attention: none, dot, additive.")]
TrainLength = Annotated[str | None, Option(metavar="N,..", help="Longest sentence trained on.")]
CorpusName = Annotated[
    str | None, Option("--corpus", help="grammar, copy, files, or real text by name (`corpus`).")
]
Source = Annotated[
    str | None, Option(help="Parallel text: the source side, or a TSV with both. May be .gz.")
]
Target = Annotated[str | None, Option(help="Parallel text: the target side.")]
TestSource = Annotated[
    str | None, Option(help="Test set, source side [default: split off from the text].")
]
TestTarget = Annotated[str | None, Option(help="Test set, target side.")]
TestSet = Annotated[
    str | None,
    Option("--test", metavar="NAME", help="Test on this corpus (real text by name)."),
]
ReverseDirection = Annotated[
    bool,
    Option(
        "--reverse-direction",
        help="Translate French to English. Lengths are then those of the French.",
    ),
]
Seeds = Annotated[
    int | None,
    Option(
        min=1,
        max=10_000,
        help="Runs of each arm, with seeds 1, 2, ... [default: the sweep's, else 1].",
    ),
]
Threads = Annotated[
    int | None, Option(min=1, max=1_024, help="Cores per run [default: cores divided by runs].")
]
Jobs = Annotated[
    int | None, Option(min=1, max=9_999, help="How many runs go at once [default: one per core].")
]
OutFolder = Annotated[
    Path | None, Option(help="Output folder [default: a folder of its own in results/runs].")
]
Results = Annotated[Path | None, Option(help="A folder of results [default: the latest].")]
OneRunOrMore = Annotated[
    Path | None,
    Option(
        "--results",
        "--run",
        help="A results folder, the folder of one run, or shipped: the pair of the package "
        "[default: the latest, else shipped].",
    ),
]
Where = Annotated[
    list[str] | None, Option(metavar="COLUMN=VALUE", help="Use only these runs. Can be repeated.")
]
Beam = Annotated[int | None, Option(min=1, help="Beam size; 1 is greedy [default: the run's].")]
Form = Annotated[Literal[*FORMATS], Option("--format", help="Output format.")]
Details = Annotated[
    bool, Option("--details", help="Print the rules, the schedule and the rest, too.")
]
DryRun = Annotated[bool, Option("--dry-run", help="Say what would be done, and do nothing.")]
Force = Annotated[bool, Option("--force", help="Do again what is done.")]
Quiet = Annotated[bool, Option("--quiet", help="Print no progress.")]


def table_lines(names: tuple[str, ...]) -> dict[str, str]:
    """Tables, figures or questions with a line of text: a question's own, or that of `OF_RUNS`."""
    from ..questions.question import find_question

    studies = {name: find_question(name) for name in QUESTIONS}
    texts = {name: f"{item.question} ({', '.join(item.ids)})" for name, item in studies.items()}
    return {name: (OF_RUNS | texts)[name] for name in names}


def results_folder(results: Path | None, name: str = "") -> Path:
    """The folder that was named, else the one written last.

    In a folder of results folders it is the one that a table or figure of this ``name`` belongs to.
    """
    from ..claims.registry import CLAIMS
    from ..results.folders import check_named, has_probe, is_bundle, latest_output, store_of

    if results is None:
        return latest_output(DEFAULT_OUT)
    check_named(results)
    homes = {claim.study: claim.home for claim in CLAIMS if claim.study}
    homes |= dict.fromkeys(("context-size", "compression"), "context_size")
    homes |= dict.fromkeys(("failure-pattern", "vindication", "bleu"), "vindication")
    inside = results / homes.get(name, "")
    alone = is_bundle(results) or store_of(results) != results
    known = is_bundle(inside) or has_probe(inside, name)
    return inside if name in homes and not alone and known else results


def trained_folder(results: Path | None) -> tuple[Path, str]:
    """The folder that was named, the latest, or that of the shipped pair; and a name for people."""
    from ..results.folders import SHIPPED, latest_output, read_experiments

    folder = results or latest_output(DEFAULT_OUT, SHIPPED)
    if folder not in (SHIPPED, Path("shipped")):
        return folder, f"{folder}{'' if results else ' (the latest)'}"
    about = ", ".join(read_experiments(SHIPPED))
    return SHIPPED, f"the shipped pair ({about}; train your own with `bottleneck reproduce`)"


def check_is_folder(folder: Path) -> None:
    """Refuse what is not a folder as a ``UserError``."""
    if not folder.is_dir():
        raise UserError(
            f"{str(folder)!r} is not a folder: name one that `bottleneck reproduce`, `bottleneck "
            "sweep` or `bottleneck study cost` wrote"
        )


def find_name(command: str, name: str) -> str:
    """The known name, with ``-`` and ``_`` alike; a ``UsageError`` if another command has it."""
    from ..settings.sweep import experiment_names

    names = {"study": QUESTIONS, "table": TABLES, "plot": FIGURES, "sweep": experiment_names()}
    for kind in (command, *names):
        spelt = {known.replace("-", "_"): known for known in names[kind]}
        if known := spelt.get(name.replace("-", "_")):
            if kind == command:
                return known
            noun = "figure" if kind == "plot" else kind
            raise UsageError(f"{known} is a {noun}: bottleneck {kind} {known}")
    return name


def given_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, by full name, of a command's parameters that were given.

    A text without the name of a corpus is ``files``. Commas make a list, but not in files' names.
    """
    from ..settings.sweep import NAMES, parse_assignments, word

    given = {SETTINGS[name]: parameters[name] for name in SETTINGS if parameters.get(name)}
    files = {"corpus.name": "files"} if "corpus.source" in given else {}
    others = [name for name in given if NAMES[name] != (str | None)]
    return files | given | parse_assignments([f"{name}={word(given[name])}" for name in others])
