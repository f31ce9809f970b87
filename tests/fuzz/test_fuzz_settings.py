"""Sweep files and flags of every kind: cells, or one line that names the fault."""

import json
from pathlib import Path

import pytest
from hostile import SIGNS, spoilt, try_cases
from hypothesis import strategies as st
from lanes import draws

from seq2seq_bottleneck.settings.run import NAMES, parse_settings
from seq2seq_bottleneck.settings.sweep import load_sweep, make_grid

ROOT = Path(__file__).parents[2]

OURS = [path.read_bytes() for path in sorted((ROOT / "experiments").rglob("*.toml"))]
SECTIONS = ["corpus", "model", "training", "decoding", "scoring"]
numbers = st.integers() | st.floats() | st.sampled_from([0, 1, 8, 16, 2**31, 2**63, 10**30, -1])
texts = st.text(max_size=6) | st.sampled_from([*SIGNS, "none", "additive", "dot", "5,11", "copy"])


def literal(value):
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


values = st.recursive(
    numbers | texts | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=5,
).map(literal) | st.sampled_from(["1979-05-27", "07:32:00", "0xff", "1e400", "[" * 300, "'", '"""'])
FITTING = """attention = ['none', 'additive']
context_size = [8, 16]
hidden_size = 16
layers = 1
updates = 3
seed = [1, 2]
train_pairs = 50
name = 'copy'
edges = '5,11'"""
fitting = st.sampled_from(FITTING.splitlines())
keys = st.sampled_from([name.partition(".")[2] for name in NAMES]) | texts.map(json.dumps)
assignment = st.builds("{} = {}".format, keys, values) | fitting
heads = st.sampled_from(
    [f"[{name}]" for name in SECTIONS]
    + ["[[group]]\nname = 'a'", "[[group]]\nname = 'b'", "[[group]]", "[group.model]"]
    + ["[group.times.training]", "[group.needs.model]", "preset = 'smoke'", "[modle]", "[a.b.c]"]
)
section = st.builds(
    lambda head, lines: "\n".join([head, *lines]), heads, st.lists(assignment, max_size=3)
)
written = st.lists(section, max_size=5).map(lambda parts: "# Is it?\n" + "\n".join(parts))


@st.composite
def sweep_files(draw):
    """Random TOML, or one of our sweeps, sometimes with spoilt bytes."""
    if not draw(st.integers(0, 2)):
        return spoilt(draw, draw(st.sampled_from(OURS)))
    data = draw(written).encode(errors="surrogatepass")
    return spoilt(draw, data) if draw(st.integers(0, 4)) == 0 else data


@pytest.mark.parametrize("budget", draws(100, 3_000))
def test_sweep_files(tmp_path, budget):
    def check(data):
        (tmp_path / "mine.toml").write_bytes(data)
        cells, _ = make_grid(load_sweep(str(tmp_path / "mine.toml")))
        assert len({cell.label for cell in cells}) == len(cells) > 0
        assert len({cell.settings.identity("text") for cell in cells}) == len(cells)
        for cell in cells[:3]:
            assert parse_settings(json.loads(cell.settings.model_dump_json())) == cell.settings

    try_cases(check, sweep_files(), budget)
