"""Sweep files and their cells: which there are, in which order, their names, and every fault."""

from dataclasses import replace

import pytest
from grids import expand

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import (
    MOST_CELLS,
    Cell,
    Sweep,
    declare,
    experiment_names,
    load_sweep,
    make_grid,
    parse_sweep,
    varying,
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

RELATIVE = """\
preset = "smoke"
[[group]]
name = "once"
[[group]]
name = "twice"
times.training.updates = 2
times.training.learning_rate = 0.5
"""


def sweep(text: str) -> Sweep:
    """A sweep with a question, if it has none of its own."""
    return parse_sweep(text if text.startswith("#") else f"# Why?\n{text}", "mine.toml")


def points(cells: list[Cell], *names: str) -> list[tuple]:
    return [tuple(cell.value(name) for name in names) for cell in cells]


# Files.


def test_the_question_is_the_comment_that_the_file_opens_with():
    assert sweep(PLAIN).question == "Does a bigger context help? Said in two lines."
    with pytest.raises(UsageError, match=r"mine\.toml: no question; open the file with it"):
        parse_sweep('preset = "smoke"\n# later', "mine.toml")


def test_a_sweep_is_found_by_name_or_by_path(tmp_path):
    named = load_sweep("vindication")
    assert (named.name, named.place) == ("vindication", "experiments/vindication.toml")
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode())
    loaded = load_sweep(path)
    assert (loaded.name, loaded.place) == ("mine", str(path))
    assert expand(loaded) == expand(load_sweep(str(path))) == expand(sweep(PLAIN))


def test_files_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    (tmp_path / "sixteen.toml").write_bytes("# Is it?".encode("utf-16"))
    for name, message in (
        ("contxt_size", "unknown sweep 'contxt_size'; did you mean 'context_size'?"),
        (tmp_path / "none.toml", r"none\.toml' \(No such file.* or one of .*cells,"),
        (tmp_path / "latin.toml", "not UTF-8 text"),
        (tmp_path / "sixteen.toml", "not UTF-8 text"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(UsageError, match=message):
            load_sweep(name)
    assert "context_size" in experiment_names()
    assert "lecture" not in experiment_names()


GROUP = "[[group]]\nname = 'a'\n"
FAULTS = {
    "": "mine.toml sets nothing; give settings to try, such as model.context_size = [64, 256]",
    "[model]": "mine.toml sets nothing",
    'preset = "lectur"': "mine.toml: unknown preset 'lectur'; did you mean 'lecture'?",
    'preset = ["smoke", "quick"]': "mine.toml: preset is one name, not ['smoke', 'quick']; write",
    "[scoring]\nedges = [5, 10]": "'scoring.edges': input should be a valid string, not 5",
    'preest = "smoke"': "mine.toml: unknown key 'preest'; did you mean 'preset'?",
    "model = 3": "mine.toml: 'model' is a table of settings: write [model]",
    "[model]\ncontxt_size = 3": "'model.contxt_size'; did you mean 'model.context_size'?",
    "[model]\ncontext_size = []": "'model.context_size': the list is empty; give it a value",
    "[model]\ncontext_size = [64, 0]": "'model.context_size': input should be greater than or",
    '[model]\nattention = ["none", "dot"]\nhidden_size = 512': "hidden_size equal to context_size",
    "[group]\nname = 'a'": "mine.toml: write each group as a table [[group]]",
    "group = [3]": "mine.toml: write each group as a table [[group]]",
    f"{GROUP}[[group]]": "mine.toml: group 2 has no name; give it one: name = ",
    "[[group]]\nname = '=HYPERLINK(1)'": "a name is one line of printable characters that a spread",
    GROUP + GROUP: "mine.toml: two groups are named 'a'; rename one",
    f"{GROUP}modle.cell = 'rnn'": "group 'a': unknown key 'modle'; did you mean 'model'?",
    f"{GROUP}model.cel = 'rnn'": "group 'a': unknown setting 'model.cel'; did you mean 'model.",
    f"{GROUP}model.cell = 'rn'": "group 'a': setting 'model.cell': input should be 'rnn', 'gru'",
    f"{GROUP}times.model.layer = 2": "group 'a', times: unknown setting 'model.layer'; did you",
    f"{GROUP}times.model.layers = '2'": "'model.layers' is 1, which cannot be multiplied by '2'",
    f"{GROUP}times.model.cell = 2": "'model.cell' is 'gru', which cannot be multiplied by 2",
    f"{GROUP}times.training.batch_tokens = 2": "is None, which cannot be multiplied by 2",
    f"{GROUP}times.model.layers = 0.5": "'model.layers': input should be a valid integer, got a",
    f"{GROUP}needs = 3": "group 'a': 'needs' is a table; write needs.SECTION.KEY = VALUE",
    f"{GROUP}needs.model.cell = 'rn'": "needs: setting 'model.cell': input should be 'rnn', 'gru'",
    "[model]\nlayers = 1\nlayers = 2": "mine.toml: not TOML: Cannot overwrite a value",
    "[model]\nlayers = 1\n[model]\n": "mine.toml: not TOML: Cannot declare",
    "[model]\nlayers = \0 8": "mine.toml: not TOML: Invalid value (at line 3",
    '[model]\nattention = "\x1b[31m"': "mine.toml: not TOML: Illegal character '\\x1b' (at line 3",
    '[model]\nattention = "\\ud800"': "mine.toml: not TOML: Escaped character is not a Unicode",
    "[model]\nlayers = 2020-13-45": "mine.toml: not TOML: Expected newline",
    f"[model]\nlayers = {'9' * 5_000}": "mine.toml: not TOML: Exceeds the limit (4300 digits)",
    f"[model]\nlayers = {'{a=' * 100_000}": "mine.toml: not TOML: ",
    f"[model]\nlayers = {'[' * 100_000}": "mine.toml: not TOML: ",
}


@pytest.mark.parametrize(("text", "part"), FAULTS.items(), ids=map(str, range(len(FAULTS))))
def test_a_fault_of_the_file_is_one_line_with_its_place(text, part):
    with pytest.raises(UsageError) as caught:
        expand(sweep(text))
    message = str(caught.value)
    assert message.startswith("mine.toml")
    assert part in message
    assert "\n" not in message
    assert len(message) < 300


# Cells.


def test_a_sweep_without_lists_is_one_cell_of_its_preset():
    (cell,) = expand(sweep('preset = "smoke"'))
    assert cell == Cell("", resolve("smoke"), "additive")
    assert cell.label == "additive seed 1"
    plain = sweep("model.layers = 1")
    assert expand(plain)[0].settings == resolve("lecture")
    assert expand(replace(plain, preset="smoke"))[0].settings == resolve("smoke")


def test_lists_multiply_in_the_order_of_declaration_the_last_fastest():
    cells = expand(sweep(PLAIN))
    expected = [("none", 32), ("none", 64), ("additive", 32), ("additive", 64)]
    assert points(cells, "model.attention", "model.context_size") == expected
    assert varying(cells) == ["model.attention", "model.context_size"]
    assert cells[1].label == "none context_size=64 seed 1"
    assert [cell.baseline for cell in cells] == [
        "", "", "none context_size=32", "none context_size=64"
    ]  # fmt: skip
    text = PLAIN + '[training]\nseed = [1, 2, 3]\n[corpus]\nlengths = ["uniform", "buckets"]\n'
    cells = expand(sweep(text))
    assert len(cells) == 2 * 2 * 3 * 2
    assert points(cells, "training.seed")[:4] == [(1,), (2,), (3,), (1,)]
    assert varying(cells)[0] == "corpus.lengths"


def test_groups_multiply_with_lists_and_their_settings_count():
    cells = expand(sweep(GROUPS))
    assert [(cell.group, *point) for cell, point in
            zip(cells, points(cells, "model.attention", "model.cell"), strict=True)] == [
        ("plain", "none", "rnn"),
        ("plain", "none", "gru"),
        ("reversed", "none", "rnn"),
        ("reversed", "none", "gru"),
        ("reversed", "dot", "rnn"),
        ("reversed", "dot", "gru"),
        ("long", "none", "rnn"),
        ("long", "none", "gru"),
    ]  # fmt: skip
    assert [cell.value("training.updates") for cell in cells] == [40] * 6 + [80] * 2
    assert all(cell.value("model.reverse_source") == (cell.group == "reversed") for cell in cells)


def test_an_arm_is_named_by_attention_what_differs_within_its_group_and_the_group():
    cells = expand(sweep(GROUPS), ["model.cell=gru"])
    assert [(cell.arm, cell.baseline) for cell in cells] == [
        ("none, plain", ""),
        ("none, reversed", ""),
        ("dot, reversed", "none, reversed"),
        ("none, long", ""),
    ]
    cells = expand(sweep('corpus.name = ["grammar", "copy"]'), ["corpus.seed=1,2"], seeds=2)
    assert cells[0].label == "additive corpus=grammar corpus.seed=1 seed 1"
    assert {cell.baseline for cell in cells} == {""}  # no arm without attention


def test_a_file_may_name_its_experiment_and_its_baseline():
    text = 'experiment = "mine"\nbaseline.model.cell = "rnn"\npreset = "smoke"\n'
    declared = sweep(text + 'model.cell = ["rnn", "gru"]\nmodel.attention = ["none", "dot"]')
    assert declared.name == "mine"
    arms = {cell.arm: cell.baseline for cell in expand(declared)}
    assert arms == {
        "none cell=rnn": "", "none cell=gru": "none cell=rnn",
        "dot cell=rnn": "", "dot cell=gru": "dot cell=rnn",
    }  # fmt: skip
    settings = resolve("smoke")
    cells = [Cell("", settings), Cell("additive", settings.changed(model={"cell": "rnn"}))]
    with pytest.raises(UsageError, match="two arms are called 'additive'; rename a group"):
        declare(cells)


def test_equal_cells_are_made_once_for_the_first_group_that_has_them_and_that_is_said():
    assert make_grid(sweep(GROUPS)).notes == ()
    for grid in (
        make_grid(sweep(GROUPS.replace("updates = 80", "updates = 40"))),
        make_grid(sweep(GROUPS), ["training.updates=40"]),
    ):
        assert [cell.group for cell in grid.cells] == ["plain"] * 2 + ["reversed"] * 4
        (note,) = grid.notes
        assert note.startswith("group 'long' has the same cells as group 'plain' here: ")
    twice = make_grid(sweep(PLAIN.replace("[32, 64]", "[32, 32]")))
    assert (len(twice.cells), twice.notes) == (2, ())


@pytest.mark.parametrize(
    ("preset", "assignments", "updates"),
    [
        ("smoke", [], [40, 80]),
        ("quick", [], [1000, 2000]),
        ("lecture", ["training.updates=300"], [300, 600]),
        ("smoke", ["training.updates=10,15"], [10, 15, 20, 30]),
    ],
)
def test_a_factor_is_on_whatever_the_preset_the_file_or_a_flag_says(preset, assignments, updates):
    grid = make_grid(replace(sweep(RELATIVE), preset=preset), assignments)
    assert [cell.value("training.updates") for cell in grid.cells] == updates
    rates = {cell.group: cell.value("training.learning_rate") for cell in grid.cells}
    assert rates["twice"] == rates["once"] / 2
    assert grid.notes == ()
    cells = expand(sweep(RELATIVE + "times.model.layers = 3"))  # of a default
    assert [cell.value("model.layers") for cell in cells] == [1, 3]


def test_cells_that_are_not_what_their_group_is_for_are_left_out_and_that_is_said():
    text = GROUPS + "[group.needs.model]\ncontext_size = 32\n"
    assert len(expand(sweep(text))) == 8
    grid = make_grid(sweep(text), ["model.context_size=32,64"])
    assert points(list(grid.cells)[-2:], "model.context_size") == [(32,), (32,)]
    assert grid.notes == ("group 'long' is for model.context_size=32, not 64: left out",)
    grid = make_grid(replace(sweep(text), preset="quick"))
    assert {cell.group for cell in grid.cells} == {"plain", "reversed"}
    with pytest.raises(UsageError, match=r"no cell is left: group 'only' is for model\.layers=2"):
        expand(sweep("[[group]]\nname = 'only'\nneeds.model.layers = 2"))


# Flags.


def test_set_replaces_a_value_or_a_list_also_that_of_a_group():
    cells = expand(sweep(PLAIN), ["model.context_size=128", "training.updates=7"])
    assert points(cells, "model.context_size", "training.updates") == [(128, 7)] * 2
    cells = expand(sweep(GROUPS), ["model.attention=general", "model.cell=gru"])
    assert points(cells, "model.attention") == [("general",)] * 3


@pytest.mark.parametrize(
    ("assignment", "values"),
    [
        ("model.context_size=64,128", [64, 128]),
        ("model.context_size = 64, 128", [64, 128]),
        ("model.context_size=[64, 128]", [64, 128]),
        ("model.cell=rnn,lstm", ["rnn", "lstm"]),
        ("model.bidirectional=false,true", [False, True]),
        ("training.learning_rate=1e-3,2e-3", [1e-3, 2e-3]),
        ("scoring.edges=5,21", ["5,21"]),
        ('scoring.edges=["5,21", "5,31"]', ["5,21", "5,31"]),
        ("corpus.source=a,b.tsv", ["a,b.tsv"]),
    ],
)
def test_commas_in_set_make_a_list_but_for_free_text(assignment, values):
    text = 'preset = "smoke"\ncorpus.name = "files"\nmodel.attention = "none"'
    name = assignment.partition("=")[0].strip()
    assert [cell.value(name) for cell in expand(sweep(text), [assignment])] == values


def test_seeds_count_on_from_the_first_and_replace_the_list_of_the_file():
    cells = expand(sweep(PLAIN), ["training.seed=5"], seeds=3)
    assert points(cells, "training.seed")[:4] == [(5,), (6,), (7,), (5,)]
    assert len(cells) == 12
    assert points(expand(sweep(PLAIN), seeds=2), "training.seed")[:2] == [(1,), (2,)]
    text = PLAIN + "[training]\nseed = [3, 9]\n"
    cells = expand(sweep(text), ["model.context_size=32", "model.attention=none"], seeds=3)
    assert points(cells, "training.seed") == [(3,), (4,), (5,)]


@pytest.mark.parametrize(
    ("assignments", "seeds", "message"),
    [
        (["model.contxt_size=3"], None, "--set: unknown setting 'model.contxt_size'; did you mean"),
        (["context_size=3"], None, "--set 'context_size=3': write section.key=value; did you mean"),
        (["model.context_size=64,"], None, "--set model.context_size=64,: a value is missing next"),
        (
            ["model.attention=dot", "model.hidden_size=300"],
            None,
            "mine.toml, with --set model.attention=dot model.hidden_size=300: setting 'model': "
            "attention 'dot' needs hidden_size equal to context_size (300 and 32); ",
        ),
        ([], MOST_CELLS + 1, "--seeds 100001: must be from 1 to 100,000"),
        (["training.seed=1,2"], 2, "--seeds 2: --set training.seed lists seeds already; give one"),
        (["training.seed=x"], 2, "setting 'training.seed': should be a whole number, not 'x'"),
    ],
)
def test_a_fault_of_a_flag_is_one_line_with_its_place(assignments, seeds, message):
    with pytest.raises(UsageError) as caught:
        expand(sweep(PLAIN), assignments, seeds)
    assert str(caught.value).startswith(message)


def test_a_grid_of_very_many_cells_is_refused_before_it_is_made():
    values = list(range(1, 100))
    text = f"[model]\ncontext_size = {values}\nembedding_size = {values}\n"
    text += f"[corpus]\ntrain_pairs = {values}\n[training]\nupdates = {values}\n"
    with pytest.raises(UsageError, match="96,059,601 cells"):
        make_grid(sweep(text))
