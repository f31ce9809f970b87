"""The page's sections, each a function of what was read from the bundle."""

from collections.abc import Iterable, Mapping, Sequence

from ..claims.verdict import Verdict
from ..lecture.audit import Audit
from ..tables.claims import VERDICTS, claims, number
from ..tables.decided import Decision
from ..tables.lecture import audit_page
from .commands import Ways
from .figures import Picture
from .further import Further
from .markup import Html, joined, prose, tag
from .questions import SLIDES, Shown
from .tables import captioned, grids, listed, table_html

SIGNS = {"held": "✓", "partly": "~", "not held": "✗", "not measured": "–"}
"""Before a verdict's words: colour is not to be all that tells them apart."""
RULE = "Rule: "


def section(name: str, title: str, *children: Html | None, level: str = "h2") -> Html:
    """A section with its head, which the contents link to."""
    head = tag(level, title, id=f"{name}-head")
    return tag("section", head, *children, id=name, aria_labelledby=f"{name}-head")


def badge(verdict: str) -> Html:
    """A verdict in words, with a sign and a colour."""
    sign = tag("span", SIGNS[verdict], aria_hidden="true") if verdict in SIGNS else None
    kind = verdict.replace(" ", "-") if verdict in VERDICTS else "plain"
    return tag("span", sign, " " if sign else None, verdict, class_=f"badge {kind}")


def sentence(text: str) -> str:
    """A clause as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def commands(lines: Iterable[str], told: str = "To get it again") -> Html | None:
    """Commands, a line each; nothing where there are none."""
    text = "\n".join(lines)
    if not text:
        return None
    return tag("div", tag("p", told, class_="again"), tag("pre", tag("code", text)))


def ways(found: Ways, measured: bool = True) -> Html:
    """What measures it, and what shows what is measured."""
    return joined(
        [
            commands(found.measure, "To measure it again" if measured else "To measure it"),
            commands(found.show, "To print and draw what is measured"),
        ]
    )


def details(title: str, *children: Html | None) -> Html:
    """What is shown when it is asked for, and printed always."""
    return tag("details", tag("summary", title), *children)


def judged(verdicts: Sequence[Verdict]) -> Html:
    """Each verdict with the sentence that its numbers make, and its rule."""
    return joined(
        tag(
            "div",
            tag("p", tag("strong", one.claim), " ", badge(one.verdict), " ",
                prose(sentence(one.because))),
            tag("p", RULE, prose(one.rule), class_="rule"),
            class_="judged",
        )
        for one in verdicts
    )  # fmt: skip


def overview(decisions: Sequence[Decision]) -> Html:
    """A row a claim: id, claim, verdict, number; the id leads to its section."""
    rows = claims(decisions).to_dict("records")
    lines = [
        tag(
            "tr",
            tag("th", tag("a", row["id"], href=f"#{place_of(row['id'])}"), scope="row"),
            tag("td", row["claim"], class_="text"),
            tag("td", badge(row["verdict"]), class_="text"),
            tag("td", number(row), class_="whole"),
            tag("td", row["measure"] if number(row) else "", class_="text"),
        )
        for row in rows
    ]
    heads = {"id": "text", "the lecture says": "text", "verdict": "text", "number": None,
             "of what": "text"}  # fmt: skip
    cells = (tag("th", head, scope="col", class_=kind) for head, kind in heads.items())
    return captioned(
        "The lecture's claims, and what was measured of them",
        tag("thead", tag("tr", *cells)),
        tag("tbody", *lines),
        kind="claims",
    )


def place_of(claim: str) -> str:
    """Where a claim has its section: those of the two tables share one."""
    return "tables" if claim.startswith("L-") else claim


def question(decision: Decision, shown: Shown, again: Ways) -> Html:
    """One claim."""
    claim, verdict = decision.claim, decision.verdict
    (row,) = claims([decision]).to_dict("records")
    value = number(row)
    lacking = verdict.verdict == "not measured"
    told = f"{'To be measured' if lacking else 'Measured'}: {claim.measure}."
    measured = tag("p", badge(verdict.verdict), " ", tag("strong", value) if value else None, " ",
                   row["measure"] if value else told, class_="number")  # fmt: skip
    title = joined([tag("span", claim.id, class_="id"), " ", claim.says])
    return section(
        claim.id,
        title,
        measured,
        tag("p", prose(sentence(verdict.because)), class_="because"),
        _slides(claim.id),
        *(picture.html(_where(decision, picture)) for picture in shown.pictures),
        _further_up(shown.seen),
        *map(table_html, shown.grids[:1]),
        details("More tables", *map(table_html, shown.grids[1:])) if shown.grids[1:] else None,
        details("Rule and notes", tag("p", RULE, prose(verdict.rule)),
                listed(shown.notes) if shown.notes else None),
        ways(again, measured=not decision.command),
        level="h3",
    )  # fmt: skip


def _where(decision: Decision, picture: Picture) -> Html:
    """Which runs a figure is of, and the verdict, where this rests on others."""
    told = f"{decision.runs}." if decision.runs else f"{decision.claim.says}."
    if picture.runs and not decision.runs.endswith(picture.runs):
        told = f"Drawn: {picture.runs}. The verdict rests on {told}"
    return joined([f"{decision.claim.id}. {told}"])


def _further_up(seen: Mapping[str, str]) -> Html | None:
    """Where the figures and tables are that another claim shares."""
    if not seen:
        return None
    links = [tag("a", f"{name} ({claim})", href=f"#{claim}") for name, claim in seen.items()]
    return tag("p", "Figure and tables stand further up: ", joined(links, ", "), ".")


def _slides(claim: str) -> Html | None:
    """The printed numbers that belong to a claim."""
    ids = SLIDES.get(claim)
    if not ids:
        return None
    links = joined([tag("a", name, href=f"#printed-{name}") for name in ids], ", ")
    return tag("p", "On the slides: ", links, ".", class_="slides")


def further(one: Further, place: int, again: Ways) -> Html:
    """A sweep that no claim rests on: its question, its table, what stands under it."""
    page, head = one.page, tag("code", one.folder.name)
    asked = tag("p", prose(one.question)) if one.question else None
    if isinstance(page, str):
        told = tag("p", page)
        return section(f"further-{place}", head, asked, told, ways(again), level="h3")
    return section(
        f"further-{place}",
        head,
        asked,
        tag("p", _seeds(one)),
        _pictured(one),
        *map(table_html, grids(page.table, page.title)),
        judged(page.judged),
        details("Notes", listed(page.caption)),
        ways(again),
        level="h3",
    )


def _pictured(one: Further) -> Html | None:
    """Its figure, with the runs that it is of."""
    if one.picture is None:
        return None
    drawn = f" Drawn: {one.picture.runs}." if one.picture.runs else ""
    return one.picture.html(joined([f"{one.folder.name}.{drawn}"]))


def _seeds(one: Further) -> str:
    """Of what seeds the numbers are: of one they do not tell how far seeds differ."""
    seeds = sorted(map(int, set(one.bundle.runs["seed"])))
    if len(seeds) == 1:
        return f"One seed, {seeds[0]}: how far seeds differ is not known from it."
    return f"Seeds {', '.join(map(str, seeds))}."


def printed(audits: Sequence[Audit]) -> Html:
    """The audit: a row an id of what is printed, what the slide's own arithmetic gives, and why."""
    page = audit_page(audits)
    heads = ["on the slides", "printed", "recomputed", "why"]
    table = captioned(
        page.title,
        tag("thead", tag("tr", *(tag("th", head, scope="col", class_="text") for head in heads))),
        tag("tbody", *map(_audited, audits)),
        kind="texts",
    )
    first, *rules = page.caption
    meaning = details("What the verdicts mean", listed(rules))
    return joined([tag("p", prose(first)), table, meaning])


def _audited(audit: Audit) -> Html:
    """An id with its verdict; what is printed, the same recomputed, and why."""
    head = tag("th", audit.id, tag("span", audit.topic, class_="topic"), badge(audit.verdict),
               scope="row", id=f"printed-{audit.id}")  # fmt: skip
    texts = (audit.printed, audit.recomputed, audit.why)
    return tag("tr", head, *(tag("td", prose(text), class_="text") for text in texts))
