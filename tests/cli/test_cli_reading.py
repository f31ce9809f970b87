"""The commands that read results never load jax, whose start takes longer than their answer."""

import subprocess
import sys
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
STUDIES = ("survival", "dimensions", "information", "alignment", "gradients", "length", "fit",
           "embeddings", "reading")  # fmt: skip
COMMANDS = [
    "table failure-pattern --results {0}/vindication",
    *(f"table {name} --results {{0}}/vindication" for name in STUDIES),
    "table capacity --results {0}/capacity",
    "table cost --results {0}/bench",
    "claims --results {0}/vindication",
    "plot length --results {0}/vindication -o {1}/length.svg",
    "plot bleu --results {0}/vindication -o {1}/bleu.svg",
    "export --results {0}/vindication -o {1}/tidy.csv",
    "merge {0}/vindication {0}/controls -o {1}/both",
    "report --results {0}/capacity -o {1}/page.html",
    "score --hypotheses {1}/a.txt --references {1}/a.txt --sources {1}/a.txt",
    "compare {1}/a.txt {1}/a.txt --references {1}/a.txt --sources {1}/a.txt",
    "lecture L7",
]
CODE = """
import sys
from seq2seq_bottleneck.cli.main import run

for line in sys.stdin:
    assert run(line.split()) == 0, line
    loaded = [name for name in ("jax", "flax", "optax") if name in sys.modules]
    assert not loaded, (line, loaded)
"""


@pytest.mark.slow
def test_no_command_that_reads_loads_jax(tmp_path):
    lines = "le chat noir dort sur le tapis .\nle chat dort et le chien mange et le rat rit .\n"
    (tmp_path / "a.txt").write_text(lines * 20)
    commands = "\n".join(command.format(REFERENCE, tmp_path) for command in COMMANDS)
    done = subprocess.run(
        [sys.executable, "-c", CODE], input=commands, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
