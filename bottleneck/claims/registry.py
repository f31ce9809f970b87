"""The lecture's claims in order: what each says, what is measured, what produces and decides it.

A claim with a ``study`` is decided from the study's table alone, ``probes/NAME.csv``, with the rows
of the arms that `tables.claims.judge` chooses, by the rule of the study's question. The other
claims are decided from the runs themselves (`tables.claims`), by a rule of this room.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pandas as pd

from .rules import RULES
from .verdict import Verdict, conclude

NONE, ATTENTION = "none", "attention"
"""Arms that a claim needs: no attention, and any attention whose weights are learned."""


@dataclass(frozen=True)
class Claim:
    """A claim of the lecture.

    ``makes`` are the words of the command that produces what decides it, without the folder, if
    it is not its study's. ``arms`` are those that the study needs to decide it:
    `NONE`, `ATTENTION`. ``known`` are the corpora that know what the claim needs (links, word
    classes), if not all do. With ``own_runs`` it is decided by runs of its own, in a folder of
    their own. ``sweep`` has its numbers too, if ``makes`` names none. With ``learned`` the rule
    judges only arms that have learned to translate; other claims have a floor of their own.
    """

    id: str
    says: str
    measure: str
    makes: str = ""
    study: str = ""
    arms: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    own_runs: bool = False
    sweep: str = ""
    learned: bool = False

    @property
    def command(self) -> str:
        """The words of the command, without the folder."""
        return self.makes or f"study {self.study}"

    @property
    def home(self) -> str:
        """The folder that has its numbers, in a results folder of several: named by the sweep."""
        if self.own_runs or self.sweep:
            return self.sweep or self.study
        kind, _, name = self.makes.partition(" ")
        return name if kind == "sweep" else "vindication"


CLAIMS: tuple[Claim, ...] = (
    Claim("L-FAIL", "Without attention quality falls as sentences grow longer",
          "BLEU without attention by sentence length", makes="reproduce"),
    Claim("L-VIND", "Attention helps where sentences are long, more than where they are short",
          "attention minus none, BLEU, by sentence length", makes="reproduce"),
    Claim("L-VIND-short", "Short sentences gain little from attention",
          "attention minus none as a share of attention's BLEU, shortest sentences",
          makes="reproduce"),
    Claim("L-VIND-rising", "The improvement in per cent rises from bucket to bucket",
          "improvement in per cent of BLEU without attention, by sentence length",
          makes="reproduce"),
    Claim("L-VIND-largest", "The gain is largest where the bottleneck hurt most",
          "the bucket of the largest gain, and that of the lowest BLEU without attention",
          makes="reproduce"),
    Claim("C1", "The compression ratio predicts the loss of quality",
          "rank correlation of BLEU without attention with the ratio, over sizes and lengths",
          makes="sweep context_size"),
    Claim("C2", "256 numbers hold so many words and no more",
          "length at which half of the words survive, by context size", study="capacity",
          known=("grammar", "copy"), own_runs=True),
    Claim("C3", "Gist survives, detail is lost",
          "recall of source content in the output, by word class and position", study="survival",
          arms=(NONE,), known=("grammar",)),
    Claim("C4", "A sentence uses part of the context: capacity used, 200 of 256",
          "effective dimensions of the context vectors, by length", study="dimensions",
          arms=(NONE,), learned=True),
    Claim("C5", "Numbers are lost: 91 % of 30 words are discarded",
          "bits of the source recovered, of those that it has, by length", study="information",
          arms=(NONE,)),
    Claim("C6", "Attention keeps every state: capacity Tx x 256",
          "bits of the source recovered with attention, by length", study="information",
          arms=(NONE, ATTENTION)),
    Claim("C7", "Alignment is learned for free, and can be read off",
          "alignment error rate of the attention weights against the grammar's own alignment",
          study="alignment", arms=(ATTENTION,), known=("grammar", "copy"), learned=True),
    Claim("C8", "Attention shortens the path for gradients",
          "norm of the loss gradient at source words, by distance, with and without attention",
          study="gradients", arms=(NONE, ATTENTION), known=("grammar", "copy"), learned=True),
    Claim("C9", "Attention's cost grows with Tx x Ty",
          "exponent of the length in the time that attention adds to a training step",
          study="cost", own_runs=True, sweep="bench"),
    Claim("C10", "Selection beats compression",
          "attention minus each control that does not select, BLEU of the longest sentences",
          makes="sweep controls"),
    Claim("C11", "The same network serves any length, in and out",
          "length of outputs against references; empty, unfinished, repeating outputs",
          study="length", arms=(ATTENTION,), learned=True),
    Claim("C12", "It is training, not only capacity",
          "what twice the updates add without attention, BLEU, by sentence length",
          makes="reproduce --check-schedule", sweep="controls"),
    Claim("C13", "Training places similar words near each other",
          "neighbours of a trained embedding of its own word class, against an untrained one",
          study="embeddings", known=("grammar",), learned=True),
    Claim("C14", "The state is the understanding so far, word by word",
          "what can be read from the encoder's state of the words so far",
          study="reading", arms=(NONE,), learned=True),
)  # fmt: skip


def verdict_on(claim: str, *measured: Any, **named: Any) -> Verdict:
    """The verdict on a claim that runs decide, from what its rule reads of them."""
    words, judge = RULES[claim]
    return conclude(claim, words, judge(*measured, **named))


def studied(claim: Claim, frame: pd.DataFrame | None) -> Verdict:
    """The verdict on a claim that a study decides, by the rule of its question."""
    question = import_module("...questions.question", __name__).find_question(claim.study)
    return {verdict.claim: verdict for verdict in question.verdict(frame)}[claim.id]
