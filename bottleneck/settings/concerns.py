"""One frozen model per concern of a run: corpus, model, training, decoding, scoring.

Every field is a setting that ``--set section.field=value`` and a sweep file can name.

A length is the number of whitespace-separated source words, before tokenisation (of characters, if
the script has no spaces: `corpus.vocabulary.count_words`). Length buckets are given by their lower
edges; the last bucket is open, and a sentence below the first edge is in no bucket.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from jaxtyping import Int, Real
from pydantic import BaseModel, ConfigDict, Field, model_validator

from .errors import quoted


class Concern(BaseModel):
    """A frozen group of settings; unknown names and wrong types (0 for false) are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def setting(default: Any, meaning: str, **bounds: Any) -> Any:
    """A field with its meaning, which `bottleneck settings` prints, and its bounds (``ge=1``)."""
    return Field(default, description=meaning, **bounds)


UNSELECTIVE = ("none", "uniform")
"""Values of ``model.attention`` that cannot weight one source word more than another."""
NAMED = ("multi30k", "tatoeba", "europarl", "news-commentary")
"""Real text that ``bottleneck corpus NAME --fetch`` downloads."""
FILES = ("source", "target", "valid_source", "valid_target", "test_source", "test_target")
"""Settings that name the user's files: where the text is, not what is in it."""


class CorpusSettings(Concern):
    """Which sentence pairs, how many, how long, and how they become tokens."""

    name: Literal["grammar", "copy", "files", *NAMED] = setting("grammar", "Source of the text.")
    seed: int = setting(1, "Seed of drawn text.", ge=0, le=2**63 - 1)
    train_pairs: int = setting(20_000, "Sentence pairs to train on, at most.", ge=1)
    valid_pairs: int = setting(500, "Validation pairs, at most.", ge=1)
    test_pairs: int = setting(1_200, "Test pairs, at most.", ge=1)
    lengths: Literal["buckets", "uniform"] = setting("buckets", "Distribution of drawn lengths.")
    min_words: int = setting(2, "Source words of a pair, at least.", ge=1)
    max_words: int = setting(60, "Source words of a pair, at most.", ge=1)
    train_max_words: int | None = setting(None, "Source words in training, at most.", ge=1)
    test_min_words: int | None = setting(None, "Source words of a test pair, at least.", ge=1)
    test_max_words: int | None = setting(None, "Source words of a test pair, at most.", ge=1)
    joined: int = setting(1, "Test sentences of one bucket that are joined into one.", ge=1)
    lexicon: Literal["small", "full"] = setting("full", "Words of the grammar: two fifths, or all.")
    copy_words: int = setting(1_000, "Vocabulary size of corpus copy.", ge=2)
    source: str | None = setting(None, "File of your training text: its source side, or a TSV.")
    target: str | None = setting(None, "File of your training text, target side.")
    valid_source: str | None = setting(None, "File of your validation set, source side.")
    valid_target: str | None = setting(None, "File of your validation set, target side.")
    test_source: str | None = setting(None, "File of your test set, source side.")
    test_target: str | None = setting(None, "File of your test set, target side.")
    test: Literal[*NAMED] | None = setting(None, "A different corpus to test on.")
    reverse_direction: bool = setting(False, "French to English; lengths are those of the French.")
    tokens: Literal["words", "subwords"] = setting("words", "What the model reads and writes.")
    source_vocabulary: int = setting(10_000, "Size of the source vocabulary, at most.", ge=1)
    target_vocabulary: int = setting(10_000, "Size of the target vocabulary, at most.", ge=1)
    lowercase: bool = setting(False, "Write all text in lower case.")

    @property
    def is_drawn(self) -> bool:
        """Whether the text is drawn from a known language, so that its links and bits are known."""
        return self.name in ("grammar", "copy")

    @property
    def longest_trained(self) -> int:
        """The most source words of a training or validation sentence."""
        return self.train_max_words or self.max_words

    @model_validator(mode="after")
    def _consistent(self) -> "CorpusSettings":
        if not self.min_words <= self.longest_trained <= self.max_words:
            raise ValueError("min_words, train_max_words and max_words must not decrease")
        given = [key for key in FILES if getattr(self, key) is not None]
        if given and self.name != "files":
            raise ValueError(f"{given[0]} is for corpus 'files', not for {self.name!r}")
        if self.test and (self.is_drawn or self.test_source or self.test_target):
            raise ValueError(f"test={self.test} is for real text without a test_source")
        if self.reverse_direction and self.is_drawn:
            raise ValueError(f"reverse_direction is for real text, not for {self.name!r}")
        if self.joined > 1 and self.name != "grammar":
            raise ValueError(f"joined is for corpus 'grammar', not for {self.name!r}")
        return self


class ModelSettings(Concern):
    """The translator: cells, sizes, attention and its placement."""

    attention: Literal["none", "dot", "scaled-dot", "general", "additive", "uniform"] = setting(
        "additive", "Score of the attention."
    )
    placement: Literal["input", "output"] = setting("input", "Context before or after the cell.")
    cell: Literal["rnn", "gru", "lstm"] = setting("gru", "Recurrent cell.")
    embedding_size: int = setting(100, "Numbers per word.", ge=1)
    context_size: int = setting(256, "Numbers per sentence: the context vector.", ge=1)
    hidden_size: int | None = setting(None, "Numbers per hidden state; none: context_size.", ge=1)
    attention_size: int | None = setting(None, "Width of the score; none: context_size.", ge=1)
    layers: int = setting(1, "Layers of the encoder, and of the decoder.", ge=1)
    bidirectional: bool = setting(False, "The encoder reads in both directions.")
    reverse_source: bool = setting(False, "The encoder reads the last word first.")
    initial_state: Literal["context", "zero"] = setting("context", "First state of the decoder.")
    dropout: float = setting(0.0, "Share of values that training drops.", ge=0.0, lt=1.0)
    tied_output: bool = setting(False, "Use the target embedding for the output, too.")

    @property
    def hidden(self) -> int:
        """Width of the recurrent state."""
        return self.hidden_size or self.context_size

    @property
    def attention_width(self) -> int:
        """Width of the additive score."""
        return self.attention_size or self.context_size

    @model_validator(mode="after")
    def _widths(self) -> "ModelSettings":
        if self.attention in ("dot", "scaled-dot") and self.hidden != self.context_size:
            raise ValueError(
                f"attention {self.attention!r} needs hidden_size equal to context_size, not "
                f"{self.hidden} and {self.context_size}; use 'general'"
            )
        return self


class TrainingSettings(Concern):
    """How the weights are trained: Adam or Muon, with warm-up, linear decay and clipped gradients.

    Label smoothing: Szegedy et al. 2016, section 7. Averaging: Polyak and Juditsky 1992.
    """

    seed: int = setting(1, "Seed of weights and batches.", ge=0, le=2**63 - 1)
    updates: int = setting(3_000, "Updates of the weights.", ge=1)
    batch_size: int = setting(64, "Sentence pairs per update.", ge=1)
    batch_tokens: int | None = setting(None, "Target tokens per update, instead of pairs.", ge=1)
    optimizer: Literal["adam", "muon"] = setting("adam", "Optimizer.")
    learning_rate: float = setting(2e-3, "Highest learning rate.", gt=0)
    warmup_updates: int = setting(200, "Updates until the rate is highest.", ge=0)
    final_learning_rate: float = setting(0.05, "Last rate, as a share of the highest.", ge=0, le=1)
    clip_norm: float = setting(1.0, "Largest norm of a gradient.", gt=0)
    teacher_forcing: float = setting(1.0, "Share of true words the decoder reads.", ge=0.5, le=1.0)
    validations: int = setting(10, "How often the validation loss is measured.", ge=1)
    shapes: int = setting(14, "Padded shapes: more of them pad less, but compile longer.", ge=1)
    label_smoothing: float = setting(0.0, "Share of probability spread evenly.", ge=0, lt=1)
    average_last: float = setting(0.0, "Share of last updates that are averaged.", ge=0, lt=1)


class DecodingSettings(Concern):
    """Greedy (beam 1) or beam search; the output cap is ``cap_factor * source + cap_extra``."""

    beam_size: int = setting(1, "Translations kept at a time; 1 is greedy.", ge=1, le=10_000)
    length_penalty: float = setting(1.0, "Power of the length that divides a beam's score.", ge=0)
    cap_factor: float = setting(2.0, "Longest output, as a multiple of the source.", gt=0)
    cap_extra: int = setting(10, "Tokens added to the longest output.", ge=0)


class ScoringSettings(Concern):
    """Length buckets, BLEU's tokenizer, bootstrap."""

    edges: str = setting("5,11,21,31,41", "Lower edges of the length buckets, in source words.")
    resamples: int = setting(1_000, "Resamples of the bootstrap.", ge=1, le=10_000_000)
    seed: int = setting(1, "Seed of the bootstrap.", ge=0, le=2**63 - 1)
    tokenize: str = setting("13a", "sacreBLEU's tokenizer for BLEU.")

    @property
    def lower_edges(self) -> tuple[int, ...]:
        """The lower edges of the buckets, in source words, ascending."""
        return tuple(int(edge) for edge in self.edges.split(","))

    @model_validator(mode="after")
    def _ascending(self) -> "ScoringSettings":
        whole = all(edge.strip().isdecimal() for edge in self.edges.split(","))
        edges = [0, *self.lower_edges] if whole else []
        if len(edges) < 3 or edges != sorted({*edges}):
            raise ValueError(
                f"edges {quoted(self.edges)}: give two or more ascending whole numbers above 0, "
                "such as 5,11,21"
            )
        return self


def bucket_of(words: int | Sequence[int] | np.ndarray, edges: tuple[int, ...]) -> Any:
    """The bucket number (from 0) of each length; -1 for one that is shorter than every bucket."""
    return np.searchsorted(edges, words, side="right") - 1


def bucket_members(
    words: Sequence[int] | Real[np.ndarray, " sentences"], edges: tuple[int, ...]
) -> dict[str, Int[np.ndarray, " rows"]]:
    """The indices of each bucket's sentences, from the lengths of all sentences."""
    assigned = bucket_of(words, edges)
    labels = enumerate(bucket_labels(edges))
    return {label: np.flatnonzero(assigned == place) for place, label in labels}


def bucket_labels(edges: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the buckets: ``("5-10", "11-20", "21+")`` for edges 5, 11, 21."""
    return *(span_label(low, high - 1) for low, high in pairwise(edges)), f"{edges[-1]}+"


def span_label(low: int, high: int) -> str:
    """``"5-10"``, or ``"5"`` where both ends are the same."""
    return str(low) if low == high else f"{low}-{high}"


def holds(bucket: str, words: int) -> bool:
    """Whether sentences of this length belong to a bucket ("21-30", "41+")."""
    low, _, high = bucket.removesuffix("+").partition("-")
    return int(low) <= words and (bucket.endswith("+") or words <= int(high or low))
