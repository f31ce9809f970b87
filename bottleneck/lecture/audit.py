"""The audit of the lecture's printed numbers, by id."""

from collections.abc import Callable, Mapping

from .arithmetic import (
    amplification,
    capacity,
    character_codes,
    compression_by_length,
    dot_products,
    relevance,
    sentence_compression,
    toy_embedding,
    worked_example,
)
from .checks import Audit
from .evidence import Evidence
from .quality import bucket_ratio, failure_pattern, improvement, quality_drop, vindication
from .sentences import (
    attention_code,
    attention_cost,
    example_matrix,
    first_steps,
    gold_alignment,
    long_sentence,
    lost_words,
    short_sentences,
)

AUDITS: Mapping[str, Callable[[Evidence], Audit]] = {
    "L1": character_codes,
    "L2": toy_embedding,
    "L3": sentence_compression,
    "L4": compression_by_length,
    "L5": relevance,
    "L6": dot_products,
    "L7": worked_example,
    "L8": amplification,
    "L9": capacity,
    "L10": example_matrix,
    "L11": quality_drop,
    "L12": bucket_ratio,
    "L13": improvement,
    "L14": long_sentence,
    "L15": attention_cost,
    "L16": gold_alignment,
    "L17": first_steps,
    "L18": attention_code,
    "L-FAIL": failure_pattern,
    "L-VIND": vindication,
    "L-SHORT": short_sentences,
    "L-LOST": lost_words,
}
"""What audits each id, in the lecture's order."""


def audit_all(evidence: Evidence) -> list[Audit]:
    """The audit of every id."""
    return [make(evidence) for make in AUDITS.values()]
