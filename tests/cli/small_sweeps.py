"""The smallest sweep files, and planted runs in place of training."""

from collections.abc import Callable

from planted import sentences, translations, write_run

from seq2seq_bottleneck.runs.pool import Outcome
from seq2seq_bottleneck.settings.sweep import Cell


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
TINY = """# Does a fault change anything?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
test_pairs = 40
[model]
attention = ["none", "dot"]
context_size = 8
[training]
updates = 20
[scoring]
resamples = 20
"""


def planted_cells(describe: Callable[[Cell, int], tuple[str, list[float], int]]) -> Callable:
    """A function that writes runs with known scores in place of training cells.

    ``describe`` gives a cell's run from the cell and its place by label: its name, the share of
    words lost in each bucket, and the seed that draws them.
    """

    def run_cells(cells, store, listener, **_):
        outcomes, labels = [], sorted(cell.label for cell in cells)
        for cell in cells:
            name, shares, seed = describe(cell, labels.index(cell.label))
            texts = translations(sentences(), shares, [seed])
            write_run(store.parent, name, cell.settings, texts, sentences(), group=None)
            end = {"phase": "done", "run": name, "reason": ""}
            listener(cell, end)
            outcomes.append(Outcome(cell, **end))
        return outcomes

    return run_cells
