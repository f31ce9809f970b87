"""The lecture's claims in order: what each says, and which command and rule decide it.

If a claim has a ``study``, its rule is in the study's question and reads ``probes/NAME.csv`` alone.
Otherwise a rule in ``rules.py`` reads the runs. `tables.claims` chooses the runs and rows.
"""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pandas as pd

from .rules import RULES
from .verdict import FLOOR_BLEU, Verdict

NONE, ATTENTION = "none", "attention"
"""Kinds of arms: without attention, and with any attention whose weights are learned."""
FIRST = "Of several experiments in a folder, the claim's own decides, or else the first that can."
FAMILY = (
    "The rule judges one family: an arm and the arms that are compared with it, which differ only "
    "in attention and seed. It takes the first family in the sweep's file that has the arms of the "
    "claim, if possible on a corpus that has what the claim needs. Other arms are only reported."
)
LEARNED = (
    f"An arm with BLEU under {FLOOR_BLEU:g} in the shortest filled bucket has not learned to "
    "translate: it is left out and named. Not measured if no arm is left, or if none is left of a "
    "kind (with or without attention) that the claim is about."
)
"""Last sentences of the rules: which experiment decides, and which arms count."""


@dataclass(frozen=True)
class Claim:
    """A claim of the lecture.

    ``makes`` is the command that produces its data, unless a ``study`` does. ``home`` is the
    experiment that decides it if several can. ``arms`` are the kinds of arms that it needs,
    ``corpora`` the corpora that have what it needs (empty: all have). ``own_runs``: a sweep for
    this claim alone makes its runs. ``learned``: only arms that have learned to translate count.
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

    @property
    def command(self) -> str:
        """The words of the command, without the folder."""
        return self.makes or f"study {self.study}"


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
    Claim("C3", "Gist survives, detail is lost", study="survival", arms=(NONE,),
          corpora=("grammar",)),
    Claim("C4", "A sentence uses part of the context: capacity used, 200 of 256",
          study="dimensions", arms=(NONE,), learned=True),
    Claim("C5", "Numbers are lost: 91 % of 30 words are discarded", study="information",
          arms=(NONE,)),
    Claim("C6", "Attention keeps every state: capacity Tx x 256", study="information",
          arms=(NONE, ATTENTION)),
    Claim("C7", "Alignment is learned for free, and can be read off", study="alignment",
          arms=(ATTENTION,), corpora=("grammar", "copy"), learned=True),
    Claim("C8", "Attention shortens the path for gradients", study="gradients",
          arms=(NONE, ATTENTION), corpora=("grammar", "copy"), learned=True),
    Claim("C9", "Attention's cost grows with Tx x Ty", study="cost", home="bench", own_runs=True),
    Claim("C10", "Selection beats compression", "sweep controls", home="controls"),
    Claim("C11", "The same network serves any length, in and out", study="length",
          arms=(ATTENTION,), learned=True),
    Claim("C12", "It is training, not only capacity", "reproduce --check-schedule",
          home="controls"),
    Claim("C13", "Training places similar words near each other", study="embeddings",
          corpora=("grammar",), learned=True),
    Claim("C14", "The state is the understanding so far, word by word", study="reading",
          arms=(NONE,), learned=True),
)  # fmt: skip


def verdict_on(claim: str, *measured: Any, reason: str = "", **named: Any) -> Verdict:
    """The verdict on a claim that runs decide; ``reason`` says why there is nothing to judge."""
    words, judge = RULES[claim]
    return Verdict.of(claim, f"{words} {FIRST}", reason or judge(*measured, **named))


def study_verdict(claim: Claim, frame: pd.DataFrame | str) -> Verdict:
    """The verdict on a claim from its study's table, or from a text that says why there is none."""
    question = import_module("...questions.question", __name__).find_question(claim.study)
    verdict = next(item for item in question.verdict(frame) if item.claim == claim.id)
    ends = [] if claim.own_runs else [FAMILY, FIRST, *([LEARNED] if claim.learned else [])]
    return replace(verdict, rule=" ".join([verdict.rule, *ends]))
