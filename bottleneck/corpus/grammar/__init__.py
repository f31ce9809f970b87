"""The built-in corpus: English-French sentences from a synchronous grammar.

"it" is always masculine in French (le, il): the English does not say what it stands for.
"""

from .grammar import Grammar, english_french
from .lexicon import CONTENT, FUNCTION, LECTURE_SENTENCES, NOUN_GENDER, WORD_CLASS

__all__ = ["CONTENT", "FUNCTION", "LECTURE_SENTENCES", "NOUN_GENDER", "WORD_CLASS"]
__all__ += ["Grammar", "english_french"]
