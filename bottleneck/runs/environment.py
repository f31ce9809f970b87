"""What a run ran on: versions, processor, device, threads; and the compilation cache."""

import hashlib
import os
import platform
import subprocess
import warnings
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
from jax import monitoring

from .. import __version__
from ..settings.machine import COMMAND, cache_root, cores, nproc_from

_LIBRARIES = ("flax", "jax", "jaxlib", "numpy", "optax", "sacrebleu", "sentencepiece")


def describe_environment() -> dict[str, Any]:
    """Facts that numbers may depend on, as plain JSON values; the command line if it is known."""
    device = jax.devices()[0]
    command = os.environ.get(COMMAND)
    return ({"command": command} if command else {}) | {
        "bottleneck": __version__,
        "commit": _commit(),
        "versions": _versions(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "device": f"{device.platform}: {device.device_kind}",
        "threads": threads(),
    }


def _versions() -> dict[str, str]:
    """Of the libraries that are installed: subwords' is an extra."""
    found = {}
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def threads() -> int:
    """Threads of XLA's CPU backend: NPROC where it is set, else the cores it may use."""
    return nproc_from(os.environ) or cores()


def _commit() -> str | None:
    """The git commit of the checkout this package runs from, if any; ``+`` if it was changed."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return None
    try:
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
        return _git(folder, "rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    """What a git command prints."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _processor() -> str:
    """The processor's name, from Linux's own list where the standard library does not know it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def cache_folder() -> Path | None:
    """Where compiled programs are kept between runs: a folder of this machine's own, if any.

    Compiled code is for one processor and one version of jax, so both are in its name: a home
    folder may be shared by machines of several kinds.
    """
    root = cache_root()
    kind = f"{platform.node()} {_processor()} {version('jaxlib')}"
    return root and root / hashlib.sha256(kind.encode()).hexdigest()[:12]


def use_cache() -> None:
    """Keep compiled programs between runs; without a writable cache folder, go on without.

    All are kept, the smallest too: dozens that each take some ms would add up to a second per run.
    One that cannot be read is compiled again; jax would say so for each, on two lines.
    """
    folder = cache_folder()
    if folder is None:
        return
    warnings.filterwarnings("ignore", message="Error (read|writ)ing persistent compilation cache")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    if os.access(folder, os.W_OK):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


class Programs:
    """How many programs this process has needed since ``start``, and had from the cache."""

    def __init__(self) -> None:
        self._needed = self._cached = 0
        self._counting = False

    def start(self) -> None:
        """Count from now on."""
        if not self._counting:
            monitoring.register_event_duration_secs_listener(self._count_needed)
            monitoring.register_event_listener(self._count_cached)
        self._counting = True

    def _count_needed(self, event: str, seconds: float, **_: Any) -> None:  # noqa: ARG002
        self._needed += event == _NEEDED

    def _count_cached(self, event: str, **_: Any) -> None:
        self._cached += event == _CACHED

    def described(self) -> dict[str, Any]:
        """As facts of the environment; none where nobody counts."""
        if not self._counting:
            return {}
        counts = {"compiled": self._needed - self._cached, "from_cache": self._cached}
        return {"programs": counts}


PROGRAMS = Programs()
"""Those of this process."""

_NEEDED = "/jax/core/compile/backend_compile_duration"  # also where the cache has it
_CACHED = "/jax/compilation_cache/cache_hits"
