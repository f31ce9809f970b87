"""The vocabularies of a corpus, learned on its training side alone."""

from collections.abc import Iterable, Sequence

from ..settings.concerns import CorpusSettings
from .pair import SentencePair
from .subwords import learn_subwords
from .tokens import tokenize
from .vocabulary import Vocabulary, build_vocabulary


def learn_vocabularies(
    train: Sequence[SentencePair], corpus: CorpusSettings
) -> tuple[Vocabulary, Vocabulary]:
    """Source and target vocabulary of what ``corpus.tokens`` names, of at most the set sizes.

    Raises UserError as `learn_subwords`.
    """
    return (
        _learn((pair.source for pair in train), "source", corpus),
        _learn((pair.target for pair in train), "target", corpus),
    )


def _learn(texts: Iterable[str], side: str, corpus: CorpusSettings) -> Vocabulary:
    name = f"{side}_vocabulary"
    size = int(getattr(corpus, name))
    if corpus.tokens == "words":
        return build_vocabulary(map(tokenize, texts), size)
    subwords = learn_subwords(texts, size, f"corpus.{name}")
    return Vocabulary(subwords.tokens, subwords)
