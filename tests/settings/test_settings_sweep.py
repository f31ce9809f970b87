"""Sweep files: what they are, where they are found, and what a user is told of a fault."""

import pytest
from grids import expand
from written_sweeps import PLAIN, sweep

from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.sweep import experiment_names, load_sweep, parse_sweep


def test_the_question_is_the_comment_that_the_file_opens_with():
    assert sweep(PLAIN).question == "Does a bigger context help? Said in two lines."
    with pytest.raises(UsageError, match=r"mine\.toml: no question; open the file with it"):
        parse_sweep('preset = "smoke"\n# later', "mine.toml")


@pytest.mark.parametrize("text", ["", "# Why?\n", "# Why?\n[model]\n"])
def test_a_file_that_sets_nothing_is_refused(text):
    with pytest.raises(UsageError, match=r"^mine\.toml sets nothing; give settings to try"):
        parse_sweep(text, "mine.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('preset = "lectur"', "mine.toml: unknown preset 'lectur'; did you mean 'lecture'?"),
        (
            'preset = ["smoke", "quick"]',
            "mine.toml: preset is one name, not ['smoke', 'quick']; write preset = \"lecture\" (a "
            "second preset is a second sweep, with --preset)",
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
            "mine.toml: setting 'model.context_size': the list is empty; give it a value",
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
        (
            "[[group]]\nname = '=HYPERLINK(1)'",
            "mine.toml, group '=HYPERLINK(1)': a spreadsheet would take that for a formula; "
            "rename the group",
        ),
        (
            "[[group]]\nname = 'a'\n[[group]]\nname = 'a'",
            "mine.toml: two groups are named 'a'; rename one",
        ),
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
            "mine.toml, group 'a', times: setting 'model.cell' is not a number; set its value",
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
            "mine.toml, group 'a', needs: 'needs' is a table of settings; write "
            "needs.SECTION.KEY = VALUE",
        ),
        (
            "[[group]]\nname = 'a'\nneeds.model.cell = 'rn'",
            "mine.toml, group 'a', needs: setting 'model.cell': input should be 'rnn', 'gru' or "
            "'lstm', not 'rn'; did you mean 'rnn'?",
        ),
        (
            "[[group]]\nname = 'a'\nneeds.model.hidden_size = [1, 2]",
            "mine.toml, group 'a', needs: setting 'model.hidden_size': input should be a valid "
            "integer, not [1, 2]",
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
    with pytest.raises(UsageError, match=r"none\.toml' \(No such file.* or one of .*cells,"):
        load_sweep(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="Is a directory"):
        load_sweep(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# one\n# \xe9t\xe9\n")
    with pytest.raises(UsageError, match=r"latin\.toml: not UTF-8 text \(at line 2\)"):
        load_sweep(tmp_path / "latin.toml")
