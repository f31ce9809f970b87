"""What trained arms say beside what the slides print: the first steps (L17), L-SHORT."""

from .audit import AUDITS
from .evidence import Evidence
from .formulas import Attention
from .steps import Step, check_steps, columns
from .trained import ArmSteps, DecoderStep, Likely, as_printed, same_words, untold

NOTHING = "(nothing)"
"""How an empty output prints."""


def first_steps(evidence: Evidence, _: Attention) -> list[Step]:
    """L17: at each step the likeliest words, the slide's beside those of each trained arm."""
    slide, arms = evidence.slides.l17, evidence.first
    steps = []
    before = ""
    for place, printed in enumerate(slide.steps):
        words = ", ".join(f"{word} {share}" for word, share in printed.items())
        rows = [("slide", _after(before), words)]
        rows += [(arm.arm, *_shown(arm, place)) for arm in arms]
        given = ", the word before" if place else ""
        total = sum(float(share) for share in printed.values())
        slips = (f"The slide's probabilities sum to {total:.1f}.",) if total > 1 + 1e-9 else ()
        formula = f"P(word | {slide.source}{given})"
        lines = columns(rows if place else [(name, words) for name, _, words in rows])
        steps.append(Step(f"Step {place + 1}", formula, lines, slips))
        before = next(iter(printed))
    if arms:
        said = columns([(arm.arm, arm.translation or NOTHING) for arm in arms])
        steps.append(Step("Translations", "", (*said, *untold(arms))))
    return steps


def _after(word: str) -> str:
    return f"after {_quoted(word)}" if word else ""


def _shown(arm: ArmSteps, place: int) -> tuple[str, str]:
    """The word before and what is likely after it; an arm may have ended before this step."""
    return _step(arm.steps[place]) if place < len(arm.steps) else ("", "ended")


def _step(step: DecoderStep) -> tuple[str, str]:
    parts = [_listed(words) for words in (step.likeliest, step.others) if words]
    return _after(step.before), "; ".join(parts)


def _listed(words: Likely) -> str:
    return ", ".join(f"{_quoted(word)} {_share(share)}" for word, share in words)


def _quoted(word: str) -> str:
    """A token as it is, but one without a letter or digit: a comma would be read as the list's."""
    return word if any(sign.isalnum() for sign in word) else f'"{word}"'


def _share(share: float) -> str:
    """A probability at three decimals; none is 0."""
    return f"{share:.3f}" if share >= 0.0005 else "<0.001"


def short_sentences(evidence: Evidence, _: Attention) -> list[Step]:
    """L-SHORT: the heading's lengths, then each translation beside the slide's, and how many."""
    slide, arms = evidence.slides.short, evidence.short
    rows = []
    for place, (source, target) in enumerate(slide.pairs):
        rows.append((source, "slide", f"  {target}"))
        for arm in arms:
            output = arm.outputs[place]
            sign = "=" if same_words(output, target) else " "
            rows.append(("", arm.arm, f"{sign} {output or NOTHING}"))
    title, mark = (
        "Said to translate perfectly",
        "= the slide's, case and final stop apart",
    )
    steps = [
        *check_steps(AUDITS["L-SHORT"](evidence)),
        Step(title, mark if arms else "", columns(rows)),
    ]
    if arms:
        counts = columns(as_printed(arms, slide.pairs))
        steps.append(Step("As the slide has them", "", (*counts, *untold(arms))))
    return steps
