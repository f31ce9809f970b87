"""Commands as an ordinary user runs them: root may write where nobody may.

A process of root's gives up the rights that let it pass over those of files (on Linux), and then
obeys them as the owner of its files, as any user does.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

STRANGER = 54_321
"""A user that no system knows: it has no home."""
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
_DROP = 24
"""PR_CAPBSET_DROP of Linux's prctl."""
_OVERRIDES = (1, 2, 3)
"""CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER."""


def give_up_privileges() -> None:
    """In the child, before the program is loaded: what is dropped here it cannot get."""
    libc = ctypes.CDLL(None, use_errno=True)
    for right in _OVERRIDES if IS_ROOT else ():
        libc.prctl(_DROP, right, 0, 0, 0)


def limited(size: int) -> Callable[[], None]:
    """For a child before its program: no file grows beyond so many bytes."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limit


def ordinary(
    arguments: Sequence[str], folder: Path, user: int | None = None, **environment: str | None
) -> subprocess.CompletedProcess:
    """Run the command without root's rights, in ``folder``; None takes a variable away."""
    return _python(["-m", "seq2seq_bottleneck", *arguments], folder, user, environment)


def _python(
    arguments: Sequence[str], folder: Path, user: int | None, environment: dict[str, str | None]
) -> subprocess.CompletedProcess:
    changed = {name: value for name, value in environment.items() if value is not None}
    kept = {name: value for name, value in os.environ.items() if name not in environment}
    other = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=kept | changed,
        preexec_fn=give_up_privileges if user is None else None,
        capture_output=True,
        text=True,
        check=False,
        **other,
    )


def require_ordinary(folder: Path) -> None:
    """Skip where rights cannot be given up, so that a folder for reading only is written to."""
    shut = folder / "shut"
    shut.mkdir(mode=0o555)
    done = _python(["-c", "open('shut/x', 'w')"], folder, None, {})
    if done.returncode == 0:
        pytest.skip("this system's root cannot give up its rights: nothing is for reading only")


def require_stranger(folder: Path) -> None:
    """Skip where another user cannot be had, or cannot start Python, as one in root's own home."""
    try:
        done = ordinary(["--version"], folder, STRANGER)
    except PermissionError as error:
        pytest.skip(f"a user without a home cannot be had here: {error}")
    if done.returncode:
        pytest.skip(f"user {STRANGER} cannot run this checkout: {done.stderr.strip()[-200:]}")


def read_only(folder: Path) -> None:
    """Take the right to write from all."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
