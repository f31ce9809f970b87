"""The built-in corpus: English-French sentences from a synchronous grammar.

"it" is always masculine in French (le, il): the English does not say what it stands for.
"""

from .grammar import Grammar, english_french
from .lexicon import CONTENT, FUNCTION, LECTURE_SENTENCES, noun_gender, word_class

__all__ = ["CONTENT", "FUNCTION", "LECTURE_SENTENCES", "Grammar"]
__all__ += ["english_french", "noun_gender", "word_class"]
