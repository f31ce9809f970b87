"""What trained runs and the model answer to the lecture's examples: L10, L17, L18, L-SHORT."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from ..corpus.batches import encode_pairs
from ..corpus.pair import SentencePair
from ..corpus.subwords import by_word, shares_of
from ..corpus.vocabulary import BOS, EOS, PAD, UNK, tokenize
from ..decoding.search import without_symbols
from ..lecture.slides import SLIDES, ArmOutput, Grid, States, Vector, Weights
from ..model.attention import DotAttention, Memory
from ..results.folders import SETTINGS, arms
from ..settings.concerns import UNSELECTIVE
from .run import use_cache
from .translate import END, TrainedRun, attention_matrices, load_run, readable


def model_attention(query: Vector, states: States) -> tuple[Weights, Vector]:
    """Weights and context by the model's dot attention, for one query without padding."""
    values = jnp.asarray(states)[None]
    memory = Memory(values, values, jnp.ones(values.shape[:2], bool), values[:, -1])
    context, weights = DotAttention().read(jnp.asarray(query)[None], memory)
    return np.asarray(weights[0], np.float64), np.asarray(context[0], np.float64)


def trained_evidence(name: str, folder: Path) -> dict[str, Any]:
    """What the English-French runs of a folder answer to an id, as fields of `Evidence`.

    ``learned`` for L10, of the first arm with attention, or None; ``arms`` for L17 and L-SHORT,
    the arm without attention first.
    """
    use_cache()
    folders = {arm: run for arm, run in arms(folder).items() if (run / SETTINGS).is_file()}
    if name == "L10":
        selective = [arm for arm in folders if arm not in UNSELECTIVE][:1]
        folders = {arm: folders[arm] for arm in selective}
    runs = {}
    for arm in sorted(folders, key=lambda arm: (arm != "none", arm)):
        trained = load_run(folders[arm])
        if not trained.settings.corpus.reverse_direction:
            runs[folders[arm].name] = trained
    if name == "L10":
        return {"learned": next(map(learned_weights, runs.values()), None)}
    slide, outputs = SLIDES[name], []
    sources = [source for source, _ in slide["pairs"]] if "pairs" in slide else [slide["source"]]
    for run, trained in runs.items():
        steps, missing = [], []
        if name == "L17":
            steps, missing = _first_steps(trained, slide["source"], slide["steps"])
        unknown = [word for sentence in sources for word in trained.unknown(sentence)]
        unknown = list(dict.fromkeys([*unknown, *missing]))
        arm, texts = trained.settings.model.arm, trained.translate(sources)
        outputs.append(ArmOutput(arm, run, texts, unknown, steps))
    return {"arms": outputs}


def learned_weights(trained: TrainedRun) -> Grid:
    """Attention over the words of L10, the slide's French given to the decoder word by word.

    The last column is the source's end; the rows are words.
    """
    slide = SLIDES["L10"]
    source, target = (trained.prepare(" ".join(slide[side])) for side in ("english", "french"))
    vocabularies = trained.source_vocabulary, trained.target_vocabulary
    reverse, known = trained.settings.model.reverse_source, set(vocabularies[1].words)
    encoded = encode_pairs([SentencePair(source, target)], *vocabularies, reverse)
    (matrix,) = attention_matrices(trained.graph, trained.weights, encoded, reverse, 1)
    pieces = vocabularies[1].pieces(target)
    unknown = [*trained.unknown(source), *(trained.display(p) for p in pieces if p not in known)]
    words = tokenize(source), tokenize(target)
    shares = [
        shares_of(vocabulary.pieces(text), tokens, vocabulary.tokenizer)
        for vocabulary, text, tokens in zip(vocabularies, (source, target), words, strict=True)
    ]
    arm = trained.settings.model.arm
    note = (
        f"A trained run ({arm}) reads the slide's French word by word; its translation is "
        f'"{trained.translate([source])[0]}".'
    )
    return Grid(
        f"learned: {arm}",
        readable(words[1], False),
        readable(words[0], True),
        by_word(matrix, *shares)[: len(words[1])],
        slide["gold"],
        f"{note} Not in its vocabulary: {', '.join(unknown)}." if unknown else note,
    )


def _first_steps(
    trained: TrainedRun, sentence: str, printed: list[dict[str, float]]
) -> tuple[list[tuple[str, list[tuple[str, float]]]], list[str]]:
    """The word before each step (greedy search), the likeliest next words, and the slide's.

    Also the slide's words that have no token of their own. Ends after the end token.
    """
    target = trained.target_vocabulary
    pair = SentencePair(trained.prepare(sentence), "")
    reverse = trained.settings.model.reverse_source
    source = jnp.array(encode_pairs([pair], trained.source_vocabulary, target, reverse).source)
    lengths = jnp.array([source.shape[1]])
    model = nnx.merge(trained.graph, trained.weights)
    inputs = np.full((1, len(printed)), PAD, np.int32)  # a step does not read what is behind it
    tokens = {word: target.numbers(trained.prepare(word)) for step in printed for word in step}
    missing = [word for word, ids in tokens.items() if len(ids) != 1 or ids[0] == UNK]
    steps: list[tuple[str, list[tuple[str, float]]]] = []
    token, before = BOS, ""
    for index, step in enumerate(printed):
        if token == EOS:
            break
        inputs[0, index] = token
        logits, _ = model.logits(source, lengths, jnp.array(inputs))
        shares = np.asarray(jax.nn.softmax(without_symbols(logits))[0, index], np.float64)
        best = np.argsort(-shares, kind="stable")[:3].tolist()  # words shown of each step
        slide = [tokens[word][0] for word in step if word not in missing]
        names = {
            number: END if number == EOS else trained.display(target.tokens[number])
            for number in [*best, *slide]
        }
        steps.append((before, [(word, float(shares[number])) for number, word in names.items()]))
        token, before = best[0], names[best[0]]
    return steps, missing
