"""``reproduce`` and ``sweep``, which train; ``settings`` and ``corpus``, which show on what."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin

import typer
from typer import Argument, Option

from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.files import write_file, write_listed
from ..settings.machine import DEFAULT_OUT
from . import options
from .console import display, output, print_names, say

if TYPE_CHECKING:
    from ..runs.pool import Outcome
    from ..settings.run import RunSettings
    from ..settings.sweep import Cell, Sweep


def reproduce(
    preset: options.Preset = "lecture",
    out: options.OutFolder = None,
    seeds: options.Seeds = None,
    context_size: options.ContextSize = None,
    attention: options.Attention = None,
    train_length: options.TrainLength = None,
    corpus: options.CorpusName = None,
    source: options.Source = None,
    target: options.Target = None,
    test_source: options.TestSource = None,
    test_target: options.TestTarget = None,
    test: options.TestSet = None,
    reverse_direction: options.Reverse = False,
    assignments: options.Assignments = None,
    check_schedule: Annotated[
        bool, Option("--check-schedule", help="Also train the first seed twice as long.")
    ] = False,
    threads: options.Threads = None,
    details: options.Details = False,
    quiet: options.Quiet = False,
) -> None:
    """Train with and without attention; print the lecture's tables."""
    given = options.given_settings(locals())
    from ..runs.pool import run_cells
    from ..runs.sweep import check_text, plan_comparison, run_sweep
    from ..settings.run import resolve
    from ..settings.sweep import Cell, folder_name
    from ..tables.page import page_files
    from ..tables.pages import default_pages
    from ..tables.render import print_prose

    if lists := [f"{name}={value}" for name, value in given.items() if isinstance(value, list)]:
        raise UsageError(f"{lists[0]}: reproduce takes one value; `bottleneck sweep` takes a list")
    settings = resolve(preset, assignments or [], given)
    cells = plan_comparison(settings, seeds or 1, check_schedule)
    for line in check_text(settings):
        say(line, err=True)
    folder = out or DEFAULT_OUT / folder_name(preset, [Cell("", settings)])
    execute = partial(run_cells, threads=threads)
    with display(cells, quiet) as listener:
        outcomes = run_sweep("vindication", cells, folder, listener, execute)
    for outcome in outcomes:
        if outcome.phase != "done":
            raise UserError(f"run {outcome.cell.label!r} {outcome.phase}: {outcome.reason}")
    # The tables of these runs only; the store may have more.
    runs = ",".join(outcome.run for outcome in outcomes)
    conditions = ["experiment=vindication", f"run={runs}"]
    pages = default_pages(options.open_runs(folder, conditions))
    write_listed(folder, [(name, text.encode()) for name, text in page_files(pages).items()])
    for page in pages:
        page.print(output(), details or check_schedule)
    names = " and ".join(page.name for page in pages)
    print_prose(output(), f"\nWritten to {folder}: {names} (.csv, .md), runs.csv")


def sweep(
    name: Annotated[str, Argument(help="A sweep of experiments/, or a TOML file.")] = "",
    out: options.OutFolder = None,
    preset: Annotated[str | None, Option(help="Preset [default: the file's or lecture].")] = None,
    context_size: options.ContextSize = None,
    attention: options.Attention = None,
    train_length: options.TrainLength = None,
    corpus: options.CorpusName = None,
    source: options.Source = None,
    target: options.Target = None,
    test_source: options.TestSource = None,
    test_target: options.TestTarget = None,
    test: options.TestSet = None,
    reverse_direction: options.Reverse = False,
    assignments: options.Assignments = None,
    seeds: options.Seeds = None,
    save: Annotated[Path | None, Option(help="Save your options as a sweep file.")] = None,
    jobs: Annotated[int | None, Option(min=1, help="Runs at once [default: one per core].")] = None,
    seeds_together: Annotated[int | None, Option(min=1, help="Seeds per program.")] = None,
    threads: options.Threads = None,
    scheduler: Annotated[str | None, Option(help="A Dask scheduler, tcp://HOST:PORT.")] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a grid of settings, from a file or from options. Finished runs are kept.

    Lists multiply: --context-size 64,256 --attention none,additive --set model.cell=gru,lstm.
    Without a name and without settings, list the sweeps.
    """
    given = options.given_settings(locals())
    from ..settings import sweep as sweeps

    if name:
        options.refuse({"--save": save}, f"is for a sweep of options; {name} is a file already")
    elif not (given or assignments):
        chosen = {"--preset": preset, "--save": save}
        options.refuse(chosen, "give the settings that vary, such as --context-size 64,256")
        known = {name: sweeps.load_sweep(name) for name in sweeps.toml_names()}
        print_names({name: f"{item.question.partition('?')[0]}?" for name, item in known.items()})
        return
    from ..runs.pool import run_cells
    from ..runs.sweep import check_text, run_sweep
    from ..settings.run import parse_assignments

    name = options.find_name("sweep", name)
    typed = given | parse_assignments(assignments or [])
    read = sweeps.load_sweep(name) if name else sweeps.Sweep(settings=typed)
    read = replace(read, preset=preset or read.preset)
    cells, notes = sweeps.make_grid(read, typed, seeds)
    read = sweeps.complete(read, cells, out.absolute().name if out else "")
    folder = out or DEFAULT_OUT / read.name
    execute = partial(run_cells, width=jobs, threads=threads, together=seeds_together)
    if scheduler is not None:
        from ..runs.cluster import run_cells_on_cluster

        chosen = {"--threads": threads, "--seeds-together": seeds_together, "--jobs": jobs}
        options.refuse(chosen, "not on a cluster")
        execute = partial(run_cells_on_cluster, scheduler=scheduler)
    for settings in {cell.settings.scoring.tokenize: cell.settings for cell in cells}.values():
        notes += check_text(settings)
    if save:
        write_file(save, sweeps.as_toml(read, cells))
        say(f"Written to {save}", err=True)
    if dry_run:
        _print_plan(read, cells, notes, folder)
        return
    for note in notes:
        say(note, err=True)
    with display(cells, quiet) as listener:
        outcomes = run_sweep(read.name, cells, folder, listener, execute)
    _conclude(outcomes, read, folder)


def _print_plan(sweep: "Sweep", cells: "Sequence[Cell]", notes: list[str], folder: Path) -> None:
    from ..corpus.corpus import load_corpus
    from ..results.folders import STORE, runs_in
    from ..runs.store import status_of
    from ..tables.render import new_table, print_prose

    store, statuses = folder / STORE, []
    fingerprint = cache(lambda corpus, edges: load_corpus(corpus, edges).fingerprint)
    known = bool(runs_in(store))
    table = new_table("", ["run", "status"] if known else ["run"])
    for cell in cells:
        if known:  # a run's name depends on the text
            text = fingerprint(cell.settings.corpus, cell.settings.scoring.lower_edges)
            statuses.append(status_of(store / cell.settings.identity(text)))
        table.add_row(cell.label, *statuses[-1:])
    parts = [f"{count} {status}" for status, count in Counter(statuses).items()]
    console = output()
    print_prose(console, sweep.question)
    console.print(table)
    print_prose(console, [*notes, ", ".join([counted(len(cells), "run"), *parts])])


def _conclude(outcomes: "list[Outcome]", sweep: "Sweep", folder: Path) -> None:
    from ..tables.pages import make_page
    from ..tables.render import print_prose

    console = output()
    print_prose(console, sweep.question)
    for outcome in outcomes:
        if outcome.phase != "done":
            print_prose(console, f"{outcome.cell.label}: {outcome.phase}: {outcome.reason}", "bold")
    if done := [outcome.run for outcome in outcomes if outcome.phase == "done"]:
        conditions = [f"experiment={sweep.name}", f"run={','.join(done)}"]
        try:
            make_page("arms", options.open_runs(folder, conditions)).print(console)
        except UserError as error:  # runs with different buckets are not one table
            print_prose(console, f"No table: {error}")
    print_prose(
        console, f"{len(done)} of {counted(len(outcomes), 'run')} done. Results in {folder}"
    )
    if len(done) < len(outcomes):
        raise typer.Exit(3)


def settings(
    name: Annotated[str, Argument(help="A setting, or a part of its name [default: all].")] = "",
    preset: options.Preset = "lecture",
) -> None:
    """List all settings with their values and meanings."""
    from ..settings.run import NAMES, resolve

    asked = name.replace("-", "_")
    chosen = [asked] if asked in NAMES else [known for known in NAMES if asked in known]
    if not chosen:
        raise UsageError(f"unknown setting {name!r}{did_you_mean(name, NAMES)}")
    values, bounds = resolve(preset), {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    for known in chosen:
        concern, _, key = known.partition(".")
        field = type(getattr(values, concern)).model_fields[key]
        kinds = (NAMES[known], *get_args(NAMES[known]))
        literals = [get_args(kind) for kind in kinds if get_origin(kind) is Literal]
        takes = [str(item) for items in literals for item in items]
        for bound, (sign, word) in product(field.metadata, bounds.items()):
            takes += [f"{word} {getattr(bound, sign):,}"] if hasattr(bound, sign) else []
        value, ending = str(values.value(known)).lower(), f" ({', '.join(takes)})" if takes else ""
        say(f"{known:<28}  {value:<14}  {field.description}{ending}")


def corpus(
    name: Annotated[str, Argument(help="grammar, copy, files, or real text [default: list].")] = "",
    count: Annotated[int, Option("-n", min=0, max=1_000_000, help="How many pairs to show.")] = 5,
    fetch: Annotated[bool, Option("--fetch", help="Download real text.")] = False,
    preset: options.Preset = "lecture",
    source: options.Source = None,
    target: options.Target = None,
    test_source: options.TestSource = None,
    test_target: options.TestTarget = None,
    test: options.TestSet = None,
    reverse_direction: options.Reverse = False,
    assignments: options.Assignments = None,
) -> None:
    """Show sentence pairs; count lengths and unknown words.

    Pairs come with their word alignment and bits, if these are known.
    """
    given = options.given_settings(locals() | {"corpus": name})
    from ..corpus import download
    from ..corpus.download import CORPORA, folder_of
    from ..settings.run import resolve

    if fetch:
        if name not in CORPORA:
            raise UsageError(f"no corpus {name!r} to fetch{did_you_mean(name, CORPORA)}")
        item, folder = CORPORA[name], folder_of(name)
        if not folder.is_dir():
            download.fetch(name, lambda file: say(f"downloading {file}", err=True))
        say(f"{name} is in {folder}\nlicence: {item.licence}; cite: {item.citation}")
        return
    if not given:
        lines = {}
        for known, item in CORPORA.items():
            here = "downloaded" if folder_of(known).is_dir() else "not downloaded"
            size = f"~{item.pairs:,} pairs, {item.megabytes:g} MB"
            lines[known] = f"{here}; {size}; licence: {item.licence}; cite: {item.citation}"
        print_names(lines)
        say("`bottleneck corpus NAME --fetch` downloads one of these.")
        say("Corpus grammar (the default) and copy are drawn; files is your own text.")
        return
    _describe(resolve(preset, assignments or [], given), count)


def _describe(settings: "RunSettings", count: int) -> None:
    from ..corpus.corpus import describe, load_corpus, share
    from ..corpus.vocabulary import tokenize, without_joiner
    from ..tables.render import print_prose

    given, edges, pairs = settings.corpus, settings.scoring.lower_edges, ()
    # Files are called by their endings, such as ``de`` of train.de.gz.
    names = (given.source, given.target) if given.name == "files" else ("en", "fr")
    sides = [(name or "").removesuffix(".gz").rpartition(".")[2] for name in names]
    if len({*sides}) < 2 or not all(re.fullmatch("[a-z]{2,3}", side) for side in sides):
        sides = ["source", "target"]
    elif given.reverse_direction:
        sides.reverse()
    ours, theirs, indent = (f"{name:{max(map(len, sides))}}  " for name in (*sides, ""))
    if count:
        few = settings.changed(corpus={"train_pairs": count, "tokens": "words"})
        pairs = load_corpus(few.corpus, edges).train
    for pair in pairs:
        bits = "" if pair.bits is None else f", {pair.bits:.1f} bits"
        say(f"{ours}{pair.source}\n{theirs}{pair.target}\n{indent}{pair.words} words{bits}")
        texts = pair.source, pair.target
        source, target = ([*map(without_joiner, tokenize(text))] for text in texts)
        if links := " ".join(f"{source[i]}-{target[j]}" for i, j in pair.links):
            say(f"{indent}{links}")
        say()
    say("Counting lengths and unknown words of all pairs ...", err=True)
    text = load_corpus(given, edges)
    say(describe(text, edges).to_string(float_format="{:,.1f}".format, na_rep=""))
    sizes = [len(item.words) for item in (text.source_vocabulary, text.target_vocabulary)]
    unknown = [f"{100 * rate:.2f} %" for rate in text.unknown_rates]
    lines = [
        f"vocabulary: {sizes[0]:,} source, {sizes[1]:,} target {given.tokens}",
        f"unknown {given.tokens} in the test set: {unknown[0]} source, {unknown[1]} target",
    ]
    if (copies := share(text.near_copies)) is not None:
        lines.append(f"near-copies: training has {100 * copies:.1f} % of the test's source 5-grams")
    print_prose(output(), [*lines, *text.notes, f"fingerprint: {text.fingerprint}"])
