"""What the lecture's worked examples take from the model and from a trained run."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Float, Int

from ..corpus.batches import encode_pairs
from ..corpus.corpus import Corpus
from ..corpus.pair import SentencePair
from ..corpus.pieces import by_word, shares_of
from ..corpus.tokens import tokenize
from ..corpus.vocabulary import BOS, EOS, PAD, UNK
from ..decoding.greedy import without_symbols
from ..lecture.formulas import Attention, States, Vector, Weights
from ..lecture.grid import Grid
from ..lecture.slides import SLIDES
from ..lecture.trained import ArmOutputs, ArmSteps, DecoderStep, Likely
from ..model.attention import Score, masked_softmax, weighted_sum
from ..model.translator import Weights as Parameters
from ..results.folders import SETTINGS
from ..settings.concerns import UNSELECTIVE
from .attention import END
from .environment import use_cache
from .examples import attended, readable
from .stored import arms
from .translate import TrainedRun, load_run

LIKELIEST = 3
"""Words that are shown of each decoder step."""


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
    found = _stored(folder)
    arm = next((arm for arm in found if arm not in UNSELECTIVE), None)
    if arm is None:
        return None
    use_cache()
    trained = load_run(found[arm])
    return None if trained.settings.corpus.reverse_direction else _grid(arm, trained)


def _stored(folder: Path) -> dict[str, Path]:
    """The arms whose runs are there; of a bundle away from its store there is none."""
    return {arm: run for arm, run in arms(folder).items() if (run / SETTINGS).is_file()}


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


def first_steps(folder: Path) -> tuple[ArmSteps, ...]:
    """Each arm's first decoder steps for the sentence of L17, as many as the slide has.

    The word before a step is the one with the greatest probability at the last (greedy search).
    Folders are those of ``learned_weights``; empty where no run there is English to French.
    """
    return tuple(_arm_steps(run, trained) for run, trained in _english_french(folder))


def short_translations(folder: Path) -> tuple[ArmOutputs, ...]:
    """Each arm's translations of the sentences of L-SHORT, by the search that its run names."""
    sources = [source for source, _ in SLIDES.short.pairs]
    return tuple(
        ArmOutputs(
            trained.settings.model.arm,
            run.name,
            tuple(trained.translate(sources)),
            tuple(dict.fromkeys(word for each in sources for word in trained.unknown(each))),
        )
        for run, trained in _english_french(folder)
    )


def _english_french(folder: Path) -> list[tuple[Path, TrainedRun]]:
    """The runs of a folder that read English, the one without attention first."""
    use_cache()
    found = sorted(_stored(folder).items(), key=lambda held: (held[0] != "none", held[0]))
    runs = [(run, load_run(run)) for _, run in found]
    return [held for held in runs if not held[1].settings.corpus.reverse_direction]


def _arm_steps(run: Path, trained: TrainedRun) -> ArmSteps:
    slide = SLIDES.l17
    own = [{word: _token(trained, word) for word in step} for step in slide.steps]
    steps, before = [], ""
    for tokens, shares in zip(own, _next_words(trained, slide.source, len(own)), strict=False):
        steps.append(_decoder_step(trained, before, shares, [t for t in tokens.values() if t]))
        before = steps[-1].likeliest[0][0]
    missing = [word for tokens in own for word, token in tokens.items() if token is None]
    untold = tuple(dict.fromkeys([*trained.unknown(slide.source), *missing]))
    (said,) = trained.translate([slide.source])
    return ArmSteps(trained.settings.model.arm, run.name, tuple(steps), said, untold)


def _token(trained: TrainedRun, word: str) -> int | None:
    """The target token that stands for a word of the slide, if one alone does."""
    tokens = trained.target_vocabulary.numbers(trained.prepare(word))
    return tokens[0] if len(tokens) == 1 and tokens[0] != UNK else None


def _decoder_step(
    trained: TrainedRun, before: str, shares: Float[np.ndarray, " vocabulary"], slide: list[int]
) -> DecoderStep:
    """The likeliest tokens and those of the slide, with their probabilities."""
    best = np.argsort(-shares, kind="stable")[:LIKELIEST].tolist()

    def named(tokens: list[int]) -> Likely:
        words = [END if t == EOS else _written(trained, t) for t in tokens]
        return tuple(zip(words, shares[tokens].tolist(), strict=True))

    return DecoderStep(before, named(best), named([t for t in slide if t not in best]))


def _written(trained: TrainedRun, token: int) -> str:
    return trained.shown(trained.target_vocabulary.tokens[token])


def _next_words(
    trained: TrainedRun, sentence: str, steps: int
) -> Iterator[Float[np.ndarray, " vocabulary"]]:
    """P(word | source, words before) step by step, until the end token is the likeliest."""
    vocabularies = trained.source_vocabulary, trained.target_vocabulary
    pair = SentencePair(trained.prepare(sentence), "")
    encoded = encode_pairs([pair], *vocabularies, trained.settings.model.reverse_source)
    source = np.array(encoded.source, np.int32)
    lengths = np.array([source.shape[1]], np.int32)
    inputs = np.full((1, steps), PAD, np.int32)  # what is behind a step is not read at it
    word = BOS
    for place in range(steps):
        if word == EOS:
            return
        inputs[0, place] = word
        read = _probabilities(trained.graph, trained.weights, source, lengths, inputs)
        shares = np.asarray(read[0, place], np.float64)
        word = int(shares.argmax())
        yield shares


@partial(jax.jit, static_argnums=0)
def _probabilities(
    graph: nnx.GraphDef,
    weights: Parameters,
    source: Int[Array, "batch source"],
    lengths: Int[Array, " batch"],
    inputs: Int[Array, "batch target"],
) -> Float[Array, "batch target vocabulary"]:
    """Of every word an output may hold, given the source and the words before."""
    logits, _ = nnx.merge(graph, weights).logits(source, lengths, inputs)
    return jax.nn.softmax(without_symbols(logits))
