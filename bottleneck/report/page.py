"""A results folder as one page that needs no other file and no network, or as many files.

Both have the tables and figures that `bottleneck table` and `bottleneck plot` make. The page,
``report.html``, is in the lecture's order: this file collects what ``page.html.j2`` lays out.
"""

import hashlib
import platform
import re
import shlex
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from .. import __version__
from ..claims.registry import CLAIMS as ALL_CLAIMS
from ..corpus.grammar import english_french
from ..corpus.pair import SentencePair
from ..corpus.subwords import Subwords
from ..corpus.vocabulary import EOS, SPECIAL, count_words, is_word, plain, tokenize
from ..figures.draw import ATTENTION
from ..figures.registry import image, make_figure, write_figure
from ..lecture.slides import SLIDES
from ..lecture.walkthroughs import audit
from ..questions.cost import measured_exponent
from ..questions.word_survival import LinkedReference, word_reports
from ..results import schema
from ..results.bundle import Example, Results, holds_results, tidy_csv
from ..results.folders import has_probe, results_inside
from ..results.folders import tables as measured_tables
from ..settings.concerns import CorpusSettings
from ..settings.errors import FileError, UserError, counted
from ..settings.files import write_text
from ..tables import claims
from ..tables.comparison import NONE, of_experiment, what_was_run
from ..tables.lecture import audit_page, lecture_evidence
from ..tables.page import Page, in_line
from ..tables.pages import make_page, study_page
from ..tables.render import PlainConsole, tables_in, texts_of

BESIDE: Mapping[str, Sequence[str]] = {
    "C1": ("compression", "context-size"),
    "C7": (schema.GOLD,),
    "C10": ("arms",),
    "C12": ("fit",),
}
"""By claim the tables and figures that go with it, besides those of its study."""
HOMES = {name: claim.home for claim in ALL_CLAIMS for name in BESIDE.get(claim.id, ())}
"""By table and figure the experiment it shows, if a folder has several; else ``vindication``."""
CLAIMS, CONTENTS, REPORT = "claims", "CONTENTS.md", "report.html"
FORMS = {".md": "markdown", ".csv": "csv"}
"""Forms of tables and claims, by the file's ending."""
Made = TypeVar("Made")


def write_report(folder: Path, path: Path) -> int:
    """Write the page of a bundle or a store, and return its size in bytes."""
    with PlainConsole(stderr=True).status("Making the page"):
        page = make_report(folder)
    write_text(path, page)
    return len(page.encode("utf8"))


def make_report(folder: Path) -> str:
    """The page. A folder without results, or with damaged ones, is a ``UserError``."""
    check_results(folder)
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters |= {"prose": prose, "cell": cell, "quoted": lambda p: shlex.quote(str(p))}
    template, script = (
        resources.files(__package__).joinpath(name).read_text(encoding="utf8")
        for name in ("page.html.j2", "explorer.js")
    )
    page = environment.from_string(template).render(
        collect(folder),
        script=Markup(script),
        script_hash=b64encode(hashlib.sha256(script.encode("utf8")).digest()).decode("ascii"),
        colours=ATTENTION,
        versions=f"bottleneck {__version__}, Python {platform.python_version()}",
    )
    if folder.is_absolute() and folder.parent != Path(folder.anchor):  # a folder of this machine
        page = page.replace(escape(f"{folder.parent}/"), "")
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", page)


def check_results(folder: Path) -> None:
    """A ``UserError`` where neither a folder nor any inside it has results."""
    if not (holds_results(folder) or measured_tables(folder) or results_inside(folder)):
        raise UserError(
            f"no results in {str(folder)!r}: name a folder that `bottleneck reproduce`, "
            "`bottleneck sweep` or `bottleneck study cost` wrote"
        )


def prose(text: str) -> Markup:
    """A text in which `backticks` stand around what is typed."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def cell(text: str) -> str:
    """A cell of a terminal's table; an interval on its second line is in small type."""
    return in_line(text, Markup("{} <small>{} to {}</small>"))


def collect(folder: Path) -> dict[str, Any]:
    """All that the template shows."""
    decisions = claims.decide_all(folder)
    slides = [item for item in decisions if item.claim.id.startswith("L-")]
    first = next((item for item in slides if item.measured), slides[0])
    pair = first.bundle and of_experiment(first.bundle, "vindication")
    bench = next(item.folder for item in decisions if item.claim.id == "C9")
    evidence = lecture_evidence(measured_exponent(bench))
    audits = [audit(name, evidence) for name in SLIDES]
    rows = claims.claims_page(decisions).frame.to_dict("records")
    bundles = {item.folder: item.bundle for item in decisions if item.bundle}
    names = ["run", "experiment", "arm", *schema.SETTING_COLUMNS]
    settings = [bundle.runs[names].drop_duplicates() for bundle in bundles.values()]
    return {
        "folder": folder,
        "bench": bench,
        "summary": claims.summary(decisions),
        "claims": [row | {"number": claims.number(row)} for row in rows],
        "claims_caption": [claims.CAPTION],
        "slides": find_views(("failure-pattern", "vindication", "bleu"), first.folder, pair),
        "explorer": explorer_data(pair) if pair else None,
        "questions": dict(questions(decisions[len(slides) :])),
        "audits": audits,
        "audit_caption": audit_page(audits).caption,
        "runs": {
            place: f"{counted(len(bundle.names), 'run')}: {what_was_run(bundle.runs)}"
            for place, bundle in bundles.items()
        },
        "settings": quote(tidy_csv(pd.concat(settings)), safe=",/") if settings else "",
    }


def questions(decisions: Sequence[claims.Decision]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What goes with each claim that has numbers, by its id.

    What two claims share goes with the first.
    """
    seen: dict[tuple[Path, str], str] = {}
    for item in decisions:
        claim, folder, bundle = item.claim, item.folder, item.bundle
        # Some compare: they say nothing of a single arm or size.
        compared = item.measured or claim.id not in ("C1", "C10")
        first = {
            name: seen.setdefault((folder, name), claim.id)
            for name in (claim.study, *(BESIDE.get(claim.id, ()) if compared else ()))
            if name and has_numbers(name, folder, bundle)
        }
        if item.measured or first:
            names = [name for name, other in first.items() if other == claim.id]
            yield (
                claim.id,
                {
                    "views": find_views(names, folder, bundle),
                    "measure": item.command or f"bottleneck {claim.command}",
                    "slides": [key for key in SLIDES if claim.id in SLIDES[key].get("claims", "")],
                    "shared": {*first.values()} - {claim.id},
                },
            )


def find_views(names: Iterable[str], folder: Path, bundle: Results | None) -> dict[str, Any]:
    """The tables and figures that a folder has under these names, as the template shows them.

    ``kinds`` of a table says which columns are text, and which the slide's numbers.
    """
    pages, figures, reasons = make_views(
        names, folder, bundle, lambda name, part: make_figure(name, folder, bundle=part)[0]
    )
    shown: list[dict[str, Any]] = []
    for page in pages:
        for table in tables_in(page.table):
            heads, *rows = texts_of(table)
            kinds = [
                "text" if column.justify == "left" else "printed" * head.startswith("slide")
                for column, head in zip(table.columns, heads, strict=True)
            ]
            title = str(table.title or page.title)
            shown.append({"title": title, "heads": heads, "rows": rows, "kinds": kinds})
    captions = [line for page in pages for line in page.caption]
    return {
        "grids": shown,
        "figures": [as_image(figure) for figure in figures.values()],
        "notes": dict.fromkeys((*reasons.values(), *captions)),
    }


def make_views(
    names: Iterable[str],
    folder: Path,
    bundle: Results | None,
    draw: Callable[[str, Results | None], Made],
) -> tuple[list[Page], dict[str, Made], dict[str, str]]:
    """The tables and the figures that a folder has under these names, and why it lacks others.

    Those of runs are of one experiment: that of the claim which they go with, or else the first.
    A file that is damaged or cannot be written is a ``UserError``.
    """
    pages: list[Page] = []
    figures: dict[str, Made] = {}
    reasons: dict[str, str] = {}
    for name in filter(lambda name: has_numbers(name, folder, bundle), names):
        part = bundle and of_experiment(bundle, HOMES.get(name, "vindication"))
        for kind in ("table", "figure"):
            try:
                if kind == "figure" and name in schema.FIGURES:
                    figures[name] = draw(name, part)
                elif kind == "table" and name in schema.TABLES:
                    pages.append(make_page(name, part))
                elif kind == "table" and name in schema.ALL_TABLES:
                    runs = None if bundle is None else bundle.runs
                    pages.append(study_page(name, folder, runs))
            except FileError:
                raise
            except UserError as error:
                reasons[f"{kind} {name}"] = str(error)
    return pages, figures, reasons


def has_numbers(name: str, folder: Path, bundle: Results | None) -> bool:
    """Whether a folder has the numbers of a table or figure."""
    of_runs = name in schema.TABLES or name in schema.FIGURES_OF_RUNS
    return bundle is not None if of_runs else has_probe(folder, name)


def as_image(figure: Figure) -> dict[str, str]:
    """A figure as the address of an image, in which no script runs, and its title in words."""
    drawing = " ".join(image(figure, ".svg").decode("utf8").split())
    # Coordinates to a hundredth, of which the elements are full.
    drawing = re.sub(r"<[^<>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), drawing)
    address = "data:image/svg+xml," + quote(drawing, safe=" !$()*+,/:;=?@[]{}~'")
    return {"alt": figure.get_suptitle(), "address": Markup(address)}


# `bottleneck export --all`: the same as files in the results folder.


def write_out(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Write ``tables/``, ``figures/`` and last ``CONTENTS.md`` into a results folder.

    Returns the names of tables and figures, and what is missing, with the reason. A folder without
    results is a ``UserError``, and so is a damaged file.
    """
    check_results(folder)

    def draw(name: str, part: Results | None) -> None:
        if name == "compression" and part.runs["context_size"].nunique() < 2:
            raise UserError("all runs have one context size")
        for ending in (".png", ".svg"):  # drawn for each: the second layout of a figure differs
            figure, data = make_figure(name, folder, bundle=part)
            write_figure(figure, data, folder / "figures" / f"{name}{ending}")

    names = dict.fromkeys((*schema.ALL_TABLES, *schema.FIGURES))
    pages, figures, reasons = make_views(names, folder, Results.find(folder), draw)
    for page in pages:
        for ending, form in FORMS.items():
            write_text(folder / "tables" / f"{page.name}{ending}", page.render(form))
    missing = [f"{name}: {reason}" for name, reason in reasons.items()]
    lines = ["# What these results show", "", "## Tables", ""]
    lines += [f"- [{page.name}](tables/{page.name}.md): {page.title}" for page in pages]
    lines += ["", "## Figures", "", *(f"- [{name}](figures/{name}.png)" for name in figures)]
    lines += ["", "## Left out", "", *(f"- {line}" for line in missing)]
    write_text(folder / CONTENTS, "\n".join(lines) + "\n")
    return [page.name for page in pages], list(figures), missing


def write_end(folder: Path) -> tuple[str, int]:
    """Write ``claims.md``, ``claims.csv`` and ``report.html`` of a folder and those inside it.

    Returns how many claims hold, in words, and the page's size in bytes. Without any results a
    ``UserError``.
    """
    size = write_report(folder, folder / REPORT)
    decisions = claims.decide_all(folder)
    for ending, form in FORMS.items():
        write_text(folder / f"{CLAIMS}{ending}", claims.claims_page(decisions).render(form))
    return claims.summary(decisions), size


# The explorer: example sentences, the words that each arm kept, its weights.


def explorer_data(bundle: Results) -> dict[str, Any] | None:
    """The examples that all arms of a bundle have, from each arm's first run; None without any."""
    examples, runs = dict(bundle.examples()), {}
    rows = bundle.runs.drop_duplicates("run").sort_values("seed", kind="stable")
    for row in rows.to_dict("records"):
        outputs = (item for item in examples.get(row["run"], ()) if item["hypothesis"])
        if by_index := {item["sentence"]: item for item in outputs}:
            runs.setdefault(row["attention"], (row, by_index))
    arms = [runs[name] for name in sorted(runs, key=lambda name: (name != NONE, name))]
    common = sorted(set.intersection(*(set(by_index) for _, by_index in arms))) if arms else []
    if not common:
        return None
    corpus = bundle.settings(arms[0][0]["run"]).corpus
    facts = "context {context_size}, {updates:,} updates, seed {seed}"
    return {
        "arms": [{"name": row["attention"], "run": facts.format(**row)} for row, _ in arms],
        "sentences": [_sentence([items[index] for _, items in arms], corpus) for index in common],
    }


def _sentence(examples: Sequence[Example], corpus: CorpusSettings) -> dict[str, Any]:
    """A sentence through every arm. Weights are in thousandths, a row for each output token.

    Where the rules of the corpus give a sentence's links, its source words are judged as the
    question ``survival`` judges them. Of other text the words of the reference are looked for in
    the output.
    """
    source, reference = _words(examples[0]["source"], corpus), examples[0]["reference"]
    target = tuple(map(plain, tokenize(reference)))
    words, links = list(target), tuple((index, index) for index in range(len(target)))
    if pair := find_pair(source, reference, corpus):
        words, links = source, pair.links
    linked, arms, judged = LinkedReference(len(words), target, links), [], []
    for example in examples:
        output = _words(example["hypothesis"], corpus)
        judged = word_reports(words, [""] * len(words), linked, output)
        judged = [report for report in judged if is_word(report.word)]
        arms.append(
            {
                "text": readable(output),
                "output": example["hypothesis"],
                "fates": [[report.fate, " ".join(report.found)] for report in judged],
                "weights": [[round(1000 * weight) for weight in row] for row in example["weights"]],
            }
        )
    return {
        "lecture": examples[0]["sentence"] < 0,
        "text": readable(source),
        "length": count_words(readable(source)),
        "source": examples[0]["source"],
        "reference": reference,
        "linked": pair is not None,
        "words": [[report.word, " ".join(report.targets)] for report in judged],
        "arms": arms,
    }


def find_pair(source: Sequence[str], reference: str, corpus: CorpusSettings) -> SentencePair | None:
    """The grammar's own pair of these texts, which has links; None if it does not make them."""
    if corpus.name != "grammar":
        return None
    pair = english_french(corpus.lexicon).parse(readable(source))
    same = pair and [*map(plain, tokenize(pair.source))] == [*source] and pair.target == reference
    return pair if same else None


def _words(tokens: Sequence[str], corpus: CorpusSettings) -> list[str]:
    """Word tokens without joiners, from the tokens of an example."""
    words = [token for token in tokens if token != SPECIAL[EOS]]
    if corpus.tokens == "words":
        return words
    return list(map(plain, tokenize(Subwords(b"").text(words))))


def readable(words: Sequence[str]) -> str:
    """Words as text: no space before a comma, full stop or possessive, none after an elision."""
    return re.sub(r" (?=[,.]|['’]s\b)|(?<=['’]) ", "", " ".join(words))
