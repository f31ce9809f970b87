"""One frozen model per concern of a run: corpus, model, training, decoding, scoring.

Every field is a setting that ``--set section.field=value`` and a sweep file can name.

Length buckets are the same for every corpus, system and table, fixed before looking. A length is
the number of whitespace-separated source words, before tokenisation. Buckets are given by their
lower edges; the last is open, and what lies below the first edge is outside all.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from jaxtyping import Int
from numpy import ndarray
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from .errors import quoted


class Concern(BaseModel):
    """A frozen group of settings; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_or_false(cls, value: object, info: Any) -> object:
        """Pydantic would take "yes" or 0 for a truth, and a truth for a number."""
        kind = cls.model_fields[info.field_name].annotation
        if kind is bool and not isinstance(value, bool):
            raise ValueError("write true or false")
        if kind in (int, float, int | None) and isinstance(value, bool):
            raise ValueError("input should be a number")
        if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
            raise ValueError("not UTF-8 text; a file with such a name must be renamed")
        return value


NAMED = ("multi30k", "tatoeba", "europarl", "news-commentary")
"""Real text that ``bottleneck corpus fetch`` brings."""
FILES = ("source", "target", "valid_source", "valid_target", "test_source", "test_target")
"""Settings that name the user's files: where the data lies, not what it is."""

Lexicon = Literal["small", "full"]


class CorpusSettings(Concern):
    """Which sentence pairs, how many, how long, and how they become tokens.

    ``train_max_words`` shortens training and validation alone. Sentences outside ``test_min_words``
    to ``test_max_words`` are left out of the test set, before ``joined`` of them are made into one;
    nothing else changes. ``test`` names another corpus: what a run on that one is tested on.
    ``reverse_direction`` translates French to English: lengths are then those of the French.
    ``tokens`` subwords are learned on the training side, as many as the vocabularies say.
    ``lexicon`` is the grammar's: the small one has a quarter of the nouns, verbs and adjectives.
    """

    name: Literal["grammar", "copy", "files", *NAMED] = "grammar"
    seed: int = Field(1, ge=0, le=2**63 - 1)
    train_pairs: int = Field(20_000, ge=1)
    valid_pairs: int = Field(500, ge=1)
    test_pairs: int = Field(1_200, ge=1)
    lengths: Literal["buckets", "uniform"] = "buckets"
    min_words: int = Field(2, ge=1)
    max_words: int = Field(60, ge=1)
    train_max_words: int | None = Field(None, ge=1)
    test_min_words: int | None = Field(None, ge=1)
    test_max_words: int | None = Field(None, ge=1)
    joined: int = Field(1, ge=1)
    lexicon: Lexicon = "full"
    copy_words: int = Field(1_000, ge=2)
    source: str | None = None
    target: str | None = None
    valid_source: str | None = None
    valid_target: str | None = None
    test_source: str | None = None
    test_target: str | None = None
    test: Literal[*NAMED] | None = None
    reverse_direction: bool = False
    tokens: Literal["words", "subwords"] = "words"
    source_vocabulary: int = Field(10_000, ge=1)
    target_vocabulary: int = Field(10_000, ge=1)
    lowercase: bool = False

    @property
    def is_drawn(self) -> bool:
        """Whether a language whose rules are known made the text: links and bits are known too."""
        return self.name in ("grammar", "copy")

    @property
    def has_classes(self) -> bool:
        """Whether the class of every source word is known: of the grammar's English."""
        return self.name == "grammar" and not self.reverse_direction

    @property
    def longest_trained(self) -> int:
        """Most source words of a training or validation sentence."""
        return self.max_words if self.train_max_words is None else self.train_max_words

    @model_validator(mode="after")
    def _consistent(self) -> "CorpusSettings":
        if not self.min_words <= self.longest_trained <= self.max_words:
            raise ValueError(
                f"min_words {self.min_words}, train_max_words {self.longest_trained} and max_words "
                f"{self.max_words} must be in this order"
            )
        given = [key for key in FILES if getattr(self, key) is not None]
        if given and self.name != "files":
            raise ValueError(f"{given[0]} is for corpus 'files', not for {self.name!r}")
        if self.test and (self.is_drawn or self.test_source or self.test_target):
            raise ValueError(
                f"test={self.test} is for real text, not for corpus {self.name!r} or beside "
                "test_source"
            )
        return self


UNSELECTIVE = ("none", "uniform")
"""Values of ``model.attention`` with which no source word gets a larger weight than another."""


class ModelSettings(Concern):
    """The translator (LECTURE D): cells, sizes, attention and its placement.

    With ``tied_output`` the output layer's matrix is the target embedding, behind a linear map to
    its width: on a large vocabulary fewer numbers to train and a cheaper softmax. With ``source``
    hidden the decoder learns that there is a source and nothing of it: it is a model of the target
    language.
    """

    attention: Literal["none", "dot", "scaled-dot", "general", "additive", "uniform"] = "additive"
    placement: Literal["input", "output"] = "input"
    cell: Literal["rnn", "gru", "lstm"] = "gru"
    embedding_size: int = Field(100, ge=1)
    context_size: int = Field(256, ge=1)
    hidden_size: int | None = Field(None, ge=1)
    attention_size: int | None = Field(None, ge=1)
    layers: int = Field(1, ge=1)
    bidirectional: bool = False
    reverse_source: bool = False
    initial_state: Literal["context", "zero"] = "context"
    residual: bool = False
    dropout: float = Field(0.0, ge=0.0, lt=1.0)
    tied_output: bool = False
    source: Literal["seen", "hidden"] = "seen"

    @property
    def hidden(self) -> int:
        """Width of the recurrent state: the context's own width unless set apart."""
        return self.context_size if self.hidden_size is None else self.hidden_size

    @property
    def points(self) -> bool:
        """Whether the decoder can look at one source word more than at another."""
        return self.source == "seen" and self.attention not in UNSELECTIVE

    @property
    def arm(self) -> str:
        """The attention, and that the source is hidden where it is, for messages."""
        hidden = " with its source hidden" if self.source == "hidden" else ""
        return f"{self.attention}{hidden}"

    @property
    def hidden_apart(self) -> bool:
        """Whether linear maps lie between hidden states and the context.

        They do wherever the hidden size is set, so that runs over context sizes differ in it alone.
        """
        return self.hidden_size is not None

    @property
    def attention_width(self) -> int:
        """Width of the additive score's hidden layer: the context's unless set apart."""
        return self.context_size if self.attention_size is None else self.attention_size

    @model_validator(mode="after")
    def _widths(self) -> "ModelSettings":
        if self.attention in ("dot", "scaled-dot") and self.hidden != self.context_size:
            raise ValueError(
                f"attention {self.attention!r} needs hidden_size equal to context_size "
                f"({self.hidden} and {self.context_size}); use 'general' for unequal widths"
            )
        return self


class TrainingSettings(Concern):
    """How the weights are found: Adam or Muon, with warm-up, linear decay and clipped gradients.

    With ``optimizer`` muon, Muon trains the matrices but for embeddings and the output layer, and
    Adam the rest at the same rate (``training.step``). ``shapes`` is the number of padded
    shapes: more pad less and compile longer. With ``batch_tokens`` a batch holds about that many
    target tokens instead of ``batch_size`` pairs. ``label_smoothing`` is the share of the target's
    probability that the training loss spreads evenly over all that an output may hold (Szegedy et
    al. 2016, section 7). The weights that are kept are the mean over the last ``average_last``
    share of all updates (Polyak and Juditsky 1992); 0 keeps those of the least validation loss.
    """

    seed: int = Field(1, ge=0, le=2**63 - 1)
    updates: int = Field(3_000, ge=1)
    batch_size: int = Field(64, ge=1)
    batch_tokens: int | None = Field(None, ge=1)
    optimizer: Literal["adam", "muon"] = "adam"
    learning_rate: float = Field(2e-3, gt=0)
    warmup_updates: int = Field(200, ge=0)
    final_learning_rate: float = Field(0.05, ge=0, le=1)
    clip_norm: float = Field(1.0, gt=0)
    teacher_forcing: float = Field(1.0, ge=0.5, le=1.0)
    validations: int = Field(10, ge=1)
    shapes: int = Field(14, ge=1)
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    average_last: float = Field(0.0, ge=0, lt=1)


class DecodingSettings(Concern):
    """Greedy (beam 1) or beam search; the output cap is ``cap_factor * source + cap_extra``.

    With ``copy_unknown`` an unknown word in the output is replaced by the source word that got the
    largest attention weight (Luong et al. 2015b, section 3.3).
    """

    beam_size: int = Field(1, ge=1, le=10_000)
    length_penalty: float = Field(1.0, ge=0)
    cap_factor: float = Field(2.0, gt=0)
    cap_extra: int = Field(10, ge=0)
    copy_unknown: bool = False


class ScoringSettings(Concern):
    """Length buckets (lower edges, source words; the last is open) and the bootstrap."""

    edges: str = "5,11,21,31,41"
    resamples: int = Field(1_000, ge=1, le=10_000_000)
    seed: int = Field(1, ge=0, le=2**63 - 1)

    @property
    def lower_edges(self) -> tuple[int, ...]:
        """The buckets' lowest source lengths in words, ascending."""
        return tuple(int(edge) for edge in self.edges.split(","))

    @model_validator(mode="after")
    def _ascending(self) -> "ScoringSettings":
        try:
            edges = self.lower_edges
        except ValueError:
            edges = ()
        if len(edges) < 2 or edges[0] < 1 or [*edges] != sorted({*edges}):
            raise ValueError(
                f"edges {quoted(self.edges)} must be two or more ascending whole numbers above 0, "
                "with commas"
            )
        return self


OUTSIDE = -1
"""The place of a sentence that is shorter than every bucket."""


def bucket_of(words: int, edges: tuple[int, ...]) -> int:
    """Place of the bucket that holds this length, ``OUTSIDE`` below the first edge."""
    return bisect_right(edges, words) - 1


def bucket_labels(edges: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the buckets: ``("5-10", "11-20", "21+")`` for edges 5, 11, 21."""
    closed = [span_label(low, high - 1) for low, high in pairwise(edges)]
    return (*closed, f"{edges[-1]}+")


def span_label(low: int, high: int) -> str:
    """``"5-10"``, or ``"5"`` where both ends are the same."""
    return str(low) if low == high else f"{low}-{high}"


def holds(bucket: str, words: int) -> bool:
    """Whether a bucket of this name ("21-30", "41+") holds sentences of so many words."""
    if bucket.endswith("+"):
        return words >= int(bucket[:-1])
    low, _, high = bucket.partition("-")
    return int(low) <= words <= int(high or low)


@dataclass(frozen=True)
class Buckets:
    """Ranges of source length from ascending lower edges (words); the last one is open."""

    edges: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names such as ``5-10`` and, for the last, ``41+``."""
        return bucket_labels(self.edges)

    def assign(self, words: Int[ndarray, "sentences"]) -> Int[ndarray, "sentences"]:
        """Index of each sentence's bucket, `OUTSIDE` below the first edge."""
        return np.searchsorted(self.edges, words, side="right") - 1
