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

from .. import __version__
from ..settings.machine import COMMAND, cache_root, cores, nproc_from


def describe_environment() -> dict[str, Any]:
    """Facts that numbers may depend on, as plain JSON values; the command line if it is known."""
    device = jax.devices()[0]
    command = os.environ.get(COMMAND)
    versions = {}
    for name in ("flax", "jax", "jaxlib", "numpy", "optax", "sacrebleu", "sentencepiece"):
        with suppress(PackageNotFoundError):  # subwords' is an extra
            versions[name] = version(name)
    return ({"command": command} if command else {}) | {
        "bottleneck": __version__,
        "commit": _commit(),
        "versions": versions,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "device": f"{device.platform}: {device.device_kind}",
        "threads": nproc_from(os.environ) or cores(),
    }


def _commit() -> str | None:
    """The git commit of the checkout this package runs from, if any; ``+`` if it was changed."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return None
    try:
        head, changed = (
            subprocess.run(
                ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
            ).stdout
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.strip() + ("+" if changed else "")


def _processor() -> str:
    """The processor's name, from Linux's own list where the standard library does not know it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


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
