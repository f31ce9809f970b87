"""Start-up: what was compiled once is not compiled again."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "bottleneck"


def reproduce(folder, out, *options):
    """Whether it went well; of both arms, how many programs were compiled and had from the cache.

    The cache is a folder of this test, so what others have compiled is of no use here.
    """
    subprocess.run(
        [COMMAND, "reproduce", "--preset", "smoke", "--quiet", "--out", out, *options],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
    )
    found = [
        json.loads(path.read_text())["programs"]
        for path in sorted((folder / out / "runs").glob("*/environment.json"))
    ]
    assert len(found) == 2
    return found


def kept(folder):
    """Each file of the cache, and when it was written."""
    return {path: path.stat().st_mtime_ns for path in (folder / "cache").rglob("*-cache")}


@pytest.mark.exhaustive(sample="session")
def test_a_second_reproduce_compiles_nothing(tmp_path):
    first = reproduce(tmp_path, "first")
    compiled = kept(tmp_path)
    # Both arms at once: what they share, the one that comes to it first compiles.
    assert min(each["compiled"] for each in first) > 0
    assert sum(each["compiled"] for each in first) > 30
    assert len(compiled) > 20

    second = reproduce(tmp_path, "second")
    assert [each["compiled"] for each in second] == [0, 0]
    assert [each["from_cache"] for each in second] == [sum(each.values()) for each in first]
    assert min(each["from_cache"] for each in second) > 20
    assert kept(tmp_path) == compiled
