"""Sweeps: files and their faults, groups, flags, and the order of the cells."""

from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from grids import expand

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import parse_assignments, resolve
from seq2seq_bottleneck.settings.sweep import (
    Cell,
    Sweep,
    as_toml,
    complete,
    declare,
    folder_name,
    load_sweep,
    make_grid,
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
times.training.learning_rate = 0.5
"""


def sweep(text: str, title: str = "# Why?\n") -> Sweep:
    """A sweep, with a question if its text has none."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path("mine.toml").write_text(text if text.startswith("#") else title + text, "utf8")
        return load_sweep("mine.toml")


def points(cells: list[Cell], *names: str) -> list[tuple]:
    return [tuple(cell.settings.value(name) for name in names) for cell in cells]


def test_a_sweep_is_found_by_name_or_by_path(tmp_path):
    named = load_sweep("vindication")
    assert (named.name, named.place) == ("vindication", "experiments/vindication.toml")
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode())
    loaded = load_sweep(str(path))
    assert (loaded.name, loaded.place) == ("mine", str(path))
    assert loaded.question == "Does a bigger context help? Said in two lines."
    assert expand(loaded) == expand(sweep(PLAIN))
    (tmp_path / "sixteen.toml").write_bytes("# Is it?".encode("utf-16"))
    for name, message in (
        ("contxt_size", "'contxt_size' .*; did you mean 'context_size'?"),
        ("nothing at all", "cells, context_size"),
        (tmp_path / "sixteen.toml", "codec can't decode"),
        (tmp_path, "Is a directory"),
    ):
        with pytest.raises(UsageError, match=message):
            load_sweep(str(name))


GROUP = "[[group]]\nname = 'a'\n"
FAULTS = {
    'preset = ["smoke", "quick"]': """unknown preset ['smoke', 'quick']; """,
    "[scoring]\nedges = [5, 10]": "'scoring.edges': input should be a valid string, not 5",
    'preset = "lectur"': "unknown preset 'lectur'; did you mean 'lecture'?",
    'preest = "smoke"': "unknown key 'preest'; did you mean 'preset'?",
    "model = 3": "3 is not a settings table: write SECTION.KEY = VALUE".replace(":", ";"),
    "[model]\ncontxt_size = 3": "'model.contxt_size'; did you mean 'model.context_size'?",
    "[model]\ncontext_size = []": "'model.context_size': the list is empty; give it a value",
    "[model]\ncontext_size = [64, 0]": "'model.context_size': input should be greater than or",
    "[group]\nname = 'a'": "write each group as a table [[group]]",
    f"{GROUP}[[group]]": "None is no name for an experiment",
    "[[group]]\nname = '=HYPERLINK(1)'": "'=HYPERLINK(1)' is no name for an experiment",
    'experiment = "../up"': "'../up' is no name for an experiment",
    f"{GROUP}modle.cell = 'rnn'": "group 'a': unknown key 'modle'; did you mean 'model'?",
    f"{GROUP}model.cel = 'rnn'": "group 'a': unknown setting 'model.cel'; did you mean 'model.",
    f"{GROUP}times.model.cell = 2": "'model.cell' is 'gru': times needs numbers",
    f"{GROUP}times.model.layers = 0.5": "'model.layers': input should be a valid integer, not 0.5",
    f"{GROUP}needs = 3": "group 'a': 3 is not a settings table",
    "[model]\nlayers = 1\n[model]\n": "not TOML: Cannot declare",
    '[model]\nattention = "\x1b[31m"': "not TOML: Illegal character '\\x1b' (at line 3",
    f"[model]\nlayers = {'9' * 5_000}": "not TOML: Exceeds the limit (4300 digits)",
    f"[model]\nlayers = {'[' * 100_000}": "not TOML: ",
}


@pytest.mark.parametrize(("text", "part"), FAULTS.items(), ids=map(str, range(len(FAULTS))))
def test_a_fault_of_the_file_is_one_line_with_its_place(text, part):
    with pytest.raises(UsageError) as caught:
        expand(sweep(text))
    message = str(caught.value)
    assert message.startswith("mine.toml: ")
    assert part in message
    assert "\n" not in message
    assert len(message) < 300


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
    text = PLAIN + '[training]\nseed = [1, 2, 3]\n[corpus]\nlengths = ["uniform", "buckets"]\n'
    cells = expand(sweep(text))
    assert len(cells) == 2 * 2 * 3 * 2
    assert points(cells, "training.seed")[:4] == [(1,), (2,), (3,), (1,)]
    assert varying(cells)[0] == "corpus.lengths"


def test_groups_multiply_with_lists_and_an_arm_is_named_by_what_differs():
    cells = expand(sweep(GROUPS))
    attentions, groups = points(cells, "model.attention", "model.cell"), [c.group for c in cells]
    assert [(group, *point) for group, point in zip(groups, attentions, strict=True)] == [
        ("plain", "none", "rnn"), ("plain", "none", "gru"),
        ("reversed", "none", "rnn"), ("reversed", "none", "gru"),
        ("reversed", "dot", "rnn"), ("reversed", "dot", "gru"),
        ("long", "none", "rnn"), ("long", "none", "gru"),
    ]  # fmt: skip
    assert [cell.settings.value("training.updates") for cell in cells] == [40] * 6 + [80] * 2
    cells = expand(sweep(GROUPS), ["model.cell=gru"])
    assert [(cell.arm, cell.baseline) for cell in cells] == [
        ("none cell=gru, plain", ""), ("none cell=gru, reversed", ""),
        ("dot cell=gru, reversed", "none cell=gru, reversed"), ("none cell=gru, long", ""),
    ]  # fmt: skip
    cells = expand(sweep('corpus.name = ["grammar", "copy"]'), ["corpus.seed=1,2"], seeds=2)
    assert cells[0].label == "additive corpus=grammar corpus.seed=1 seed 1"


def test_a_part_of_a_sweep_has_the_names_of_the_whole():
    (cell,) = expand(load_sweep("vindication"), ["model.attention=additive"])
    assert (cell.arm, cell.baseline) == ("additive", "none")
    sizes = load_sweep("context_size")
    for size in (64, 48):  # listed for the one arm, and for none
        cells = expand(sizes, [f"model.context_size={size}", "training.seed=1"])
        base = f"none context_size={size}"
        named = [(base, ""), (f"additive context_size={size}", base)]
        assert [(cell.arm, cell.baseline) for cell in cells] == named


def test_a_file_may_name_its_experiment_and_no_two_arms_share_a_name():
    assert sweep('experiment = "mine"\npreset = "smoke"').name == "mine"
    settings = resolve("smoke")
    cells = [Cell("", settings), Cell("additive", settings.changed(model={"cell": "rnn"}))]
    with pytest.raises(UsageError, match="two arms are called 'additive'; rename a group"):
        declare(cells)


def test_what_is_left_out_is_named():
    assert make_grid(sweep(GROUPS))[1] == []
    cells, (note,) = make_grid(sweep(GROUPS), {"training.updates": 40})
    assert [cell.group for cell in cells] == ["plain"] * 2 + ["reversed"] * 4
    assert note.startswith("group 'long' has the same runs as group 'plain' here: ")
    cells, notes = make_grid(sweep(PLAIN.replace("[32, 64]", "[32, 32]")))
    assert (len(cells), notes) == (2, [])
    text = GROUPS + "[group.needs.model]\ncontext_size = 32\n"
    assert len(expand(sweep(text))) == 8
    cells, notes = make_grid(sweep(text), {"model.context_size": [32, 64]})
    assert points(cells[-2:], "model.context_size") == [(32,), (32,)]
    assert notes == ["group 'long' is for model.context_size=32, not 64: left out"]
    with pytest.raises(UsageError, match=r"no run is left: group 'only' is for model\.layers=2"):
        expand(sweep("[[group]]\nname = 'only'\nneeds.model.layers = 2"))


@pytest.mark.parametrize(
    ("preset", "assignments", "updates"),
    [
        ("quick", [], [1000, 2000]),
        ("lecture", ["training.updates=300"], [300, 600]),
        ("smoke", ["training.updates=10,15"], [10, 15, 20, 30]),
    ],
)
def test_a_factor_is_on_whatever_the_preset_the_file_or_a_flag_says(preset, assignments, updates):
    cells = expand(replace(sweep(RELATIVE), preset=preset), assignments)
    assert [cell.settings.value("training.updates") for cell in cells] == updates
    rates = {cell.group: cell.settings.value("training.learning_rate") for cell in cells}
    assert rates["twice"] == rates["once"] / 2
    cells = expand(sweep(RELATIVE + "times.model.layers = 3"))  # of a default
    assert [cell.settings.value("model.layers") for cell in cells] == [1, 3]
    cells = expand(sweep(RELATIVE.replace("[[", "times.training.updates = [1, 3]\n[[", 1)))
    assert [cell.settings.value("training.updates") for cell in cells] == [40, 120, 80, 240]


@pytest.mark.parametrize(
    ("assignment", "values"),
    [
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
def test_commas_in_set_make_a_list_except_in_free_text(assignment, values):
    text = 'preset = "smoke"\ncorpus.name = "files"\nmodel.attention = "none"'
    name = assignment.partition("=")[0].strip()
    assert [cell.settings.value(name) for cell in expand(sweep(text), [assignment])] == values


def test_set_replaces_lists_and_seeds_count_on_from_the_first():
    cells = expand(sweep(GROUPS), ["model.attention=general", "model.cell=gru"])
    assert points(cells, "model.attention") == [("general",)] * 3
    cells = expand(sweep(PLAIN), ["training.seed=5"], seeds=3)
    assert points(cells, "training.seed")[:4] == [(5,), (6,), (7,), (5,)]
    assert len(cells) == 12
    text = PLAIN + "[training]\nseed = [3, 9]\n"
    cells = expand(sweep(text), ["model.context_size=32", "model.attention=none"], seeds=3)
    assert points(cells, "training.seed") == [(3,), (4,), (5,)]


@pytest.mark.parametrize(
    ("assignments", "seeds", "message"),
    [
        (["model.contxt_size=3"], None, "--set model.contxt_size=3: unknown setting 'model.c"),
        (["model.context_size=64,"], None, "'model.context_size': input should be .*, not ''"),
        (["model.context_size=[]"], None, "'model.context_size': the list is empty"),
        (["model.attention=dot", "model.hidden_size=300"], None, "mine.toml, with --set .* 'dot'"),
        (["training.seed=1,2"], 2, "--set training.seed lists seeds, and --seeds counts them"),
        (["training.seed=x"], 2, "'training.seed': input should be a valid integer, not 'x'"),
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
    cells, _ = make_grid(typed, seeds=3)
    assert len(cells) == 2 * 2 * 2 * 3
    named = complete(typed, cells)
    assert named.question == "BLEU by context size, attention, train max words"
    assert named.name.startswith("smoke-by-corpus=files-source=a,_b_.é-reverse_direction")
    assert complete(typed, cells, "mine").name == "mine"
    assert complete(typed, cells, ".\udcff").name == named.name
    path = tmp_path / "typed.toml"
    path.write_text(as_toml(named, cells), encoding="utf8")
    loaded = load_sweep(str(path))
    assert (loaded.name, loaded.question) == (named.name, named.question)
    again = expand(loaded)
    assert again == list(cells)
    runs = [[cell.settings.identity("text") for cell in part] for part in (again, cells)]
    assert runs[0] == runs[1]


def test_a_file_needs_no_question():
    untitled = sweep(PLAIN.partition("reason, not the question.\n")[2], "")
    cells, _ = make_grid(untitled)
    assert complete(untitled, cells).question == "BLEU by context size, attention"
    assert complete(untitled, cells[:1]).question == "BLEU by sentence length"
    assert complete(sweep(PLAIN), cells) == sweep(PLAIN)


@pytest.mark.parametrize(
    ("assignments", "name"),
    [
        ([], "lecture"),
        (["training.seed=7", "model.context_size=256"], "lecture"),
        (["model.context_size=64"], "lecture-context_size=64"),
        (["model.cell=rnn,gru", "model.context_size=64"], "lecture-cell-context_size=64"),
        (
            ["corpus.name=files", "corpus.source=my/a b.en"],
            "lecture-corpus=files-source=a_b.en",
        ),
        (["scoring.edges=5,21"], "lecture-edges=5,21"),
    ],
)
def test_a_folder_is_named_by_the_preset_and_the_settings_that_differ_from_it(assignments, name):
    cells, _ = make_grid(typed_sweep(assignments, {}))
    assert folder_name("lecture", cells) == name


def test_long_names_of_folders_differ():
    names = {
        folder_name("lecture", expand(typed_sweep(["corpus.name=files"], {"corpus.source": text})))
        for text in ("x" * 200, "x" * 201)
    }
    assert len(names) == 2
    assert max(map(len, names)) <= 100
