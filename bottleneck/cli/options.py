"""Options that several commands share, the names they accept, and the settings they set."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ..results.schema import ALL_TABLES, BENCHMARK, ENDINGS, FIGURES, GOLD, QUESTIONS
from ..settings.errors import UsageError, UserError
from ..settings.machine import DEFAULT_OUT

if TYPE_CHECKING:
    from ..results import bundle

TABLES = (*ALL_TABLES, "claims", "runs")

Preset = Annotated[str, Option(help="smoke, quick, lecture, capacity, real or paper.")]
Assignments = Annotated[
    list[str] | None, Option("--set", metavar="SECTION.KEY=VALUE", help="A setting. Repeatable.")
]
ContextSize = Annotated[str | None, Option(metavar="N,..", help="Numbers in the context.")]
Attention = Annotated[str | None, Option(metavar="NAME,..", help="Attention: none, dot, additive.")]
TrainLength = Annotated[str | None, Option(metavar="N,..", help="Longest training sentence.")]
CorpusName = Annotated[str | None, Option("--corpus", help="Its name; see `bottleneck corpus`.")]
Source = Annotated[str | None, Option(help="Text: source side, or a TSV with both. May be .gz.")]
Target = Annotated[str | None, Option(help="Text: target side.")]
TestSource = Annotated[str | None, Option(help="Test set: source side [default: split off].")]
TestTarget = Annotated[str | None, Option(help="Test set: target side.")]
TestSet = Annotated[str | None, Option("--test", help="Test on other real text, by name.")]
Reverse = Annotated[bool, Option("--reverse-direction", help="French to English; only real text.")]
Seeds = Annotated[int | None, Option(min=1, max=10_000, help="Runs per arm [default: 1].")]
Threads = Annotated[int | None, Option(min=1, help="Cores per run [default: cores / runs].")]
OutFolder = Annotated[Path | None, Option(help="Output folder [default: one in results/runs].")]
OutFile = Annotated[Path | None, Option("-o", "--out", help="Write to this file.")]
Results = Annotated[Path | None, Option(help="A folder of results [default: the latest].")]
TrainedRuns = Annotated[
    Path | None, Option("--results", help="A folder, or shipped [default: latest, else shipped].")
]
Where = Annotated[
    list[str] | None, Option(metavar="COLUMN=VALUE", help="Use only these runs. Repeatable.")
]
Beam = Annotated[int | None, Option(min=1, help="Beam size; 1 is greedy [default: the run's].")]
Form = Annotated[Literal["rich", *ENDINGS.values()], Option("--format", help="Output format.")]
Details = Annotated[bool, Option("--details", help="Print the rules and the whole caption, too.")]
Quiet = Annotated[bool, Option("--quiet", help="Print no progress.")]


def refuse(given: Mapping[str, Any], reason: str) -> None:
    """Raise a ``UsageError`` if one of these options was given."""
    if names := [name for name, value in given.items() if value]:
        raise UsageError(f"{' and '.join(names)}: {reason}")


def check_sentence(sentence: str | None) -> str | None:
    """Raise a ``UsageError`` for a sentence that is empty or not UTF-8."""
    broken = any("\ud800" <= sign <= "\udfff" for sign in sentence or "")
    if broken or (sentence is not None and not sentence.strip()):
        raise UsageError("the sentence is empty or not UTF-8")
    return sentence


def table_lines(names: tuple[str, ...]) -> dict[str, str]:
    """A line of text for each table, figure or question, by name."""
    from ..questions.question import find_question

    texts = {name: find_question(name).question for name in QUESTIONS} | {
        "claims": "The verdict on each claim of the lecture, and the reason.",
        "runs": "All runs of a folder, finished or not.",
        "failure-pattern": "BLEU without attention by sentence length (L-FAIL).",
        "vindication": "No attention against attention by sentence length (L-VIND).",
        "context-size": "BLEU by context size and sentence length; needs several sizes (C1).",
        "compression": "BLEU without attention by compression ratio (C1).",
        "arms": "BLEU of every arm of a sweep by sentence length (C10, C12).",
        "bleu": "BLEU by sentence length, one line per arm (L-FAIL, L-VIND).",
        "learning": "BLEU by number of updates; needs several schedules (C12).",
        "attention": "Attention weights of an example, or of --sentence.",
        GOLD: "Attention weights against your own gold links, --gold (C7).",
    }
    return {name: texts[name] for name in names}


def results_folder(results: Path | None, name: str = "") -> Path:
    """The folder with this table: ``results`` or one inside it; if it is None, the latest."""
    from ..claims.registry import CLAIMS
    from ..results.folders import STORE, check_named, is_bundle, latest_output, probe_file

    if results is None:
        return DEFAULT_OUT / "bench" if name == BENCHMARK else latest_output(DEFAULT_OUT)
    check_named(results)
    if not results.exists():
        raise UserError(f"no folder {str(results)!r}: name one that `bottleneck reproduce` wrote")
    homes = {claim.study: claim.home for claim in CLAIMS if claim.study}
    homes |= dict.fromkeys(("context-size", "compression"), "context_size")
    homes |= dict.fromkeys(("failure-pattern", "vindication", "bleu", "attention"), "vindication")
    homes |= {"": "vindication", "arms": "controls", "learning": "learning_curve"}
    inside = results / homes.get(name, "")
    alone = is_bundle(results) or (results / STORE).is_dir()
    known = is_bundle(inside) or probe_file(inside, name)
    return inside if name in homes and not alone and known else results


def open_runs(
    folder: Path, where: Sequence[str] | None, sentences: bool = True
) -> "bundle.Results":
    """The results of a folder, only with the runs that meet the conditions."""
    from ..results import bundle
    from ..tables import comparison

    return comparison.where(bundle.Results.open(folder, sentences), where or [])


def find_name(command: str, name: str) -> str:
    """The known name (``-`` and ``_`` are the same); ``UsageError`` if another command has it."""
    from ..settings.run import toml_names

    names = {"study": QUESTIONS, "table": TABLES, "plot": FIGURES, "sweep": toml_names()}
    for kind in (command, *names):
        spelt = {known.replace("-", "_"): known for known in names[kind]}
        if known := spelt.get(name.replace("-", "_")):
            if kind == command:
                return known
            noun = "figure" if kind == "plot" else kind
            raise UsageError(f"{known} is a {noun}: bottleneck {kind} {known}")
    return name


def given_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, by full name, that a command's options set.

    Text without a corpus name is corpus ``files``. Commas make a list, except in file names.
    """
    from ..settings.run import NAMES, parse_assignments
    from ..settings.sweep import word

    text = ("source", "target", "test_source", "test_target", "test", "reverse_direction")
    setting = {name: f"corpus.{name}" for name in text} | {
        "corpus": "corpus.name",
        "context_size": "model.context_size",
        "attention": "model.attention",
        "train_length": "corpus.train_max_words",
    }
    given = {setting[name]: parameters[name] for name in setting if parameters.get(name)}
    files = {"corpus.name": "files"} if "corpus.source" in given else {}
    others = [name for name in given if NAMES[name] != (str | None)]
    return files | given | parse_assignments([f"{name}={word(given[name])}" for name in others])
