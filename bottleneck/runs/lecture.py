"""Run the lecture's examples L10, L17 and L-SHORT through trained runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from ..corpus.pair import SentencePair
from ..corpus.subwords import by_word, shares_of
from ..corpus.vocabulary import BOS, EOS, SPECIAL, UNK, prepare_source, tokenize, without_joiner
from ..decoding.search import without_symbols
from ..lecture.slides import SLIDES, Evidence, Grid
from ..settings.concerns import UNSELECTIVE
from .translate import TrainedRun, load_run


def trained_evidence(evidence: Evidence, name: str, arms: Mapping[str, Path]) -> Evidence:
    """The evidence with what the English-French runs of these arms give for an id."""
    if name == "L10":
        selective = [arm for arm in arms if arm not in UNSELECTIVE][:1]
        arms = {arm: arms[arm] for arm in selective}
    slide, outputs, learned = SLIDES[name], {}, None
    for arm in sorted(arms, key=lambda arm: (arm != "none", arm)):
        trained, sentences, steps = load_run(arms[arm]), [], []
        if trained.settings.corpus.reverse_direction:
            continue
        if name == "L10":
            # Attention over the slide's words, while the decoder reads its French.
            corpus, words, shares = trained.settings.corpus, [], []
            texts = [" ".join(slide[side]) for side in ("english", "french")]
            texts = [prepare_source(text, corpus) for text in texts]
            (matrix,) = trained.attention(trained.encode([SentencePair(*texts)]), 1)
            vocabularies = trained.source_vocabulary, trained.target_vocabulary
            for text, vocabulary in zip(texts, vocabularies, strict=True):
                tokens, tokenizer = tokenize(text), vocabulary.tokenizer
                words.append([*map(without_joiner, tokens)])
                shares.append(shares_of(tokenizer.pieces(text), tokens, tokenizer))
            source, target = words
            title = f"learned: {trained.settings.model.attention}"
            shown = by_word(matrix, *shares)[: len(target)]
            learned = Grid(title, target, [*source, SPECIAL[EOS]], shown, slide["gold"])
        elif name == "L17":
            sentences = [slide["source"]]
            steps = _first_steps(trained, slide["source"], slide["steps"])
        else:
            sentences = [source for source, _ in slide["pairs"]]
        texts = [item.text for item in trained.translations(sentences)]
        outputs[arm] = texts, steps
    return replace(evidence, learned=learned, arms=outputs)


def _first_steps(
    trained: TrainedRun, sentence: str, printed: Sequence[Mapping[str, object]]
) -> list[tuple[str, list[tuple[str, float]]]]:
    """For each step of greedy search: the word before it, and next words with probabilities.

    These are the three most probable words, and the slide's words that are one known token.
    """
    corpus, target = trained.settings.corpus, trained.target_vocabulary
    steps, before, ids = [], "", [BOS]
    pair = SentencePair(prepare_source(sentence, corpus), "")
    source = jnp.array(trained.encode([pair]).source)
    model = nnx.merge(trained.graph, trained.weights)
    for step in printed:
        logits, _ = model.logits(source, jnp.array([source.shape[1]]), jnp.array([ids]))
        shares = np.asarray(jax.nn.softmax(without_symbols(logits))[0, -1], np.float64)
        best = np.argsort(-shares, kind="stable")[:3].tolist()  # words that a step shows
        numbers = [target.numbers(prepare_source(word, corpus)) for word in step]
        slide = [number for number, *others in numbers if not others and number != UNK]
        names = {number: without_joiner(target.tokens[number]) for number in [*best, *slide]}
        steps.append((before, [(word, float(shares[number])) for number, word in names.items()]))
        before = names[best[0]]
        ids.append(best[0])
        if best[0] == EOS:
            break
    return steps
