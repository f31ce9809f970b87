"""Sweep files of the smallest size, for the command."""


def small_sweep(question: str, *arms: str) -> str:
    """A copying task with these arms, each at two context sizes."""
    attention = ", ".join(f'"{arm}"' for arm in arms)
    return f"""# {question}
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
[model]
attention = [{attention}]
context_size = [8, 16]
"""


FOUR = small_sweep("Which is better, in a copying task of the smallest size?", "none", "dot")
# The largest steps a float32 holds: two weights' sum overflows on any processor. A smaller one
# (1e30) may leave the loss huge but finite, as it did on one without AVX-512.
DIVERGES = """
[[group]]
name = "steady"
[[group]]
name = "wild"
model.attention = "none"
model.context_size = 8
training.learning_rate = 3e38
training.clip_norm = 1e30
"""
