"""``bottleneck diagnose``: which words of a sentence reach the translation, in every arm."""

from typing import Annotated

import typer

from ..settings.errors import counted
from .console import say, show
from .learned import say_unlearned, told_runs
from .options import Form, OneRunOrMore, check_sentence
from .reproduce import DEFAULT_OUT


def diagnose(
    sentence: Annotated[
        str | None,
        typer.Argument(help="An English sentence [default: the lecture's own long sentence]."),
    ] = None,
    results: OneRunOrMore = None,
    form: Form = "rich",
) -> None:
    """Show which words of a sentence survive translation."""
    from ..lecture.slides import SLIDES
    from ..questions.diagnosis import diagnose as diagnosed
    from ..questions.diagnosis import diagnosis_page
    from ..results.discovery import latest_output, trained_arms
    from ..runs.environment import use_cache
    from ..settings.errors import UsageError
    from ..tables.page import check_format

    check_format(form)
    if sentence is not None:
        check_sentence(sentence)
        if not any(sign.isalnum() for sign in sentence):
            raise UsageError("the sentence has no words; write it in quotes")
    folder = results if results is not None else latest_output(DEFAULT_OUT)
    found = trained_arms(folder)
    use_cache()
    ordered = {arm: found[arm] for arm in sorted(found, key=lambda arm: (arm != "none", arm))}
    slide = SLIDES["L14"]
    held = diagnosed(
        slide["sentence"] if sentence is None else sentence,
        ordered,
        lambda words: say(words, err=True),
    )
    length = counted(held.words, "word")
    notes = [told_runs(folder, results, ordered)]
    if sentence is None:
        length += f" (the slide says {slide['words']}, elsewhere {slide['words_elsewhere']})"
        notes.append(
            "Slide (L-LOST): topic, main fact, frame and tone survive; "
            f"{', '.join(SLIDES['L-LOST']['lost'])} and the conference's exact name are lost."
        )
    page = diagnosis_page(held, length, notes)
    show(page, form)
    say_unlearned(ordered)
