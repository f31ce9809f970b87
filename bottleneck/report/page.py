"""The whole page: what was read from the bundle, in its order, in one file that needs no other."""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from ..lecture.walkthroughs import audit_all
from ..questions.cost import measured_exponent
from ..settings.atomic import write_text
from ..tables.claims import CAPTION, summary
from ..tables.lecture import lecture_evidence
from . import commands, sections
from .markup import Html, json_script, prose, tag
from .read import SLIDES_TABLES, Read, read
from .runs import made_by, runs_html
from .sections import section
from .slides import failure_html, vindication_html
from .style import theme_css
from .tables import listed

TITLE = "The bottleneck, measured"
LEAD = (
    "Does a fixed vector squeeze a sentence to death, and does attention bring it back? "
    "A lecture's printed numbers, beside those that were measured."
)
ABOUT = (
    "The lecture tells its story in two tables: translation without attention fails as sentences "
    "grow, and attention helps most where it failed. Its numbers are an illustration. Here small "
    "translators were trained with and without attention, and what the lecture says was measured "
    "on them: compare shapes (order, drop, gain), never levels. Each verdict follows from a rule "
    "that is written in code; changes of rules are dated in the project's lab book."
)
EXPLORER = (
    "Choose a test sentence: which of its words each arm kept, and where the decoder looked while "
    "it wrote. Without attention it always gets the same vector, the encoder's last state, which "
    "is why that map is one column."
)
LINKED = (
    "A word is kept where the words that the reference has for it stand in the output; the links "
    "are those of the corpus' own rules, as in the study survival (C3). In part: some of them do. "
    "Function words are often there by chance."
)
UNLINKED = (
    "Which source word stands for which word of the reference is not known of every sentence here: "
    "then the reference's words are shown, and whether the output has them."
)
FURTHER = "What no claim rests on: questions beside the lecture's own, other texts."
NO_FURTHER = "There are none in this folder; `bottleneck sweep` lists those that can be run."
NO_SCRIPT = "The explorer needs JavaScript; all else on this page is there without it."
NO_EXAMPLES = "The results hold no example sentences."
CONTENTS = {
    "tables": "The two tables",
    "claims": "All claims",
    "printed": "Printed numbers",
    "questions": "Questions",
    "further": "Further sweeps",
    "explorer": "Explorer",
    "runs": "Runs and settings",
}


def write_report(folder: Path, path: Path) -> int:
    """Write the page of a bundle or a store, and return its size in bytes."""
    page = make_report(folder)
    write_text(path, page)
    return len(page.encode("utf8"))


def make_report(folder: Path) -> str:
    """The page. A folder without results, or with damaged ones, is a ``UserError``."""
    held = read(folder)
    style, script = theme_css() + _file("page.css"), _file("explorer.js")
    body = tag(
        "body",
        tag("a", "Skip to the tables", href="#tables", class_="skip"),
        _header(held),
        tag("main", *_sections(held)),
        tag("footer", made_by()),
        json_script("explorer-data", held.explored.data) if held.explored else None,
        tag("script", Html(script)) if held.explored else None,
    )
    page = tag("html", _head(held.folder, style, script), body, lang="en")
    return f"<!doctype html>\n{page}\n"


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf8")


def _head(folder: Path, style: str, script: str) -> Html:
    """Nothing may be loaded, and nothing runs but what was written with the page."""
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; "
        f"script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{TITLE}: {folder}"),
        tag("style", Html(style)),
    )


def _hash(text: str) -> str:
    """By which a policy allows for one script or style."""
    digest = b64encode(hashlib.sha256(text.encode("utf8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _header(held: Read) -> Html:
    items = [tag("li", tag("a", name, href=f"#{place}")) for place, name in CONTENTS.items()]
    told = f"{summary(held.decisions)}. Results: "
    return tag(
        "header",
        tag("h1", TITLE),
        tag("p", LEAD, class_="lead"),
        tag("p", ABOUT),
        tag("p", told, tag("code", str(held.folder)), "."),
        tag("nav", tag("ul", *items), aria_label="Contents"),
    )


def _sections(held: Read) -> Iterator[Html]:
    made = {
        "tables": _two_tables(held),
        "claims": _claims(held),
        "printed": _printed(held),
        "questions": _questions(held),
        "further": _further(held),
        "explorer": _explorer(held),
        "runs": _runs(held),
    }
    for name, parts in made.items():
        yield section(name, CONTENTS[name], *parts)


def _two_tables(held: Read) -> Iterator[Html]:
    """Each table with its verdicts; the figure; what was run; how to get it again."""
    verdicts = [one.verdict for one in held.decisions[:SLIDES_TABLES]]
    if held.pages:
        yield failure_html(held.pages[0])
    yield sections.judged(verdicts[:1])
    if held.pages[1:] and held.pair:
        yield vindication_html(held.pages[1], max(set(held.pair.runs["attention"]) - {"none"}))
    yield sections.judged(verdicts[1:])
    if isinstance(held.figure, str):
        yield tag("p", held.figure)
    elif held.figure:
        yield held.figure.html(Html("Slide and measured, by sentence length."))
    if held.pages:
        yield sections.details("What was run, and how to read it", listed(held.pages[0].caption))
    yield sections.ways(commands.of_tables(held))


def _claims(held: Read) -> Iterator[Html]:
    yield sections.overview(held.decisions)
    yield sections.details("How to read this", listed(CAPTION))
    yield sections.commands([f"bottleneck claims --results {commands.quoted(held.folder)}"])


def _printed(held: Read) -> Iterator[Html]:
    folder = next(one.folder for one in held.decisions if one.claim.id == "C9")
    yield sections.printed(audit_all(lecture_evidence(measured_exponent(folder))))
    where = commands.quoted(folder)
    yield sections.commands([f"bottleneck lecture --results {where}", "bottleneck lecture L7"])


def _questions(held: Read) -> Iterator[Html]:
    yield tag("p", "In the lecture's order; what nothing has measured names its command.")
    bundles = {bundle.folder: bundle for bundle in held.bundles}
    for decision, shown in zip(held.decisions[SLIDES_TABLES:], held.shown, strict=True):
        again = commands.of_claim(decision, shown, bundles.get(decision.folder))
        yield sections.question(decision, shown, again)


def _further(held: Read) -> Iterator[Html]:
    yield tag("p", prose(FURTHER if held.further else NO_FURTHER))
    for place, one in enumerate(held.further, start=1):
        yield sections.further(one, place, commands.of_further(one))


def _explorer(held: Read) -> Iterator[Html]:
    """The place in which the script shows a sentence; hidden until it does."""
    if held.explored is None:
        yield tag("p", NO_EXAMPLES)
        return
    told = {one["linked"] for one in held.explored.data["sentences"]}
    yield tag("p", EXPLORER)
    yield from (tag("p", text) for linked, text in ((True, LINKED), (False, UNLINKED))
                if linked in told)  # fmt: skip
    if held.explored.left_out:
        yield tag("p", f"For lack of room {held.explored.left_out} long sentences are not here.")
    yield tag("noscript", tag("p", NO_SCRIPT))
    yield tag(
        "div",
        tag("label", "Sentence", tag("select", id="explorer-choice")),
        tag("div", id="explorer-shown", aria_live="polite"),
        class_="explorer",
        id="explorer-app",
        hidden=True,
    )


def _runs(held: Read) -> Iterator[Html]:
    if not held.bundles:
        yield tag("p", "The folder holds no finished run.")
    for bundle in held.bundles:
        if len(held.bundles) > 1:
            yield tag("h3", tag("code", str(bundle.folder)))
        yield runs_html(bundle)
