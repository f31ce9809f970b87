"""The command in a process of its own, also as an ordinary user: root may write anywhere.

On Linux, a process of root gives up the rights that override file permissions, and then obeys these
permissions as any user does.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAM = ("-m", "seq2seq_bottleneck")
BEFORE = """
import ctypes, json, os, resource, signal, sys
asked, *command = sys.argv[1:]
asked = json.loads(asked)
# PR_CAPBSET_DROP of CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER: exec cannot bring them back.
for right in (1, 2, 3) if asked["ordinary"] and os.getuid() == 0 else ():
    ctypes.CDLL(None).prctl(24, right, 0, 0, 0)
if asked["size"] is not None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (asked["size"], resource.RLIM_INFINITY))
if asked["memory"] is not None:
    resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], resource.RLIM_INFINITY))
# Tests may themselves run in the background of a shell, where SIGINT is ignored.
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(command[0], command)
"""


def told_before(
    command: Sequence[str],
    ordinary: bool = True,
    size: int | None = None,
    memory: int | None = None,
) -> list[str]:
    """The command, started by a program that first gives up root's rights, large files, or memory.

    This is a separate program because a process with jax must not fork and run code before exec.
    """
    asked = json.dumps({"ordinary": ordinary, "size": size, "memory": memory})
    return [sys.executable, "-c", BEFORE, asked, *command]


def bottleneck(
    arguments: Sequence[object],
    folder: Path,
    *,
    size: int | None = None,
    memory: int | None = None,
    program: Sequence[object] = PROGRAM,
    **environment: object,
) -> subprocess.CompletedProcess:
    """Run the command in ``folder``, with the limits of `told_before`; it ends in half an hour."""
    command = [sys.executable, *map(str, [*program, *arguments])]
    return subprocess.run(
        told_before(command, False, size, memory),
        cwd=folder,
        env=os.environ | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
