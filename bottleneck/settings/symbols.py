"""Token ids that every vocabulary begins with; the model knows words by number only."""

PAD = 0
"""Padding behind a sentence; never read, never predicted."""
BOS = 1
"""What the decoder reads before the first word."""
EOS = 2
"""The end of a sentence, on both sides."""
UNK = 3
"""Any word outside the vocabulary."""
