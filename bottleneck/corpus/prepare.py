"""A user's sentence in the form that a corpus' own sentences have."""

import unicodedata

from ..settings.concerns import CorpusSettings


def prepare_source(sentence: str, corpus: CorpusSettings) -> str:
    """Normalise as the corpus was: Unicode form, spaces, case; the grammar has no full stops."""
    text = " ".join(unicodedata.normalize("NFC", sentence).split())
    if corpus.name == "grammar":
        return text.lower().rstrip(" .!?")
    return text.lower() if corpus.lowercase else text
