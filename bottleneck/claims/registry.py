"""The lecture's claims in order: what each says, and which command and rule decide it.

If a claim has a ``study``, its rule is in the study's question and reads ``probes/NAME.csv`` alone.
Otherwise a rule in ``rules.py`` reads the runs. `tables.claims` chooses the runs and rows.
"""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pandas as pd

from .rules import RULES
from .verdict import FLOOR_BLEU, READ_FROM, Verdict, small_buckets, unlearned

FIRST = "Of several experiments in a folder, the claim's own decides, or else the first that can."
"""The last sentence of every rule that several experiments could decide."""


@dataclass(frozen=True)
class Claim:
    """A claim of the lecture.

    ``makes`` is the command that produces its data, unless a ``study`` does. ``home`` is the
    experiment that decides it if several can. ``arms`` are the kinds of arms that it needs (none,
    and attention: any whose weights are learned), ``corpora`` the corpora that have what it needs
    (empty: all have). ``own_runs``: a sweep for this claim alone makes its runs. ``learned``: only
    arms that have learned to translate count.
    """

    id: str
    says: str
    makes: str = ""
    study: str = ""
    home: str = "vindication"
    arms: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    own_runs: bool = False
    learned: bool = False


CLAIMS: tuple[Claim, ...] = (
    Claim("L-FAIL", "Without attention quality falls as sentences grow longer", "reproduce"),
    Claim("L-VIND", "Attention helps where sentences are long, more than where they are short",
          "reproduce"),
    Claim("L-VIND-short", "Short sentences gain little from attention", "reproduce"),
    Claim("L-VIND-rising", "The improvement in per cent rises from bucket to bucket", "reproduce"),
    Claim("L-VIND-largest", "The gain is largest where the bottleneck hurt most", "reproduce"),
    Claim("C1", "The compression ratio predicts the loss of quality", "sweep context_size",
          home="context_size"),
    Claim("C2", "256 numbers hold a fixed number of words", study="capacity", home="capacity",
          corpora=("grammar", "copy"), own_runs=True),
    Claim("C3", "Gist survives, detail is lost", study="survival", arms=("none",),
          corpora=("grammar",)),
    Claim("C4", "A sentence uses part of the context: capacity used, 200 of 256",
          study="dimensions", arms=("none",), learned=True),
    Claim("C5", "Numbers are lost: 91 % of 30 words are discarded", study="information",
          arms=("none",)),
    Claim("C6", "Attention keeps every state: capacity Tx x 256", study="information",
          arms=("none", "attention")),
    Claim("C7", "Alignment is learned for free, and can be read off", study="alignment",
          arms=("attention",), corpora=("grammar", "copy"), learned=True),
    Claim("C8", "Attention shortens the path for gradients", study="gradients",
          arms=("none", "attention"), corpora=("grammar", "copy"), learned=True),
    Claim("C9", "Attention's cost grows with Tx x Ty", study="cost", home="bench", own_runs=True),
    Claim("C10", "Selection beats compression", "sweep controls", home="controls"),
    Claim("C11", "The same network serves any length, in and out", study="length",
          arms=("attention",), learned=True),
    Claim("C12", "It is training, not only capacity", "reproduce --check-schedule",
          home="controls"),
    Claim("C13", "Training places similar words near each other", study="embeddings",
          corpora=("grammar",), learned=True),
    Claim("C14", "The state is the understanding so far, word by word", study="reading",
          arms=("none",), learned=True),
)  # fmt: skip


def verdict_on(claim: str, *measured: Any, reason: str = "", **named: Any) -> Verdict:
    """The verdict on a claim that runs decide; ``reason`` says why there is nothing to judge."""
    words, judge = RULES[claim]
    of_tables = claim.startswith("L-")
    if of_tables:
        words += (
            " It reads the first arm with attention (not uniform) and its baseline, on the seeds "
            f"that both have, and at least two buckets of {READ_FROM} sentences or more."
        )
    words = f"{words} {FIRST}"
    if reason or not of_tables:
        return Verdict.of(claim, words, reason or judge(*measured, **named))
    filled = [row for row in measured[0] if row.none.bleu.filled]
    rows = [row for row in filled if row.none.n >= READ_FROM]
    if len(rows) < 2:
        judged = f"fewer than two buckets have {READ_FROM} sentences or more"
    elif claim.startswith("L-VIND") and not any(
        row.attention.bleu.value >= FLOOR_BLEU for row in rows
    ):
        judged = unlearned("with attention", "every bucket")
    else:
        judged = judge(rows)
    if not isinstance(judged, str):
        few = ", ".join(row.name for row in filled if row.none.n < READ_FROM)
        small = small_buckets({row.name: row.none.n for row in filled})
        clauses = [*judged.because, small, few and f"not read: {few}"]
        judged = replace(judged, because=clauses)
    return Verdict.of(claim, words, judged)


def study_verdict(claim: Claim, frame: pd.DataFrame | str) -> Verdict:
    """The verdict on a claim from its study's table, or from a text that says why there is none."""
    question = import_module("...questions.question", __name__).find_question(claim.study)
    verdict = next(item for item in question.verdict(frame) if item.claim == claim.id)
    if claim.own_runs:
        return verdict
    family = (
        "The rule judges one family: an arm and the arms that are compared with it, which differ "
        "only in attention and seed. It takes the first family in the sweep's file that has the "
        "arms of the claim, if possible on a corpus that has what the claim needs. Other arms are "
        "only reported."
    )
    learned = (
        f"An arm with BLEU under {FLOOR_BLEU:g} in the shortest filled bucket has not learned to "
        "translate: it is left out and named. Not measured if no arm is left, or if none is left "
        "of a kind (with or without attention) that the claim is about."
    )
    ends = [family, FIRST, learned] if claim.learned else [family, FIRST]
    return replace(verdict, rule=" ".join([verdict.rule, *ends]))
