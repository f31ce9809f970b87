"""Sweeps as a person writes them, and the reading of one."""

from seq2seq_bottleneck.settings.sweep import Sweep, parse_sweep

PLAIN = """\
# Does a bigger context help?
# Said in two lines.

# A reason, not the question.
preset = "smoke"

[model]
context_size = [32, 64]
attention = ["none", "additive"]
"""

GROUPS = """\
preset = "smoke"

[model]
cell = ["rnn", "gru"]
attention = "none"

[[group]]
name = "plain"

[[group]]
name = "reversed"
model.reverse_source = true
model.attention = ["none", "dot"]

[[group]]
name = "long"
[group.training]
updates = 80
"""


def sweep(text: str) -> Sweep:
    """A sweep with a question, if it has none of its own."""
    return parse_sweep(text if text.startswith("#") else f"# Why?\n{text}", "mine.toml")
