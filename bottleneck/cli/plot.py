"""``bottleneck plot``: a figure for a slide, with its numbers beside it.

jax is needed for a sentence of the user's alone, which has to be translated.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_names, say
from .listing import figure_lines, figures
from .options import check_sentence
from .results import Results, Where, results_folder

if TYPE_CHECKING:
    from ..figures.heatmaps import Chart

OF_SENTENCES = "attention"


def plot(
    name: Annotated[
        str,
        typer.Argument(help="Which figure. Without a name, list them.", autocompletion=figures),
    ] = "",
    results: Results = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Output file: .png, .svg or .pdf [default: NAME.png]."),
    ] = None,
    where: Where = None,
    sentence: Annotated[
        str | None, typer.Option(help="For attention: your own sentence, in quotes.")
    ] = None,
    beam: Annotated[
        int | None,
        typer.Option(min=1, help="Beam size for --sentence; 1 is greedy [default: the run's]."),
    ] = None,
) -> None:
    """Draw a figure of finished runs, and write its numbers as CSV."""
    if not name:
        print_names(figure_lines())
        return
    from ..figures.files import NUMBERS, check_ending, check_numbers, write_figure
    from ..figures.registry import check_name, make_figure
    from ..results.export import check_output

    path = out or Path(f"{name}.png")
    check_name(name, where or [])
    _check_sentence(name, sentence, beam)
    check_ending(path)
    check_output(path)
    check_output(path.with_suffix(NUMBERS))
    check_numbers(path)
    folder = results_folder(results)
    if sentence is not None:
        figure, data = _of_sentence(sentence, beam, folder, where or [])
    else:
        figure, data = make_figure(name, folder, where=where or [])
    numbers = write_figure(figure, data, path)
    say(f"{path}: its numbers are in {numbers}")


def _check_sentence(name: str, sentence: str | None, beam: int | None) -> None:
    """Refuse what does not go together."""
    from ..settings.errors import UsageError

    if sentence is None:
        if beam is not None:
            raise UsageError('--beam is for a sentence of your own: --sentence "..."')
        return
    if name != OF_SENTENCES:
        raise UsageError(f"--sentence is for figure {OF_SENTENCES}, not {name}: leave it out")
    check_sentence(sentence)


def _of_sentence(sentence: str, beam: int | None, folder: Path, where: Sequence[str]) -> "Chart":
    """The weights behind each word that the first run with attention makes of the sentence."""
    from dataclasses import replace

    from ..figures.heatmaps import attending_run, weights_chart
    from ..results.bundle import load_bundle
    from ..results.folders import store_of
    from ..runs.environment import use_cache
    from ..runs.translate import attended, load_run
    from ..settings.errors import UserError
    from ..tables.selection import where as narrowed

    bundle = narrowed(load_bundle(folder), where)
    run = attending_run(bundle)
    network = store_of(folder) / run
    if not network.is_dir():
        raise UserError(
            f"{str(folder)!r} has the numbers of run {run} and not its network: name with "
            "--results the store that it was exported from"
        )
    use_cache()
    trained = load_run(network)
    if beam is not None:
        decoding = {"beam_size": beam}
        trained = replace(trained, settings=trained.settings.changed(decoding=decoding))
    (translation,) = trained.translations([sentence], 1, attended=True)
    found = attended(trained, translation)
    example = {"sentence": sentence, "source": found.source, "hypothesis": found.output,
               "weights": found.weights}  # fmt: skip
    size = trained.settings.decoding.beam_size
    notes = [f"Translated {f'with a beam of {size}' if size > 1 else 'greedily'}."]
    if unknown := trained.unknown(sentence):
        notes.append(f"Not in its vocabulary: {', '.join(unknown)}.")
    return weights_chart(bundle, run, [example], notes)
