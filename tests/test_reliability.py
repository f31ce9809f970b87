"""Every test that results/RELIABILITY.md names exists."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOLD = (ROOT / "results" / "RELIABILITY.md").read_text(encoding="utf8")
COLLECT = """
import json, sys
import pytest

for arguments in json.loads(sys.argv[1]):
    print(int(pytest.main([*arguments, "--collect-only", "--quiet", "--quiet"])), file=sys.stderr)
"""


@pytest.mark.exhaustive(sample="session")
def test_each_command_finds_tests():
    """In one process, which imports the package once."""
    commands = re.findall(r"`(?:\w+=1 )?pytest ([^`]+)`", TOLD)
    assert len(commands) > 20
    given = json.dumps([shlex.split(command) for command in commands])
    arguments = [sys.executable, "-c", COLLECT, given]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    codes = re.findall(r"^\d+$", done.stderr, flags=re.MULTILINE)
    assert dict(zip(commands, codes, strict=True)) == dict.fromkeys(commands, "0")
