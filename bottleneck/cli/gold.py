"""``bottleneck study alignment --gold``: the study put to a gold set of the user's own."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import say

if TYPE_CHECKING:
    from ..questions.question import Study
    from ..tables.page import Page

Gold = Annotated[
    Path | None,
    typer.Option(
        help="Your own gold links, one sentence per line: i-j sure, i?j possible, source first. "
        "Requires --source and --target.",
    ),
]
Source = Annotated[
    Path | None,
    typer.Option(help="Source sentences of --gold, words separated by spaces."),
]
Target = Annotated[Path | None, typer.Option(help="Their translations, one per line.")]
FirstWord = Annotated[
    int,
    typer.Option(
        min=0,
        max=1,
        help="Index of the first word of a sentence in --gold.",
    ),
]


def check_gold_options(
    name: str, gold: Path | None, source: Path | None, target: Path | None
) -> None:
    """Refuse what does not go together, as a ``UsageError``."""
    from ..settings.errors import UsageError

    given = {"--gold": gold, "--source": source, "--target": target}
    missing = [option for option, path in given.items() if path is None]
    if len(missing) == len(given):
        return
    if name != "alignment":
        raise UsageError(
            f"--gold, --source and --target are for study alignment, not {name}; leave them out"
        )
    if missing:
        raise UsageError(f"{' and '.join(missing)} missing: --gold, --source, --target go together")


def for_gold(asked: "Study") -> "Study":
    """The study, put to every run whose weights can be read, on whatever text it was trained."""
    from dataclasses import replace

    from ..questions.alignment import attends

    return replace(asked, suits=attends)


def study_gold(
    runs: Sequence[Path], folder: Path, files: tuple[Path, Path, Path], first: int, quiet: bool
) -> "Page":
    """Measure the runs on the gold set, write the table, and give its page."""
    from ..questions.alignment_gold import QUESTION, probe_gold, read_gold
    from ..questions.probing import write_table
    from ..questions.question import Probed
    from ..questions.subject import open_subject
    from ..runs.environment import use_cache
    from ..settings.files import check_writable
    from ..tables.pages import study_pages

    def tell(words: str) -> None:
        if not quiet:
            say(f"{subject.folder.name}: {words}", err=True)

    sentences = read_gold(*files, first)
    check_writable(folder, "--results")
    use_cache()
    probed = []
    for run in runs:
        subject = open_subject(run)
        probed.append(Probed(run, subject.settings, probe_gold(subject, sentences, tell)))
    write_table(QUESTION, probed, folder)
    return study_pages(QUESTION.name, folder)[0]
