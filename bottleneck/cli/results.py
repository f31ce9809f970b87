"""``table``, ``plot``, ``export`` and ``study`` of finished runs; ``score`` of any system.

Only ``study`` and ``plot --sentence`` load jax: they measure and translate.
"""

import sys
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..results.schema import BENCHMARK, ENDINGS, FIGURES, GOLD, QUESTIONS
from ..settings.errors import UsageError, UserError, counted
from ..settings.files import check_file, check_place, write_file
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import output, print_names, say, show
from .translate import print_notes, trained_runs


def table(
    name: Annotated[str, Argument(help="Which one [default: the one that shows all arms].")] = "",
    results: options.Results = None,
    form: options.Form = "rich",
    where: options.Where = None,
    details: options.Details = False,
    like_slide: Annotated[bool, Option("--like-slide", help="With the slide's columns.")] = False,
    out: options.OutFile = None,
) -> None:
    """Print a table of finished runs and its verdicts.

    `table claims` decides each claim of the lecture; `table runs` lists all runs of a folder.
    Without a name and without results, list the tables.
    """
    from ..results.folders import latest_output

    if not name and results is None and latest_output(DEFAULT_OUT, DEFAULT_OUT) == DEFAULT_OUT:
        say(f"There are no results in {DEFAULT_OUT} yet. The tables are:", err=True)
        print_names(options.table_lines(options.TABLES))
        return
    from ..tables.claims import claims_page, decide_all
    from ..tables.pages import check_name, default_pages, make_page, study_page
    from ..tables.render import print_prose

    name = name and options.find_name("table", name)
    if out is not None:
        check_file(out)
        if (ending := out.suffix.lower()) not in ENDINGS:
            raise UsageError(f"{str(out)!r}: the name of a table ends in {', '.join(ENDINGS)}")
        form = ENDINGS[ending]
    if name in ("", "claims", "runs"):
        options.refuse({"--like-slide": like_slide}, "name a table of a slide, such as vindication")
    else:
        check_name(name, like_slide)
    folder = options.results_folder(results, name)
    if name == "runs":
        options.refuse({"--where": where, "-o": out}, "table runs prints a plain list")
        _print_runs(folder)
        return
    if name == "claims":
        decisions = decide_all(folder, where or [])
        pages = [claims_page(decisions)]
        for line in pages[0].caption[1:] if form == "csv" else ():  # which runs are left out
            say(line, err=True)
    elif name == BENCHMARK:
        options.refuse({"--where": where}, f"table {BENCHMARK} uses no trained runs")
        pages = [study_page(name, folder)]
    else:
        bundle = options.open_runs(folder, where)
        pages = [make_page(name, bundle, like_slide)] if name else default_pages(bundle)
    for page in pages if form == "rich" else pages[-1:]:
        show(page, form, details, out)
    if form == "rich" and (not name or folder != results):
        others = "" if name else f" All tables: {', '.join(options.TABLES)}."
        print_prose(output(), f"Results: {folder}.{others}", "dim")


def _print_runs(folder: Path) -> None:
    from ..results import folders
    from ..runs.store import status_of

    runs = folders.runs_in(folder)
    if not runs:
        folders.check_one(folder)
        raise UserError(f"{str(folder)!r} has no run folders: it is a bundle or has no results")
    names = {
        run: f"{experiment or 'replaced'}: {arm}"
        for experiment, members in folders.read_experiments(runs[0].parent).items()
        for run, (arm, _) in members.items()
    }
    width = max(len(run.name) for run in runs)
    lines = {f"{'run':<{width}}  status": "arm"}
    for run in runs:
        status = status_of(run)
        try:
            settings = folders.read_settings(run)
            model, seed = settings.model, settings.training.seed
            other = f"{model.attention} context_size={model.context_size}"
            text = f"{names.get(run.name, other)} seed {seed}"
        except UserError:  # a file that is missing, damaged or of another version
            text = "(settings not known)"
        reason = "" if status == "damaged" else folders.read_status(run).get("reason", "")
        last = "".join(f": {line}" for line in reason.splitlines()[-1:])  # of a traceback
        lines[f"{run.name:<{width}}  {status}"] = f"{text}{last}"
    print_names(lines)
    say(f"Their files: {runs[0].parent}")


def plot(
    name: Annotated[str, Argument(help="Which one. Without a name, list them.")] = "",
    results: options.Results = None,
    out: options.OutFile = None,
    where: options.Where = None,
    sentence: Annotated[str | None, Option(help="For attention: your own sentence.")] = None,
    beam: options.Beam = None,
) -> None:
    """Draw a figure of finished runs, and write its numbers as CSV."""
    if not name:
        print_names(options.table_lines(FIGURES))
        return
    from ..figures.registry import check_name, make_figure, weights_chart, write_figure
    from ..lecture.slides import SLIDES
    from ..results.bundle import Results
    from ..results.folders import latest_output

    name = options.find_name("plot", name)
    path = out or Path(f"{name}.png")
    for file in (path, path.with_suffix(".csv")):
        check_file(file)
    check_name(name, where or [], path)
    untrained = results is None and latest_output(DEFAULT_OUT, DEFAULT_OUT) == DEFAULT_OUT
    if name == "attention" and untrained:  # use the shipped pair, which has no examples
        sentence = sentence or SLIDES["L16"]["english"].lower()
    if options.check_sentence(sentence) is None:
        options.refuse({"--beam": beam}, 'needs your own sentence, --sentence "..."')
        figure, data = make_figure(name, options.results_folder(results, name), where=where or [])
    elif name != "attention":
        raise UsageError(f"--sentence is for figure attention, not {name}")
    else:
        options.refuse({"--where": where}, "not with --sentence: name a run's folder by --results")
        from ..runs.translate import load_run

        arms, place = trained_runs(results)
        arm = next((arm for arm in arms if arm != "none"), None)
        if arm is None:
            raise UserError(f"no run with attention in {place}: `bottleneck reproduce` makes one")
        run = arms[arm]
        (item,) = load_run(run, beam).translations([sentence], 1, attended=True)
        example = {"sentence": sentence, "source": item.source}
        example |= {"hypothesis": item.output, "weights": item.weights}
        print_notes(place, {arm: run})
        figure, data = weights_chart(Results.open(run, sentences=False), run.name, [example])
    say(f"{path}: its numbers are in {write_figure(figure, data, path)}")


def export(
    results: Annotated[
        list[Path] | None, Option(help="Folders [default: the latest]. Several: merge (--bundle).")
    ] = None,
    where: options.Where = None,
    bundle: Annotated[Path | None, Option(help="Write a bundle into this folder.")] = None,
    without_text: Annotated[bool, Option("--without-text", help="Leave out sentences.")] = False,
    out: options.OutFile = None,
    everything: Annotated[bool, Option("--all", help="All tables, figures, and the page.")] = False,
) -> None:
    """Export results as CSV, a page, a bundle, tables or figures.

    The default is to print the tidy CSV (on a terminal, its first rows). -o writes it as .csv, or
    the page as .html.
    """
    from ..results.folders import check_named

    ways = {"--all": everything, "--bundle": bundle, "-o": out}
    if sum(map(bool, ways.values())) > 1:
        options.refuse(ways, "give only one of them")
    ending = out and out.suffix.lower()
    page = ending == ".html"
    if everything or page:
        options.refuse({"--where": where}, "the page and --all take all results")
    if bundle is None:
        given = {"--without-text": without_text, "several --results": (results or [])[1:]}
        options.refuse(given, "give --bundle FOLDER, too")
    else:
        check_place(bundle)
    if out is not None:
        check_file(out)
        if ending not in (".csv", ".html"):
            raise UsageError(f"{str(out)!r}: the name ends in .csv, or in .html for a page")
    folder, *others = results or [options.results_folder(None)]
    for place in (folder, *others):
        check_named(place)
    if bundle is not None:
        from ..results.bundle import Results
        from ..results.export import write_bundle
        from ..tables.comparison import where as select

        if others and bundle.resolve() in {place.resolve() for place in (folder, *others)}:
            raise UsageError(f"{str(bundle)!r} is one of the folders to merge: name a new folder")
        parts = [Results.open(place) for place in (folder, *others)]
        selected = select(Results.merged(bundle, parts), where or [])
        lacking = write_bundle(selected, bundle, not without_text)
        say(f"Written to {bundle}: {counted(len(selected.names), 'run')}")
        if lacking:
            runs = "the runs of one folder" if others else "other runs"
            say(f"Left out, because they are means over {runs}: {', '.join(lacking)}", err=True)
    elif everything:
        _write_all(folder)
    elif page:
        from ..report.page import write_report

        say(f"{out}: {write_report(folder, out) / 1e6:.2f} MB")
    else:
        _write_csv(folder, where, out)


def _write_csv(folder: Path, where: Sequence[str] | None, out: Path | None) -> None:
    from ..results.bundle import tidy_csv

    bundle = options.open_runs(folder, where, sentences=False)
    rows, columns = bundle.runs.shape
    if out is not None:
        write_file(out, tidy_csv(bundle.runs))
        say(f"Written to {out}: {counted(rows, 'row')}")
    elif sys.stdout.isatty():
        say(bundle.runs.iloc[:10, :8].round(2).to_string(index=False, na_rep=""))
        say(f"... All {counted(rows, 'row')} and {columns} columns: `bottleneck export -o FILE`")
    else:
        say(tidy_csv(bundle.runs), nl=False)
    for line in bundle.left_out():
        say(line, err=True)


def _write_all(folder: Path) -> None:
    from ..report.page import write_out, write_report
    from ..results.folders import STORE, results_inside, runs_in
    from ..runs.sweep import gather
    from ..tables.claims import claims_page, decide_all
    from ..tables.page import page_files

    if runs_in(folder) and not (folder / STORE).is_dir():
        raise UsageError(f"{str(folder)!r} is a store of runs: name the folder that it is in")
    check_place(folder)
    for place in results_inside(folder, itself=True):
        gather(place)
        made, figures, missing = (len(part) for part in write_out(place))
        say(f"{place}: {made} tables, {figures} figures, {missing} left out (CONTENTS.md)")
    size = write_report(folder, folder / "report.html")
    page = claims_page(decide_all(folder))
    for name, text in page_files([page]).items():
        write_file(folder / name, text)
    say(f"{folder}: claims.md, claims.csv; report.html, {size / 1e6:.2f} MB. {page.title}")


def study(
    name: Annotated[str, Argument(help="Which one. Without a name, list them.")] = "",
    results: options.Results = None,
    where: options.Where = None,
    gold: Annotated[Path | None, Option(help="Gold links: i-j sure, i?j or ipj possible.")] = None,
    source: Annotated[Path | None, Option(help="Source sentences of --gold.")] = None,
    target: Annotated[Path | None, Option(help="Their translations, one per line.")] = None,
    first_word: Annotated[int | None, Option(min=0, max=1, help="Count links from 0 or 1.")] = None,
    quick: Annotated[bool, Option("--quick", help="For cost: few lengths, some minutes.")] = False,
    form: options.Form = "rich",
    details: options.Details = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Answer a question by measuring trained runs."""
    if not name:
        print_names(options.table_lines(QUESTIONS))
        return
    from ..questions.probing import probe_runs, write_table
    from ..questions.question import find_question
    from ..results import folders
    from ..settings.run import toml_names
    from ..tables.pages import study_page

    name = options.find_name("study", name)
    question, files = find_question(name), (gold, source, target)
    if (any(files) or first_word is not None) and not (all(files) and name == "alignment"):
        raise UsageError("--gold, --source, --target go together, and are for study alignment")
    tell = str if quiet else partial(say, err=True)
    if name == BENCHMARK:
        options.refuse({"--where": where, "--dry-run": dry_run}, "study cost uses no trained runs")
        folder = results or DEFAULT_OUT / "bench"
        from ..questions.benchmark import measure

        check_place(folder)
        measure(folder, quick, tell)
        show(study_page(name, folder), form, details)
        return
    options.refuse({"--quick": quick}, "is for study cost")
    if gold is not None:  # every run whose weights can be read, whatever text it was trained on
        question = find_question(GOLD)
    own_runs = name in toml_names()  # trained by the sweep of that name
    latest = folders.latest_output(DEFAULT_OUT, DEFAULT_OUT / "lecture")
    folder = results or (DEFAULT_OUT / name if own_runs else latest)
    folders.check_named(folder)
    folders.check_trainable(folder)
    runs = list(folders.find_runs(folder).done)
    if runs and where:
        chosen = options.open_runs(folder, where, sentences=False).names
        runs = [run for run in runs if run.name in chosen]
    runs = [run for run in runs if question.suits(folders.read_settings(run))]
    if not runs:
        if folder.exists():
            folders.check_one(folder)
        train = f"sweep {name}" if own_runs else "reproduce"
        raise UserError(
            f"no finished run in {str(folder)!r} that study {name} can measure: "
            f"`bottleneck {train}` trains some"
        )
    number = counted(len(runs), "run")
    if dry_run:
        names = ", ".join(run.name for run in runs)
        say(f"study {name} would measure {number} of {folder}: {names}")
        return
    check_place(folder)
    if gold is not None:
        from ..questions.alignment_gold import probe_gold, read_gold

        sentences, first = read_gold(*files, first_word)
        linked = counted(sum(bool(item.possible) for item in sentences), "sentence")
        tell(f"words counted from {first}; {linked} of {len(sentences)} have links, all are scored")
        probed = [probe_gold(run, sentences, tell) for run in runs]
    else:
        probed = probe_runs(question, runs, tell)
    path = write_table(question.name, question.summarise(probed), folder)
    tell(f"{question.question} ({number}; numbers: {path})")
    show(study_page(question.name, folder), form, details)


def score(
    systems: Annotated[
        list[Path], Argument(metavar="SYSTEM", help="One or two texts, or folders of runs.")
    ],
    references: Annotated[list[Path] | None, Option(help="Reference text. Repeatable.")] = None,
    sources: Annotated[Path | None, Option(help="Source sentences.")] = None,
    edges: Annotated[str, Option(help="Lower edges of the length buckets.")] = "5,11,21,31,41",
    tokenize: Annotated[
        str | None, Option(help="SacreBLEU's tokenizer [default: the run's or 13a].")
    ] = None,
    resamples: Annotated[int, Option(min=1, max=10_000_000, help="Bootstrap resamples.")] = 1000,
    trials: Annotated[int, Option(min=1, max=10_000_000, help="Randomisation trials.")] = 10_000,
    form: options.Form = "rich",
) -> None:
    """Print BLEU by length of any system, or compare two.

    The difference is the second minus the first, with paired tests.
    """
    from ..corpus.vocabulary import subword_advice, tokenizer_advice
    from ..results.folders import is_run, read_settings
    from ..settings.run import parse_settings
    from ..tables.score import read_systems, score_page

    if len(systems) > 2:
        raise UsageError(f"score takes one system or two, not {len(systems)}")
    if all(map(is_run, systems)):
        given = {"--references": references, "--sources": sources}
        options.refuse(given, "are for files: a run has its own")
    if tokenize is None:
        names = [read_settings(path).scoring.tokenize for path in systems if is_run(path)]
        tokenize = names[0] if len(set(names)) == 1 else "13a"
    values = {"edges": edges, "resamples": resamples, "tokenize": tokenize}
    scoring = parse_settings({"scoring": values}).scoring
    named = dict(zip(("system A", "system B"), systems, strict=False))
    outputs = read_systems(named, references or [], sources)
    page = score_page(outputs, scoring, trials)
    gold = outputs[0]
    texts = {f"hypotheses of {output.name}": output.hypotheses for output in outputs}
    texts |= {"references": [*chain(*gold.references)], "sources": gold.sources}
    advice = tokenizer_advice(gold.references[0], tokenize, "--tokenize ")
    for line in (*subword_advice(texts), *advice):
        say(line, err=True)
    show(page, form)
