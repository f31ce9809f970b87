"""Commands that read results: ``table``, ``plot``, ``export``; and ``score``, of any system.

None loads jax, except ``plot`` for a sentence of the user's own, which has to be translated.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..results.schema import BENCHMARK, ENDINGS, FIGURES, RUNS
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import check_output, check_place, write_text
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import output, print_names, say, show
from .runs import print_runs
from .study import refuse
from .translate import load_arms, notes_on

if TYPE_CHECKING:
    from ..figures.registry import Chart
    from ..results.bundle import Results

REFERENCES = (
    "Reference translations, one per line, for a file. Several: repeat it, or put tabs between."
)


def _relative(folder: Path) -> Path:
    """A folder by its path from the working one, if it is inside that: so files may name it."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _say_omitted(bundle: "Results") -> None:
    """A line for what the store has and the tidy table has not: other versions, unfinished runs."""
    for line in bundle.left_out():
        say(line, err=True)


def table(
    name: Annotated[str, Argument(help="Which one [default: the one that shows all arms].")] = "",
    results: options.Results = None,
    form: options.Form = "rich",
    where: options.Where = None,
    details: options.Details = False,
    like_slide: Annotated[
        bool, Option("--like-slide", help="For the slides' tables: their columns and words.")
    ] = False,
    out: Annotated[
        Path | None,
        Option("-o", "--out", help=f"Write to this file: {', '.join(ENDINGS)}."),
    ] = None,
) -> None:
    """Print a table of finished runs and its verdicts.

    `table claims` decides each claim of the lecture; `table runs` lists all runs of a folder.
    Without a name and without results, list the tables.
    """
    from ..results.folders import latest_output

    if like_slide and not name:
        raise UsageError("--like-slide: say which table, as in `bottleneck table vindication`")
    none = results is None and latest_output(DEFAULT_OUT, DEFAULT_OUT) == DEFAULT_OUT
    if not name and none and out is None:
        print_names(options.table_lines(options.TABLES))
        return
    from ..results.bundle import Results
    from ..tables.pages import check_name, fitting_pages, make_page, study_page
    from ..tables.render import print_prose
    from ..tables.selection import where as select

    name = name and options.find_name("table", name)
    if out is not None:
        check_output(out)
        if (ending := out.suffix.lower()) not in ENDINGS:
            raise UsageError(f"{str(out)!r}: the name of a table ends in {', '.join(ENDINGS)}")
        form = ENDINGS[ending]
    if name in ("claims", "runs") and like_slide:
        raise UsageError(f"--like-slide is for the slides' tables, not {name}")
    if name == "claims":
        _print_claims(options.results_folder(results), where or [], form, out)
        return
    if name == "runs":
        if where or out or form != "rich":
            raise UsageError("table runs prints a plain list: leave out --where, --format and -o")
        print_runs(options.results_folder(results))
        return
    if name:
        check_name(name, like_slide)
    if name == BENCHMARK:
        refuse({"--where": where})
        folder = options.results_folder(results, name) if results else DEFAULT_OUT / "bench"
        show(study_page(name, folder), form, details, out)
        return
    bundle = select(Results.open(options.results_folder(results, name)), where or [])
    pages = [make_page(name, bundle, like_slide)] if name else fitting_pages(bundle)
    for page in pages if form == "rich" else pages[-1:]:
        show(page, form, details, out)
    if not name and form == "rich":
        line = f"Results: {bundle.folder}. All tables: {', '.join(options.TABLES)}."
        print_prose(output(), line, "dim")


def _print_claims(folder: Path, where: Sequence[str], form: str, out: Path | None) -> None:
    """Decide the lecture's claims, or say what would decide them."""
    from ..results.bundle import Results
    from ..tables.claims import claims_page, decide_results

    options.check_is_folder(folder)
    bundle = Results.find(folder)
    decisions = decide_results(folder, where, bundle)
    show(claims_page(decisions), form, out=out)
    if bundle is not None:
        _say_omitted(bundle)
    elif not any(decision.measured for decision in decisions):
        say(
            f"{str(folder)!r} holds no results; `bottleneck reproduce --out {quote(str(folder))}` "
            "makes some",
            err=True,
        )


def plot(
    name: options.Name = "",
    results: options.Results = None,
    out: Annotated[
        Path | None,
        Option("-o", "--out", help="Output file: .png, .svg or .pdf [default: NAME.png]."),
    ] = None,
    where: options.Where = None,
    sentence: Annotated[
        str | None,
        Option(
            help="For attention: your own sentence, by the latest runs, else by the shipped pair.",
            callback=options.check_sentence,
        ),
    ] = None,
    beam: options.Beam = None,
) -> None:
    """Draw a figure of finished runs, and write its numbers as CSV."""
    if not name:
        print_names(options.table_lines(FIGURES))
        return
    from ..figures.registry import NUMBERS, check_name, make_figure, write_figure

    name = options.find_name("plot", name)
    path = out or Path(f"{name}.png")
    if sentence is None and beam is not None:
        raise UsageError('--beam is for a sentence of your own: --sentence "..."')
    if sentence is not None and name != "attention":
        raise UsageError(f"--sentence is for figure attention, not {name}")
    for file in (path, path.with_suffix(NUMBERS)):
        check_output(file)
    check_name(name, where or [], path)
    if sentence is not None:
        figure, data = _plot_sentence(sentence, beam, results, where or [])
    else:
        figure, data = make_figure(name, options.results_folder(results, name), where=where or [])
    say(f"{path}: its numbers are in {write_figure(figure, data, path)}")


def _plot_sentence(
    sentence: str, beam: int | None, results: Path | None, where: Sequence[str]
) -> "Chart":
    """The weights behind each word that the first run with attention makes of the sentence."""
    from ..figures.registry import attending_runs, weights_chart
    from ..results.bundle import Results
    from ..results.folders import store_of
    from ..runs.translate import attended
    from ..tables.selection import where as select

    folder, place = options.trained_folder(results)
    bundle = select(Results.open(folder, sentences=False), where)
    run = attending_runs(bundle)[0]
    network = store_of(folder) / run
    if not network.is_dir():
        raise UserError(f"{str(folder)!r} lacks the network of run {run}: name its store")
    trained = load_arms({run: network}, beam)[run]
    (translation,) = trained.translations([sentence], 1, attended=True)
    matrix = attended(trained, translation)
    example = {"sentence": sentence, "source": matrix.source, "hypothesis": matrix.output,
               "weights": matrix.weights}  # fmt: skip
    size = trained.settings.decoding.beam_size
    notes = [f"Translated {f'with a beam of {size}' if size > 1 else 'greedily'}."]
    if unknown := trained.unknown(sentence):
        notes.append(f"Not in its vocabulary: {', '.join(unknown)}.")
    for line in notes_on(place, {trained.settings.model.attention: network}):
        say(line, err=True)
    return weights_chart(bundle, run, [example], notes)


def export(
    results: Annotated[
        list[Path] | None,
        Option(help="A folder of results [default: the latest]. Repeated: merge them (--bundle)."),
    ] = None,
    where: options.Where = None,
    bundle: Annotated[
        Path | None, Option(help="Write all results as a bundle into this folder.")
    ] = None,
    without_text: Annotated[
        bool, Option("--without-text", help="Leave every sentence of the corpus out of the bundle.")
    ] = False,
    out: Annotated[
        Path | None,
        Option("-o", "--out", help="Write the CSV to this file, or all as a page to a .html."),
    ] = None,
    everything: Annotated[
        bool,
        Option(
            "--all",
            help="Write every table and figure, the claims and the page next to the results.",
        ),
    ] = False,
) -> None:
    """Take results away as CSV, a page, a bundle, tables or figures.

    It prints the tidy CSV; on a terminal its first rows.
    """
    from ..results.bundle import Results, tidy_csv
    from ..tables.selection import where as select

    given = {"--all": everything, "--bundle": bundle, "-o": out}
    if len(several := [name for name, value in given.items() if value]) > 1:
        raise UsageError(f"{' and '.join(several)}: give only one of them")
    page = out is not None and out.suffix.lower() in (".html", ".htm")
    if where and (everything or page):
        raise UsageError("--where is for the CSV and a bundle; a page and --all have all results")
    if without_text and bundle is None:
        raise UsageError("--without-text is for a bundle: give --bundle FOLDER")
    if out is not None:
        check_output(out)
        if out.suffix.lower() not in (".csv", ".html", ".htm"):
            raise UsageError(f"{str(out)!r}: the name ends in .csv, or in .html for a page")
    if bundle is not None:
        check_place(bundle)
    folder, *others = results or [options.results_folder(None)]
    if others:
        if bundle is None or where or without_text:
            raise UsageError("to merge several --results, give --bundle FOLDER and no --where")
        _write_merged([folder, *others], bundle)
        return
    options.results_folder(folder)
    if everything:
        _write_all(_relative(folder))
        return
    if page:
        from ..report.page import write_report

        size = write_report(_relative(folder), out)
        say(f"{out}: {size / 1e6:.2f} MB")
        return
    selected = select(Results.open(folder, sentences=False), where or [])
    if bundle is not None:
        _write_bundle(folder, set(selected.runs["run"]), bundle, not without_text)
    elif out is not None:
        write_text(out, tidy_csv(selected.runs))
        say(f"Written to {out}: {counted(len(selected.runs), 'row')}", err=True)
    elif sys.stdout.isatty():
        rows, columns = selected.runs.shape
        say(selected.runs.iloc[:10, :8].round(2).to_string(index=False, na_rep=""))
        place = folder / RUNS if (folder / RUNS).is_file() else "`bottleneck export -o FILE`"
        say(f"... All {counted(rows, 'row')} and {columns} columns: {place}")
    else:
        say(tidy_csv(selected.runs), nl=False)
    _say_omitted(selected)


def _write_all(folder: Path) -> None:
    """Write the tables and figures of a folder and of those inside it, then claims and page."""
    from ..report.page import CLAIMS, CONTENTS, REPORT, write_end, write_out
    from ..results.bundle import holds_results
    from ..results.folders import STORE, find_runs, results_inside, tables
    from ..runs.sweep import gather

    check_place(folder)
    if find_runs(folder).any and not (folder / STORE).is_dir():
        raise UsageError(f"{str(folder)!r} is a store of runs: name the folder that it is in")
    places = [folder] if holds_results(folder) or tables(folder) else []
    for place in (*places, *results_inside(folder)):
        gather(place, {})
        made, figures, missing = write_out(place)
        parts = [counted(len(made), "table"), counted(len(figures), "figure")]
        parts += [f"{len(missing)} left out"] if missing else []
        say(f"{place}: {', '.join(parts)} ({CONTENTS})")
    summary, size = write_end(folder)
    say(f"{folder}: {CLAIMS}.md, {CLAIMS}.csv; {REPORT}, {size / 1e6:.2f} MB; {summary}")


def _write_bundle(folder: Path, names: set[str], bundle: Path, text: bool) -> None:
    """Write the finished runs of these names as a bundle, with the corpus's text or without it."""
    from ..results.export import write_bundle
    from ..results.folders import finished_runs

    runs = [run for run in finished_runs(folder) if run.name in names]
    if not runs:
        raise UserError(f"{str(folder)!r} holds no finished run: name the folder of a store")
    lacking = write_bundle(runs, bundle, text)
    say(f"Written to {bundle}: {counted(len(runs), 'run')}", err=True)
    if lacking:
        lost = ", ".join(lacking)
        say(f"Not in it, for they rest on runs that are left out: {lost} (`study` again)", err=True)


def _write_merged(folders: Sequence[Path], out: Path) -> None:
    """Write the runs of several folders, of several machines or people, as one bundle."""
    from ..results.export import write_merged
    from ..results.folders import check_named, tables

    for folder in folders:
        check_named(folder)
    runs, again, differing = write_merged(folders, out)
    say(f"Written to {out}: {counted(runs, 'run')}")
    if again:
        say(f"In several folders, kept as the first has it: {counted(len(again), 'run')}", err=True)
    if differing:
        names = ", ".join(differing)
        say(f"With other scores in a later folder, so that order decides: {names}", err=True)
    if any(tables(folder) for folder in folders):
        say("Not in it: what studies measured, which has means over the runs of a folder", err=True)


def score(
    systems: Annotated[
        list[Path],
        Argument(
            metavar="SYSTEM",
            help="One or two: detokenised text, a line per sentence (or .gz); or a run's folder.",
        ),
    ],
    references: Annotated[list[Path] | None, Option(help=REFERENCES)] = None,
    sources: Annotated[
        Path | None, Option(help="Source sentences, one per line, for a file.")
    ] = None,
    edges: Annotated[
        str, Option(help="Lower edges of the length buckets, in source words.")
    ] = "5,11,21,31,41",
    tokenize: Annotated[
        str | None, Option(help="SacreBLEU's tokenizer [default: that of the runs, else 13a].")
    ] = None,
    resamples: Annotated[
        int, Option(min=1, max=10_000_000, help="Number of bootstrap resamples.")
    ] = 1000,
    trials: Annotated[
        int, Option(min=1, max=10_000_000, help="Trials of approximate randomisation.")
    ] = 10_000,
    seed: Annotated[int, Option(min=0, max=2**63 - 1, help="Seed for resampling.")] = 1,
    form: options.Form = "rich",
) -> None:
    """Print BLEU by length of any system, or compare two.

    The difference is that of the second minus the first, with paired tests.
    """
    from ..results.folders import is_run, read_settings
    from ..settings.run import parse_settings
    from ..tables.score import read_systems, score_page, text_warnings

    if len(systems) > 2:
        raise UsageError(f"score takes one system or two, not {len(systems)}")
    if tokenize is None:
        names = {read_settings(path).scoring.tokenize for path in systems if is_run(path)}
        tokenize = names.pop() if len(names) == 1 else "13a"
    values = {"edges": edges, "resamples": resamples, "seed": seed, "tokenize": tokenize}
    scoring = parse_settings({"scoring": values}).scoring
    if (references or sources) and all(map(is_run, systems)):
        raise UsageError("--references and --sources are for files: a run has its own")
    named = dict(zip(("system A", "system B"), systems, strict=False))
    outputs = read_systems(named, references or [], sources)
    page = score_page(outputs, scoring, trials)
    for line in text_warnings(outputs, tokenize):
        say(line, err=True)
    show(page, form)
