"""Exports a results folder as one page that needs no other file and no network, or as many files.

Both have the tables and figures of `bottleneck table` and `bottleneck plot`. The page is in the
lecture's order: this module collects what ``page.html.j2`` lays out.
"""

import hashlib
import platform
import re
import shlex
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from .. import __version__
from ..claims.registry import CLAIMS
from ..corpus.grammar import english_french
from ..corpus.subwords import Subwords
from ..corpus.vocabulary import EOS, SPECIAL, count_words, tokenize, without_joiner
from ..figures.draw import ATTENTION
from ..figures.registry import image, make_figure, write_figure
from ..lecture.slides import SLIDES
from ..lecture.walkthroughs import audit
from ..questions.cost import measured_exponent
from ..questions.survival import word_reports
from ..results import schema
from ..results.bundle import Results, tidy_csv
from ..results.folders import probe_file, results_inside
from ..settings.concerns import CorpusSettings
from ..settings.errors import FileError, UserError, counted
from ..settings.files import write_file
from ..tables import claims
from ..tables.comparison import NONE, of_experiment, what_was_run
from ..tables.lecture import audit_page, lecture_evidence
from ..tables.page import Page, in_line, page_files
from ..tables.pages import make_page, study_page
from ..tables.render import PlainConsole, cell, tables_in

BESIDE = {
    "C1": ("compression", "context-size"),
    "C7": (schema.GOLD,),
    "C10": ("arms",),
    "C12": ("fit",),
}
"""Tables and figures that go with a claim, besides those of its study."""


def write_report(folder: Path, path: Path) -> int:
    """Write the page of a bundle or a store, and return its size in bytes.

    A folder without results, or with damaged ones, is a ``UserError``.
    """
    if not results_inside(folder, itself=True):
        raise UserError(
            f"no results in {str(folder)!r}: name a folder that `bottleneck reproduce`, "
            "`bottleneck sweep` or `bottleneck study cost` wrote"
        )
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters |= {
        # A text with `code` in backticks; a number with its interval on a second line.
        "prose": lambda text: Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text)))),
        "cell": partial(in_line, interval=Markup("{} <small>{} to {}</small>")),
        "quoted": lambda place: shlex.quote(str(place)),
    }
    template, script = (
        resources.files(__package__).joinpath(name).read_text(encoding="utf8")
        for name in ("page.html.j2", "explorer.js")
    )
    with PlainConsole(stderr=True).status("Making the page"):
        page = environment.from_string(template).render(
            collect(folder),
            script=Markup(script),
            script_hash=b64encode(hashlib.sha256(script.encode("utf8")).digest()).decode("ascii"),
            colours=ATTENTION,
            versions=f"bottleneck {__version__}, Python {platform.python_version()}",
        )
    if folder.is_absolute() and folder.parent != Path(folder.anchor):  # hide its place
        page = page.replace(escape(f"{folder.parent}/"), "")
    page = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", page)
    write_file(path, page)
    return len(page.encode("utf8"))


def collect(folder: Path) -> dict[str, Any]:
    """All that the template shows."""
    decisions = claims.decide_all(folder)
    slides = [item for item in decisions if item.claim.id.startswith("L-")]
    first = next((item for item in slides if item.measured), slides[0])
    pair = first.bundle and of_experiment(first.bundle, "vindication")
    bench = next(item.folder for item in decisions if item.claim.id == "C9")
    evidence = lecture_evidence(measured_exponent(bench))
    audits = [audit(name, evidence) for name in SLIDES]
    page = claims.claims_page(decisions)
    rows = page.frame.to_dict("records")
    for row in rows:  # ``45.7 [41.0, 50.1]``, with the digits that the largest needs
        ends = row["value"], row["low"], row["high"]
        greatest = max((abs(end) for end in ends if not pd.isna(end)), default=0)
        digits = 1 if greatest >= 10 else 2 if greatest >= 0.1 else 4
        row["number"] = in_line(cell(*ends, f"{{:.{digits}f}}"))
    # The views of each claim that has numbers; views that two claims share go with the first.
    seen, questions = {}, {}
    for item in decisions[len(slides) :]:
        claim, home = item.claim, item.folder
        # Views of C1 and C10 compare: a single size or arm has nothing to show.
        compared = item.measured or claim.id not in ("C1", "C10")
        owners = {
            name: seen.setdefault((home, name), claim.id)
            for name in (claim.study, *(BESIDE.get(claim.id, ()) if compared else ()))
            if name and has_numbers(name, home, item.bundle)
        }
        if item.measured or owners:
            names = [name for name, owner in owners.items() if owner == claim.id]
            questions[claim.id] = {
                "views": find_views(names, home, item.bundle),
                "measure": item.command or f"bottleneck {claim.makes or f'study {claim.study}'}",
                "slides": [key for key in SLIDES if claim.id in SLIDES[key].get("claims", "")],
                "shared": {*owners.values()} - {claim.id},
            }
    bundles = {item.folder: item.bundle for item in decisions if item.bundle}
    names = ["run", "experiment", "arm", *schema.SETTING_COLUMNS]
    settings = [bundle.runs[names].drop_duplicates() for bundle in bundles.values()]
    return {
        "folder": folder,
        "bench": bench,
        "summary": page.title,
        "claims": rows,
        "claims_caption": page.caption,
        "slides": find_views(("failure-pattern", "vindication", "bleu"), first.folder, pair),
        "explorer": explorer_data(pair) if pair else None,
        "questions": questions,
        "audits": audits,
        "audit_caption": audit_page(audits).caption,
        "runs": {
            path: f"{counted(len(bundle.names), 'run')}: {what_was_run(bundle.runs)}"
            for path, bundle in bundles.items()
        },
        "settings": quote(tidy_csv(pd.concat(settings)), safe=",/") if settings else "",
    }


def find_views(names: Iterable[str], folder: Path, bundle: Results | None) -> dict[str, Any]:
    """The tables and figures of these names that a folder has, as the template shows them."""
    pages, figures, reasons = make_views(names, folder, bundle)
    grids, images = [], []
    for page in pages:
        for table, (heads, *rows) in tables_in(page.table):
            kinds = [
                "text" if column.justify == "left" else "printed" * head.startswith("slide")
                for column, head in zip(table.columns, heads, strict=True)
            ]
            title = str(table.title or page.title)
            grids.append({"title": title, "heads": heads, "rows": rows, "kinds": kinds})
    for figure, _ in figures.values():  # as data addresses: no script runs in them
        drawing = quote(image(figure, ".svg"), safe=" !$()*+,/:;=?@[]{}~'")
        address = Markup(f"data:image/svg+xml,{drawing}")
        images.append({"alt": figure.get_suptitle(), "address": address})
    captions = [line for page in pages for line in page.caption]
    notes = dict.fromkeys((*reasons.values(), *captions))
    return {"grids": grids, "figures": images, "notes": notes}


def make_views(
    names: Iterable[str], folder: Path, bundle: Results | None
) -> tuple[list[Page], dict[str, tuple[Figure, pd.DataFrame]], dict[str, str]]:
    """The tables and figures of these names that a folder has, and why it lacks others.

    Views of runs show the experiment of the claim in `BESIDE`, else ``vindication`` or the first.
    """
    homes = {name: claim.home for claim in CLAIMS for name in BESIDE.get(claim.id, ())}
    pages, figures, reasons = [], {}, {}
    for name in filter(lambda name: has_numbers(name, folder, bundle), names):
        part = bundle and of_experiment(bundle, homes.get(name, "vindication"))
        for kind in ("table", "figure"):
            try:
                if kind == "figure" and name in schema.FIGURES:
                    figures[name] = make_figure(name, folder, bundle=part)
                elif kind == "table" and name in schema.TABLES:
                    pages.append(make_page(name, part))
                elif kind == "table" and name in schema.ALL_TABLES:
                    pages.append(study_page(name, folder, bundle and bundle.runs))
            except FileError:
                raise
            except UserError as error:
                reasons[f"{kind} {name}"] = str(error)
    return pages, figures, reasons


def has_numbers(name: str, folder: Path, bundle: Results | None) -> bool:
    """Whether a folder has the numbers of a table or figure."""
    of_runs = name in schema.TABLES or name in schema.FIGURES_OF_RUNS
    return bundle is not None if of_runs else probe_file(folder, name) is not None


def write_out(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Write the same as files: ``tables/``, ``figures/``, ``CONTENTS.md``; return their names.

    The last of the three lists says what is missing, and why.
    """
    names = dict.fromkeys((*schema.ALL_TABLES, *schema.FIGURES))
    pages, figures, reasons = make_views(names, folder, Results.find(folder))
    for name, text in page_files(pages).items():
        write_file(folder / "tables" / name, text)
    for name, (figure, data) in figures.items():
        write_figure(figure, data, folder / "figures" / f"{name}.svg")
    missing = [f"{name}: {reason}" for name, reason in reasons.items()]
    lines = ["# What these results show", "", "## Tables", ""]
    lines += [f"- [{page.name}](tables/{page.name}.md): {page.title}" for page in pages]
    lines += ["", "## Figures", "", *(f"- [{name}](figures/{name}.svg)" for name in figures)]
    lines += ["", "## Left out", "", *(f"- {line}" for line in missing)]
    write_file(folder / "CONTENTS.md", "\n".join(lines) + "\n")
    return [page.name for page in pages], list(figures), missing


def explorer_data(bundle: Results) -> dict[str, Any] | None:
    """For the explorer: the examples that all arms have, of each arm's first run; None without."""
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


def _sentence(examples: Sequence[Mapping[str, Any]], corpus: CorpusSettings) -> dict[str, Any]:
    """A sentence through every arm. Weights are in thousandths, one row per output token.

    If the grammar gives links, source words are judged as in the question ``survival``. Otherwise
    the words of the reference are looked for in the output.
    """
    texts, lines = [], []  # source and outputs: their word tokens without joiners, and as text
    for tokens in (examples[0]["source"], *(example["hypothesis"] for example in examples)):
        words = [token for token in tokens if token != SPECIAL[EOS]]
        if corpus.tokens != "words":
            words = [*map(without_joiner, tokenize(Subwords(b"").text(words)))]
        texts.append(words)
        # No space before a comma, full stop or possessive, none after an elision.
        lines.append(re.sub(r" (?=[,.]|['’]s\b)|(?<=['’]) ", "", " ".join(words)))
    source, *outputs = texts
    reference = examples[0]["reference"]
    target = [*map(without_joiner, tokenize(reference))]
    words, links = target, tuple((index, index) for index in range(len(target)))
    pair = corpus.name == "grammar" and english_french(corpus.lexicon).parse(lines[0])
    made = (
        pair
        and [*map(without_joiner, tokenize(pair.source))] == source
        and pair.target == reference
    )
    if made:  # the grammar made it, and has its links
        words, links = source, pair.links
    judged = [word_reports(words, target, links, output) for output in outputs]
    return {
        "lecture": examples[0]["sentence"] < 0,
        "text": lines[0],
        "length": count_words(lines[0]),
        "source": examples[0]["source"],
        "reference": reference,
        "linked": bool(made),
        "words": [[report.word, " ".join(report.targets)] for report in judged[-1]],
        "arms": [
            {
                "text": line,
                "output": example["hypothesis"],
                "fates": [[report.fate, " ".join(report.translated)] for report in reports],
                "weights": [[round(1000 * weight) for weight in row] for row in example["weights"]],
            }
            for example, line, reports in zip(examples, lines[1:], judged, strict=True)
        ],
    }
