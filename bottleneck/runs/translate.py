"""Translating with a finished run: the folder read back, the user's sentence put through."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flax import nnx

from ..corpus.batches import encode_pairs, evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..corpus.prepare import prepare_source
from ..corpus.tokens import detokenize, plain, tokenize
from ..corpus.vocabulary import Vocabulary
from ..decoding.search import make_search
from ..model.translator import Weights, create
from ..results.folders import (
    SETTINGS,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    WEIGHTS,
    read_json,
)
from ..settings.errors import UserError
from ..settings.run import RunSettings, parse_settings
from .weights import load_weights


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """A run read back from its folder."""

    settings: RunSettings
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    graph: nnx.GraphDef
    weights: Weights

    def prepare(self, sentence: str) -> str:
        """The user's sentence in the form that the corpus has."""
        return prepare_source(sentence, self.settings.corpus)

    def unknown(self, sentence: str) -> list[str]:
        """Words of the sentence that the run has never seen."""
        known = set(self.source_vocabulary.words)
        words = tokenize(self.prepare(sentence))
        return [plain(word) for word in words if word not in known]

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """Translate with the search that the run's settings name."""
        pairs = [SentencePair(self.prepare(sentence), "") for sentence in sentences]
        encoded = encode_pairs(
            pairs,
            self.source_vocabulary,
            self.target_vocabulary,
            self.settings.model.reverse_source,
        )
        batches = evaluation_batches(encoded, len(pairs))
        search = make_search(self.graph, self.settings.decoding)
        outputs = [search(self.weights, b.batch.source, b.batch.source_lengths) for b in batches]
        rows = restore([np.asarray(output.tokens) for output in outputs], batches)
        return [detokenize(self.target_vocabulary.decode(row.tolist())) for row in rows]


def load_run(folder: Path) -> TrainedRun:
    """Read a run's folder; a missing or damaged one is a ``UserError`` that names the file."""
    settings = parse_settings(read_json(folder / SETTINGS))
    source = Vocabulary.load(folder / SOURCE_VOCABULARY)
    target = Vocabulary.load(folder / TARGET_VOCABULARY)
    graph, like = create(settings.model, len(source), len(target), settings.training.seed)
    return TrainedRun(settings, source, target, graph, load_weights(_weights(folder), like))


def _weights(folder: Path) -> Path:
    path = folder / WEIGHTS
    if not path.is_file():
        raise UserError(f"no weights in {str(folder)!r}; run `bottleneck reproduce` first")
    return path
