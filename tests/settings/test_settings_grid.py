"""The cells of a sweep: which there are, in which order, what flags change, how they are named."""

from dataclasses import replace

import pytest
from grids import expand
from written_sweeps import GROUPS, PLAIN, sweep

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import Cell, labels, make_grid, varying


def points(cells: list[Cell], *names: str) -> list[tuple]:
    return [tuple(cell.value(name) for name in names) for cell in cells]


def test_a_sweep_without_lists_is_one_cell_of_the_preset():
    (cell,) = expand(sweep('preset = "smoke"'))
    assert cell == Cell("", resolve("smoke"))
    assert labels([cell]) == ["the only cell"]


def test_the_preset_is_lecture_unless_stated():
    assert expand(sweep("model.layers = 1"))[0].settings == resolve("lecture")


def test_the_preset_can_be_replaced():
    (cell,) = expand(replace(sweep("model.layers = 1"), preset="smoke"))
    assert cell.settings == resolve("smoke")


def test_labels_write_truths_as_toml_does():
    cells = expand(sweep("model.bidirectional = [true, false]"))
    assert labels(cells) == ["bidirectional=true", "bidirectional=false"]


def test_lists_multiply_in_the_order_of_declaration_the_last_fastest():
    cells = expand(sweep(PLAIN))
    expected = [("none", 32), ("none", 64), ("additive", 32), ("additive", 64)]
    assert points(cells, "model.attention", "model.context_size") == expected
    assert varying(cells) == ["model.attention", "model.context_size"]
    assert labels(cells)[1] == "attention=none context_size=64"


def test_lists_of_several_tables_multiply():
    text = PLAIN + '[training]\nseed = [1, 2, 3]\n[corpus]\nlengths = ["uniform", "buckets"]\n'
    cells = expand(sweep(text))
    assert len(cells) == 2 * 2 * 3 * 2
    assert points(cells, "training.seed")[:4] == [(1,), (2,), (3,), (1,)]
    assert varying(cells)[0] == "corpus.lengths"


def test_groups_multiply_with_lists_and_their_settings_count():
    cells = expand(sweep(GROUPS))
    found = [
        (cell.group, cell.value("model.attention"), cell.value("model.cell")) for cell in cells
    ]
    assert found == [
        ("plain", "none", "rnn"),
        ("plain", "none", "gru"),
        ("reversed", "none", "rnn"),
        ("reversed", "none", "gru"),
        ("reversed", "dot", "rnn"),
        ("reversed", "dot", "gru"),
        ("long", "none", "rnn"),
        ("long", "none", "gru"),
    ]
    assert [cell.value("training.updates") for cell in cells] == [40] * 6 + [80] * 2
    assert all(cell.value("model.reverse_source") == (cell.group == "reversed") for cell in cells)


def test_labels_name_the_group_and_what_differs_within_it():
    named = labels(expand(sweep(GROUPS), ["model.cell=gru"]))
    assert named == ["plain", "reversed: attention=none", "reversed: attention=dot", "long"]


def test_labels_write_a_name_in_full_where_two_concerns_share_it():
    cells = expand(sweep('preset = "smoke"'), ["corpus.seed=1,2"], seeds=2)
    assert labels(cells)[0] == "corpus.seed=1 seed=1"


def test_equal_cells_are_made_once_for_the_first_group_that_has_them_and_that_is_said():
    assert make_grid(sweep(GROUPS)).notes == ()
    for grid in (
        make_grid(sweep(GROUPS.replace("updates = 80", "updates = 40"))),
        make_grid(sweep(GROUPS), ["training.updates=40"]),
    ):
        assert [cell.group for cell in grid.cells] == ["plain"] * 2 + ["reversed"] * 4
        assert grid.notes == (
            "group 'long' has the same cells as group 'plain' here: they are run once, as the "
            "latter",
        )
    twice = make_grid(sweep(PLAIN.replace("[32, 64]", "[32, 32]")))
    assert (len(twice.cells), twice.notes) == (2, ())


RELATIVE = """\
preset = "smoke"
[[group]]
name = "once"
[[group]]
name = "twice"
times.training.updates = 2
times.training.learning_rate = 0.5
"""


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


def test_a_factor_is_on_a_default_where_nothing_is_stated():
    cells = expand(sweep(RELATIVE + "times.model.layers = 3"))
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


def test_set_replaces_a_value_or_a_list_also_that_of_a_group():
    cells = expand(sweep(PLAIN), ["model.context_size=128", "training.updates=7"])
    assert points(cells, "model.context_size", "training.updates") == [(128, 7)] * 2
    cells = expand(sweep(GROUPS), ["model.attention=general", "model.cell=gru"])
    assert points(cells, "model.attention") == [("general",)] * 3


@pytest.mark.parametrize(
    ("assignment", "name", "values"),
    [
        ("model.context_size=64,128", "model.context_size", [64, 128]),
        ("model.context_size = 64, 128", "model.context_size", [64, 128]),
        ("model.context_size=[64, 128]", "model.context_size", [64, 128]),
        ("model.cell=rnn,lstm", "model.cell", ["rnn", "lstm"]),
        ("model.bidirectional=false,true", "model.bidirectional", [False, True]),
        ("training.learning_rate=1e-3,2e-3", "training.learning_rate", [1e-3, 2e-3]),
        ("scoring.edges=5,21", "scoring.edges", ["5,21"]),
        ('scoring.edges=["5,21", "5,31"]', "scoring.edges", ["5,21", "5,31"]),
    ],
)
def test_commas_in_set_make_a_list_but_for_free_text(assignment, name, values):
    cells = expand(sweep('preset = "smoke"\nmodel.attention = "none"'), [assignment])
    assert [cell.value(name) for cell in cells] == values


def test_a_file_name_with_a_comma_stays_whole():
    (cell,) = expand(sweep('corpus.name = "files"'), ["corpus.source=a,b.tsv"])
    assert cell.value("corpus.source") == "a,b.tsv"


def test_seeds_count_on_from_the_first_and_multiply():
    cells = expand(sweep(PLAIN), ["training.seed=5"], seeds=3)
    assert points(cells, "training.seed")[:4] == [(5,), (6,), (7,), (5,)]
    assert len(cells) == 12
    assert points(expand(sweep(PLAIN), seeds=2), "training.seed")[:2] == [(1,), (2,)]


def test_seeds_replace_the_list_of_the_file():
    text = PLAIN + "[training]\nseed = [3, 9]\n"
    cells = expand(sweep(text), ["model.context_size=32", "model.attention=none"], seeds=3)
    assert points(cells, "training.seed") == [(3,), (4,), (5,)]


@pytest.mark.parametrize(
    ("assignments", "seeds", "message"),
    [
        (
            ["model.contxt_size=3"],
            None,
            "--set: unknown setting 'model.contxt_size'; did you mean 'model.context_size'?",
        ),
        (
            ["context_size=3"],
            None,
            "--set 'context_size=3': write section.key=value; did you mean 'model.context_size'?",
        ),
        (
            ["model.bidirectional=true,1"],
            None,
            "mine.toml, with --set model.bidirectional=true,1: setting 'model.bidirectional': "
            "write true or false, not 1",
        ),
        (
            ["model.context_size=0"],
            None,
            "mine.toml, with --set model.context_size=0: setting 'model.context_size': input "
            "should be greater than or equal to 1, not 0",
        ),
        (
            ["model.context_size=64,"],
            None,
            "--set model.context_size=64,: a value is missing next to a comma; write it, or delete "
            "the comma",
        ),
        (
            ["model.context_size=[]"],
            None,
            "--set: setting 'model.context_size': the list is empty; give it a value",
        ),
        (
            ["model.attention=dot", "model.hidden_size=300"],
            None,
            "mine.toml, with --set model.attention=dot model.hidden_size=300: setting 'model': "
            "attention 'dot' needs hidden_size equal to context_size (300 and 32); "
            "use 'general' for unequal widths",
        ),
        ([], 0, "--seeds 0: must be from 1 to 100,000"),
        (
            ["training.seed=1,2"],
            2,
            "--seeds 2: --set training.seed lists seeds already; give one of the two",
        ),
        (["training.seed=x"], 2, "setting 'training.seed': should be a whole number, not 'x'"),
    ],
)
def test_a_fault_of_a_flag_is_one_line_with_its_place(assignments, seeds, message):
    with pytest.raises(UsageError) as caught:
        expand(sweep(PLAIN), assignments, seeds)
    assert str(caught.value) == message
