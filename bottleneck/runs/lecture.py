"""What the lecture's worked examples take from the model and from a trained run."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from ..corpus.corpus import Corpus
from ..corpus.pieces import by_word, shares_of
from ..corpus.tokens import tokenize
from ..lecture.formulas import Attention, States, Vector, Weights
from ..lecture.grid import Grid
from ..lecture.slides import SLIDES
from ..model.attention import Score, masked_softmax, weighted_sum
from ..results.folders import SETTINGS
from ..settings.concerns import UNSELECTIVE
from .environment import use_cache
from .examples import attended, readable
from .stored import arms
from .translate import TrainedRun, load_run


def own_attention() -> Attention:
    """The model's dot attention, for one query and without padding."""
    dot = Score(None, None)

    def scores(query: Vector, states: States) -> Weights:
        asked = dot.query(jnp.asarray(query)[None], 1.0)
        return np.asarray(dot.of(asked, jnp.asarray(states)[None])[0], np.float64)

    def softmax(scores: Weights) -> Weights:
        real = jnp.ones((1, len(scores)), bool)
        return np.asarray(masked_softmax(jnp.asarray(scores)[None], real)[0], np.float64)

    def summed(weights: Weights, states: States) -> Vector:
        context = weighted_sum(jnp.asarray(weights)[None], jnp.asarray(states)[None])
        return np.asarray(context[0], np.float64)

    return Attention(scores, softmax, summed)


def learned_weights(folder: Path) -> Grid | None:
    """Weights of a trained run for the words of L10, the slide's French given word by word.

    The folder is an output folder or that of one run; None where no run there has learned weights
    for English to French.
    """
    found = {arm: run for arm, run in arms(folder).items() if (run / SETTINGS).is_file()}
    arm = next((arm for arm in found if arm not in UNSELECTIVE), None)
    if arm is None:
        return None
    use_cache()
    trained = load_run(found[arm])
    return None if trained.settings.corpus.reverse_direction else _grid(arm, trained)


def _grid(arm: str, trained: TrainedRun) -> Grid:
    """The run's matrix, word by word; its last column is the source's end, its rows are words."""
    slide = SLIDES.l10
    source, target = (trained.prepare(" ".join(words)) for words in (slide.english, slide.french))
    vocabularies = trained.source_vocabulary, trained.target_vocabulary
    corpus = Corpus((), (), (), *vocabularies, fingerprint="", notes=())
    pieces = vocabularies[1].pieces(target)
    facts = trained.graph, trained.weights, trained.settings, corpus
    (matrix,) = attended(*facts, [source], [pieces])
    known = set(vocabularies[1].words)
    unknown = [*trained.unknown(source), *(trained.shown(p) for p in pieces if p not in known)]
    words = tokenize(source), tokenize(target)
    shares = [
        shares_of(vocabulary.pieces(text), own, vocabulary.tokenizer)
        for vocabulary, text, own in zip(vocabularies, (source, target), words, strict=True)
    ]
    return Grid(
        f"learned: {arm}",
        tuple(readable(words[1], False)),
        tuple(readable(words[0], True)),
        by_word(matrix, *shares)[: len(words[1])],
        slide.gold,
        _note(trained.translate([source])[0], unknown),
    )


def _note(translation: str, unknown: list[str]) -> str:
    """How the learned weights were made, and what tells whether they can be trusted."""
    note = (
        "Learned are the weights of a trained run that is given the slide's French word by word; "
        f'its own translation is "{translation}".'
    )
    return f"{note} Not in its vocabulary: {', '.join(unknown)}." if unknown else note
