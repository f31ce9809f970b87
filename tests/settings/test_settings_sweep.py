"""Sweeps: files and their faults, groups, flags, and the order of the cells."""

from dataclasses import replace

import pytest
from grids import expand

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import (
    Cell,
    Sweep,
    as_toml,
    complete,
    folder_name,
    load_sweep,
    make_grid,
    parse_assignments,
    parse_sweep,
)

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
model.cell = ["rnn", "gru"]
model.attention = "none"

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
RELATIVE = """\
preset = "smoke"
[[group]]
name = "once"
[[group]]
name = "twice"
times.training.updates = 2
"""


def sweep(text: str) -> Sweep:
    """A sweep with a question, if it has none of its own."""
    return parse_sweep(text if text.startswith("#") else f"# Why?\n{text}", "mine.toml")


def points(cells: list[Cell], *names: str) -> list[tuple]:
    return [tuple(cell.value(name) for name in names) for cell in cells]


def test_a_sweep_is_found_by_name_or_by_path(tmp_path):
    named = load_sweep("vindication")
    assert (named.name, named.place) == ("vindication", "experiments/vindication.toml")
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode())
    loaded = load_sweep(path)
    assert (loaded.name, loaded.place) == ("mine", str(path))
    assert loaded.question == "Does a bigger context help? Said in two lines."
    assert expand(loaded) == expand(sweep(PLAIN))
    for name, message in (
        ("contxt_size", "'contxt_size' .*; did you mean 'context_size'?"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(UsageError, match=message):
            load_sweep(name)


GROUP = "[[group]]\nname = 'a'\n"
FAULTS = {
    'preset = "lectur"': "unknown preset 'lectur'; did you mean 'lecture'?",
    'preest = "smoke"': "unknown key 'preest'; did you mean 'preset'?",
    "[model]\ncontxt_size = 3": "'model.contxt_size'; did you mean 'model.context_size'?",
    "[model]\ncontext_size = []": "no run is left: a list of values is empty",
    "[model]\ncontext_size = [64, 0]": "'model.context_size': input should be greater than or",
    "[group]\nname = 'a'": "write each group as a table [[group]]",
    'experiment = "../up"': "'../up' names no experiment or group",
    'experiment = "NA"': "'NA' names no experiment or group",
    f"{GROUP}model.cel = 'rnn'": "unknown setting 'model.cel'; did you mean 'model.cell'?",
    f"{GROUP}times.model.cell = 2": "'model.cell' is 'gru': times needs numbers",
    "[model]\nlayers = 1\n[model]\n": "not TOML: Cannot declare",
}


@pytest.mark.parametrize(("text", "part"), FAULTS.items(), ids=map(str, range(len(FAULTS))))
def test_a_fault_of_the_file_is_one_line_with_its_place(text, part):
    with pytest.raises(UsageError) as caught:
        expand(sweep(text))
    message = str(caught.value)
    assert message.startswith("mine.toml: ")
    assert part in message
    assert "\n" not in message


def test_lists_multiply_in_the_order_of_declaration_the_last_fastest():
    (cell,) = expand(sweep('preset = "smoke"'))
    assert cell == Cell("", resolve("smoke"), "additive")
    cells = expand(sweep(PLAIN))
    expected = [("none", 32), ("none", 64), ("additive", 32), ("additive", 64)]
    assert points(cells, "model.attention", "model.context_size") == expected
    assert cells[1].label == "none context_size=64 seed 1"
    assert [cell.baseline for cell in cells] == [
        "", "", "none context_size=32", "none context_size=64"
    ]  # fmt: skip


def test_groups_multiply_with_lists_and_an_arm_is_named_by_what_differs():
    cells = expand(sweep(GROUPS))
    attentions, groups = points(cells, "model.attention", "model.cell"), [c.group for c in cells]
    assert [(group, *point) for group, point in zip(groups, attentions, strict=True)] == [
        ("plain", "none", "rnn"), ("plain", "none", "gru"),
        ("reversed", "none", "rnn"), ("reversed", "none", "gru"),
        ("reversed", "dot", "rnn"), ("reversed", "dot", "gru"),
        ("long", "none", "rnn"), ("long", "none", "gru"),
    ]  # fmt: skip
    assert [cell.value("training.updates") for cell in cells] == [40] * 6 + [80] * 2
    cells = expand(sweep(GROUPS), ["model.cell=gru"])
    assert [(cell.arm, cell.baseline) for cell in cells] == [
        ("none, plain", ""), ("none, reversed", ""),
        ("dot, reversed", "none, reversed"), ("none, long", ""),
    ]  # fmt: skip


def test_a_file_may_name_its_experiment_and_its_baseline():
    text = 'experiment = "mine"\nbaseline.model.cell = "rnn"\npreset = "smoke"\n'
    declared = sweep(text + 'model.cell = ["rnn", "gru"]\nmodel.attention = ["none", "dot"]')
    assert declared.name == "mine"
    assert {cell.arm: cell.baseline for cell in expand(declared)} == {
        "none cell=rnn": "", "none cell=gru": "none cell=rnn",
        "dot cell=rnn": "", "dot cell=gru": "dot cell=rnn",
    }  # fmt: skip


def test_no_run_is_twice_in_a_grid():
    cells = expand(sweep(GROUPS), ["training.updates=40"])
    assert [cell.group for cell in cells] == ["plain"] * 2 + ["reversed"] * 4


@pytest.mark.parametrize(
    ("assignments", "updates"),
    [([], [1000, 2000]), (["training.updates=10,15"], [10, 15, 20, 30])],
)
def test_a_factor_is_on_whatever_the_preset_or_a_flag_says(assignments, updates):
    cells = expand(replace(sweep(RELATIVE), preset="quick"), assignments)
    assert [cell.value("training.updates") for cell in cells] == updates


@pytest.mark.parametrize(
    ("assignment", "values"),
    [
        ("model.context_size = 64, 128", [64, 128]),
        ("scoring.edges=5,21", ["5,21"]),
        ('scoring.edges=["5,21", "5,31"]', ["5,21", "5,31"]),
    ],
)
def test_commas_in_set_make_a_list_but_for_free_text(assignment, values):
    text = 'preset = "smoke"\ncorpus.name = "files"\nmodel.attention = "none"'
    name = assignment.partition("=")[0].strip()
    assert [cell.value(name) for cell in expand(sweep(text), [assignment])] == values


def test_set_replaces_lists_and_seeds_count_on_from_the_first():
    cells = expand(sweep(GROUPS), ["model.attention=general", "model.cell=gru"])
    assert points(cells, "model.attention") == [("general",)] * 3
    cells = expand(sweep(PLAIN), ["training.seed=5"], seeds=3)
    assert points(cells, "training.seed")[:4] == [(5,), (6,), (7,), (5,)]
    assert len(cells) == 12


@pytest.mark.parametrize(
    ("assignments", "seeds", "message"),
    [
        (["model.contxt_size=3"], None, "'model.contxt_size=3': unknown setting; did you mean"),
        (["model.context_size=64,"], None, "'model.context_size': input should be .*, not ''"),
        (["model.attention=dot", "model.hidden_size=300"], None, "mine.toml, with --set .* 'dot'"),
        (["training.seed=1,2"], 2, "--set training.seed lists seeds, and --seeds counts them"),
    ],
)
def test_a_fault_of_a_flag_is_one_line_with_its_place(assignments, seeds, message):
    text = PLAIN.replace('"additive"', '"additive", "general", "uniform"')
    with pytest.raises(UsageError, match=message):
        expand(sweep(text), assignments, seeds)


def typed_sweep(assignments: list[str], given: dict[str, object]) -> Sweep:
    return Sweep(settings=given | parse_assignments(assignments))


THREE_AXES = [
    "model.context_size=64,256", "model.attention=none,additive", "corpus.train_max_words=20,60"
]  # fmt: skip


def test_a_typed_sweep_is_named_by_what_varies_and_is_saved_as_a_file_of_the_same_runs(tmp_path):
    given = {"corpus.name": "files", "corpus.source": 'a, "b".é', "corpus.reverse_direction": True}
    typed = replace(typed_sweep([*THREE_AXES, "training.clip_norm=1e-5"], given), preset="smoke")
    cells = make_grid(typed, seeds=3)
    assert len(cells) == 2 * 2 * 2 * 3
    named = complete(typed, cells)
    assert named.question == "BLEU by context size, attention and training length"
    assert named.name.startswith("smoke-by-corpus=files-source=a,_b_.é-reverse_direction")
    assert complete(typed, cells, "mine").name == "mine"
    path = tmp_path / "typed.toml"
    path.write_text(as_toml(named, cells), encoding="utf8")
    loaded = load_sweep(path)
    assert (loaded.name, loaded.question) == (named.name, named.question)
    assert expand(loaded) == list(cells)


@pytest.mark.parametrize(
    ("assignments", "name"),
    [
        (["training.seed=7", "model.context_size=256"], "lecture"),
        (["model.cell=rnn,gru", "model.context_size=64"], "lecture-cell-context_size=64"),
        (["corpus.name=files", "corpus.source=my/a b.en"], "lecture-corpus=files-source=a_b.en"),
    ],
)
def test_a_folder_is_named_by_the_preset_and_the_settings_that_differ_from_it(assignments, name):
    cells = make_grid(typed_sweep(assignments, {}))
    assert folder_name("lecture", cells) == name
