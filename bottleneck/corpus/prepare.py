"""A user's sentence in the form that a corpus' own sentences have."""

import unicodedata

from ..settings.concerns import CorpusSettings


def prepare_source(sentence: str, corpus: CorpusSettings) -> str:
    """Normalise as the corpus was: case, Unicode form, spaces; the grammar has no full stops."""
    lower = corpus.lowercase or corpus.name == "grammar"
    # Case first: the small letter may be one character where the capital is two.
    text = unicodedata.normalize("NFC", sentence.lower() if lower else sentence)
    folded = " ".join(text.split())
    return folded.rstrip(" .!?") if corpus.name == "grammar" else folded
