"""Sweeps: which cells a file makes, in which order, and what a user is told of a fault."""

from dataclasses import replace

import pytest

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import (
    Cell,
    Sweep,
    expand,
    experiment_names,
    labels,
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


def sweep(text: str) -> Sweep:
    """A sweep with a question, if it has none of its own."""
    return parse_sweep(text if text.startswith("#") else f"# Why?\n{text}", "mine.toml")


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


def test_the_question_is_the_comment_that_the_file_opens_with():
    assert sweep(PLAIN).question == "Does a bigger context help? Said in two lines."
    with pytest.raises(UsageError, match=r"mine\.toml: no question; open the file with it"):
        parse_sweep('preset = "smoke"\n# later', "mine.toml")


@pytest.mark.parametrize("text", ["", "# Why?\n", "# Why?\n[model]\n"])
def test_a_file_that_sets_nothing_is_refused(text):
    with pytest.raises(UsageError, match=r"^mine\.toml sets nothing; give settings to try"):
        parse_sweep(text, "mine.toml")


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
            "group 'long' has cells that are those of group 'plain' here: they are run once, as "
            "the latter",
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
        ("quick", [], [500, 1000]),
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
    ("text", "message"),
    [
        ('preset = "lectur"', "mine.toml: unknown preset 'lectur'; did you mean 'lecture'?"),
        (
            'preset = ["smoke", "quick"]',
            "mine.toml: preset cannot be a list: write the name of one; a second one takes a "
            "second sweep, with --preset",
        ),
        (
            "[scoring]\nedges = [5, 10, 20]",
            "mine.toml: setting 'scoring.edges': write all edges as one string, \"5,10,20\"",
        ),
        (
            '[model]\nbidirectional = ["yes", 0]',
            "mine.toml: setting 'model.bidirectional': write true or false, not 'yes'",
        ),
        (
            "[model]\nlayers = [1, true]",
            "mine.toml: setting 'model.layers': input should be a number, not True",
        ),
        ('preest = "smoke"', "mine.toml: unknown key 'preest'; did you mean 'preset'?"),
        ("[modle]", "mine.toml: unknown key 'modle'; did you mean 'model'?"),
        ("model = 3", "mine.toml: 'model' is a table of settings: write [model]"),
        (
            "[model]\ncontxt_size = 3",
            "mine.toml: unknown setting 'model.contxt_size'; did you mean 'model.context_size'?",
        ),
        (
            "[model]\ncontext_size = []",
            "mine.toml: setting 'model.context_size': the list is empty",
        ),
        (
            "[model]\ncontext_size = [64, 0]",
            "mine.toml: setting 'model.context_size': input should be greater than or equal to 1, "
            "not 0",
        ),
        (
            '[model]\ncontext_size = [64, "x"]',
            "mine.toml: setting 'model.context_size': input should be a valid integer, unable to "
            "parse string as an integer, not 'x'",
        ),
        (
            '[model]\nattention = ["none", "dot"]\nhidden_size = 512',
            "mine.toml: setting 'model': attention 'dot' needs hidden_size equal to context_size "
            "(512 and 256); use 'general' for unequal widths",
        ),
        ("[group]\nname = 'a'", "mine.toml: write each group as a table [[group]]"),
        ("group = [3]", "mine.toml: write each group as a table [[group]]"),
        (
            "[[group]]\nname = 'a'\n[[group]]\nmodel.cell = 'rnn'",
            'mine.toml: group 2 has no name; give it one: name = "..."',
        ),
        ("[[group]]\nname = 'a'\n[[group]]\nname = 'a'", "mine.toml: two groups are named 'a'"),
        (
            "[[group]]\nname = 'a'\nmodle.cell = 'rnn'",
            "mine.toml, group 'a': unknown key 'modle'; did you mean 'model'?",
        ),
        (
            "[[group]]\nname = 'a'\nmodel.cel = 'rnn'",
            "mine.toml, group 'a': unknown setting 'model.cel'; did you mean 'model.cell'?",
        ),
        (
            "[[group]]\nname = 'a'\ntimes.model.layer = 2",
            "mine.toml, group 'a', times: unknown setting 'model.layer'; did you mean "
            "'model.layers'?",
        ),
        (
            "[[group]]\nname = 'a'\ntimes.model.layers = '2'",
            "mine.toml, group 'a', times: 'model.layers' takes one number, not '2'",
        ),
        (
            "[[group]]\nname = 'a'\ntimes.model.cell = 2",
            "mine.toml, group 'a', times: setting 'model.cell' is no number",
        ),
        (
            "[[group]]\nname = 'a'\ntimes.training.batch_tokens = 2",
            "mine.toml, group 'a': times: setting 'training.batch_tokens' is not set; give it a "
            "value",
        ),
        (
            "[[group]]\nname = 'a'\ntimes.model.layers = 0.5",
            "mine.toml, group 'a': setting 'model.layers': input should be a valid integer, got a "
            "number with a fractional part, not 0.5",
        ),
        (
            "[[group]]\nname = 'a'\nneeds = 3",
            "mine.toml, group 'a', needs: 'needs' is a table of settings",
        ),
        (
            "[[group]]\nname = 'a'\nmodel.cell = 'rn'",
            "mine.toml, group 'a': setting 'model.cell': input should be 'rnn', 'gru' or 'lstm', "
            "not 'rn'; did you mean 'rnn'?",
        ),
    ],
)
def test_a_fault_of_the_file_is_one_line_with_its_place(text, message):
    with pytest.raises(UsageError) as caught:
        expand(sweep(text))
    assert str(caught.value) == message


def test_what_is_no_toml_is_named_with_its_line():
    with pytest.raises(UsageError, match=r"mine\.toml: not TOML: .* \(at line 2, column 9\)"):
        sweep("# why\nseed = 1x\n")


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
            "--set model.context_size=64,: a value is missing beside a comma",
        ),
        (["model.context_size=[]"], None, "--set: setting 'model.context_size': the list is empty"),
        (
            ["model.attention=dot", "model.hidden_size=300"],
            None,
            "mine.toml, with --set model.attention=dot model.hidden_size=300: setting 'model': "
            "attention 'dot' needs hidden_size equal to context_size (300 and 32); "
            "use 'general' for unequal widths",
        ),
        ([], 0, "--seeds 0: must be 1 or more"),
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


def test_a_sweep_is_found_by_name_or_by_path(tmp_path):
    named = load_sweep("vindication")
    assert (named.name, named.place) == ("vindication", "experiments/vindication.toml")
    path = tmp_path / "mine.toml"
    path.write_text("\ufeff" + PLAIN, encoding="utf8")
    loaded = load_sweep(path)
    assert (loaded.name, loaded.place) == ("mine", str(path))
    assert expand(loaded) == expand(load_sweep(str(path))) == expand(sweep(PLAIN))


def test_an_unknown_name_is_answered_with_the_nearest():
    message = "unknown sweep 'contxt_size'; did you mean 'context_size'?"
    with pytest.raises(UsageError, match=message):
        load_sweep("contxt_size")
    assert "context_size" in experiment_names()
    assert "lecture" not in experiment_names()


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.toml': No such file"):
        load_sweep(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="Is a directory"):
        load_sweep(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# one\n# \xe9t\xe9\n")
    with pytest.raises(UsageError, match=r"latin\.toml: not UTF-8 text \(at line 2\)"):
        load_sweep(tmp_path / "latin.toml")
