"""One frozen model per concern of a run: corpus, model, training, decoding, scoring.

Every field is a setting that ``--set section.field=value`` and a sweep file can name.

Length buckets are the same for every corpus, system and table, fixed before looking. A length is
the number of whitespace-separated source words, before tokenisation (characters, where the script
has no spaces: `corpus.vocabulary.count_words`). Buckets are given by their lower edges; the last is
open, and what lies below the first edge is outside all.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Int
from numpy import ndarray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from .errors import quoted


class Concern(BaseModel):
    """A frozen group of settings; unknown names are refused, and so is 0 for false."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


NAMED = ("multi30k", "tatoeba", "europarl", "news-commentary")
"""Real text that ``bottleneck corpus fetch`` brings."""
FILES = ("source", "target", "valid_source", "valid_target", "test_source", "test_target")
"""Settings that name the user's files: where the data lies, not what it is."""

Lexicon = Literal["small", "full"]


class CorpusSettings(Concern):
    """Which sentence pairs, how many, how long, and how they become tokens.

    ``train_max_words`` shortens training and validation alone, ``test_min_words`` and
    ``test_max_words`` restrict the test set, before ``joined`` of its sentences are made into one.
    ``test`` names another corpus, to be tested on. ``reverse_direction`` is French to English:
    lengths are then those of the French. ``tokens`` subwords are learned on the training side, as
    many as the vocabularies say. The small ``lexicon`` has a quarter of the grammar's words.
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
            raise ValueError("min_words, train_max_words and max_words must be in this order")
        given = [key for key in FILES if getattr(self, key) is not None]
        if given and self.name != "files":
            raise ValueError(f"{given[0]} is for corpus 'files', not for {self.name!r}")
        for key in given:
            if getattr(self, key).encode(errors="replace").decode() != getattr(self, key):
                raise ValueError(f"{key} is not UTF-8 text; rename the file")
        if self.test and (self.is_drawn or self.test_source or self.test_target):
            raise ValueError(f"test={self.test} is for real text without a test_source")
        return self


UNSELECTIVE = ("none", "uniform")
"""Values of ``model.attention`` with which no source word gets a larger weight than another."""


class ModelSettings(Concern):
    """The translator (LECTURE D): cells, sizes, attention and its placement.

    With ``tied_output`` the output layer's matrix is the target embedding, behind a linear map to
    its width. With ``source`` hidden the decoder is a model of the target language.
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
        """Whether linear maps lie between hidden states and the context, whatever its size."""
        return self.hidden_size is not None

    @property
    def attention_width(self) -> int:
        """Width of the additive score's hidden layer: the context's unless set apart."""
        return self.context_size if self.attention_size is None else self.attention_size

    @model_validator(mode="after")
    def _widths(self) -> "ModelSettings":
        if self.attention in ("dot", "scaled-dot") and self.hidden != self.context_size:
            raise ValueError(
                f"attention {self.attention!r} needs hidden_size equal to context_size, not "
                f"{self.hidden} and {self.context_size}; use 'general'"
            )
        return self


class TrainingSettings(Concern):
    """How the weights are found: Adam or Muon, with warm-up, linear decay and clipped gradients.

    Muon trains the matrices but for embeddings and the output layer, Adam the rest at the same rate
    (``training.step``). ``shapes`` is the number of padded shapes: more pad less and compile
    longer. ``batch_tokens`` counts target tokens, instead of ``batch_size`` pairs.
    ``label_smoothing`` is the share of the target's probability that the training loss spreads
    evenly (Szegedy et al. 2016, section 7). ``average_last`` keeps the mean of the weights over the
    last share of all updates (Polyak and Juditsky 1992), 0 those of the least validation loss.
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
    """Length buckets (lower edges, source words; the last is open), BLEU's tokenizer, bootstrap."""

    edges: str = "5,11,21,31,41"
    resamples: int = Field(1_000, ge=1, le=10_000_000)
    seed: int = Field(1, ge=0, le=2**63 - 1)
    tokenize: str = "13a"

    @property
    def lower_edges(self) -> tuple[int, ...]:
        """The buckets' lowest source lengths in words, ascending."""
        return tuple(int(edge) for edge in self.edges.split(","))

    @model_validator(mode="after")
    def _ascending(self) -> "ScoringSettings":
        try:
            edges = [0, *self.lower_edges]
        except ValueError:
            edges = []
        if len(edges) < 3 or edges != sorted({*edges}):
            raise ValueError(
                f"edges {quoted(self.edges)}: give two or more ascending whole numbers above 0, "
                "such as 5,11,21"
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
    low, _, high = bucket.removesuffix("+").partition("-")
    return int(low) <= words and (bucket.endswith("+") or words <= int(high or low))


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
