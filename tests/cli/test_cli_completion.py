"""Completion through the shell's own protocol, each press of the key a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seq2seq_bottleneck.cli import completion
from seq2seq_bottleneck.figures.registry import FIGURES
from seq2seq_bottleneck.lecture.walkthroughs import WALKTHROUGHS
from seq2seq_bottleneck.results.schema import STUDIES
from seq2seq_bottleneck.settings.concerns import NAMED
from seq2seq_bottleneck.settings.run import NAMES, override, parse_settings, preset_names
from seq2seq_bottleneck.settings.sweep import experiment_names
from seq2seq_bottleneck.tables.claims import FORMATS as CLAIM_FORMATS
from seq2seq_bottleneck.tables.names import GOLD_TABLE
from seq2seq_bottleneck.tables.pages import TABLES, check_format
from seq2seq_bottleneck.tables.selection import CONDITIONS

COMMAND = Path(sys.executable).parent / "bottleneck"


def completed(line, shell="bash"):
    """What the shell is offered for the last word of the line."""
    words = line.split(" ")
    asked = {"_BOTTLENECK_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        asked |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    else:
        asked |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [COMMAND], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("bottleneck co", ["compare", "corpus"]),
        ("bottleneck sweep con", ["context_is_hidden", "context_size", "controls"]),
        ("bottleneck reproduce --preset q", ["quick"]),
        ("bottleneck table vin", ["vindication"]),
        ("bottleneck study cap", ["capacity"]),
        ("bottleneck lecture L-V", ["L-VIND"]),
        ("bottleneck corpus describe mul", ["multi30k"]),
        ("bottleneck corpus fetch g", []),
        ("bottleneck reproduce --corpus gr", ["grammar"]),
        ("bottleneck table vindication --where context", ["context_size="]),
        ("bottleneck claims --format m", ["markdown"]),
        (
            "bottleneck reproduce --set model.tied",
            ["model.tied_output=", "model.tied_output=true", "model.tied_output=false"],
        ),
    ],
)
def test_names_are_completed(line, offered):
    assert completed(line) == offered


def test_a_shell_that_keeps_words_whole_is_offered_values_behind_the_equals_sign():
    line = "bottleneck sweep context_size --set model.placement="
    assert set(completed(line, "fish")) == {
        f"model.placement={word}" for word in ("", "input", "output")
    }


def test_what_is_offered_is_what_is_known():
    assert completion.sweeps() == experiment_names()
    assert completion.presets() == preset_names()
    assert completion.tables() == [*TABLES, *STUDIES, GOLD_TABLE, "cost"]
    assert completion.figures() == list(FIGURES)
    assert completion.studies() == [*STUDIES, "cost", "all"]
    assert completion.lecture_ids() == list(WALKTHROUGHS)
    assert completion.corpora() == ["grammar", "copy", "files", *NAMED]
    assert {column.rstrip("=") for column in completion.columns()} <= set(CONDITIONS)
    for form in completion.formats():
        check_format(form)
    assert completion.claim_formats() == list(CLAIM_FORMATS)


def test_every_setting_is_offered_with_values_that_it_takes():
    offered = completion.settings()
    assert [word[:-1] for word in offered if word.endswith("=")] == list(NAMES)
    assert len(offered) == len(set(offered))
    for word in offered:
        if not word.endswith("=") and not word.startswith(("corpus.name=", "decoding.copy_un")):
            parse_settings(override({}, [word]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    ["sweeps", "presets", "tables", "figures", "studies", "lecture_ids", "corpora", "settings"],
)
def test_completion_imports_nothing_heavy(function):
    heavy = ("jax", "flax", "optax", "pandas", "matplotlib", "sacrebleu")
    code = (
        "import json, sys\nfrom seq2seq_bottleneck.cli import completion, main\n"
        f"assert completion.{function}()\n"
        f"print(json.dumps([name for name in {heavy!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
