"""What every test needs: the CPU, checked shapes, no silent broadcasting.

Flags and the import hook are here because they must be set before the package is imported.
"""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import jax
import pytest
from beartype import BeartypeConf
from beartype.claw import beartype_package
from jaxtyping import install_import_hook
from lanes import SAMPLE, draw_sample

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax.config.update("jax_platforms", os.environ["JAX_PLATFORMS"])
jax.config.update("jax_numpy_rank_promotion", "raise")

# The arrays of a test are tiny, so most time goes into compiling. These flags cut it (44 s to 14 s
# for tests/training). XLA aborts on a flag that it does not know, hence the versions.
if (0, 7) <= jax.__version_info__ < (0, 11):
    quick = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    os.environ.setdefault("XLA_FLAGS", quick)

# Tests build the same programs over and over, in every worker: compile each once per session.
PROGRAMS = "SEQ2SEQ_BOTTLENECK_TEST_PROGRAMS"
"""The environment variable that tells workers the folder of compiled programs."""
OWN_FOLDER = PROGRAMS not in os.environ
if OWN_FOLDER:
    os.environ[PROGRAMS] = tempfile.mkdtemp(prefix="compiled-")
jax.config.update("jax_compilation_cache_dir", os.environ[PROGRAMS])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

PACKAGE = "seq2seq_bottleneck"
GRAMMAR = f"{PACKAGE}.corpus.grammar"
NEED = ("from jaxtyping import", "if TYPE_CHECKING:")


def for_jaxtyping() -> list[str]:
    """The modules whose annotations give shapes of arrays, or use names that are not imported."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    return [
        ".".join((PACKAGE, *path.relative_to(root).with_suffix("").parts))
        for path in root.rglob("*.py")
        if any(map(path.read_text(encoding="utf8").__contains__, NEED))
    ]


# Beartype checks all types. Jaxtyping takes ten times as long per call: it checks shapes, names
# that beartype would have to find, and the grammar, where it can be switched off for many draws.
beartype_package(PACKAGE, conf=BeartypeConf(claw_is_pep526=False))
install_import_hook([*for_jaxtyping(), GRAMMAR], "beartype.beartype")


def pytest_unconfigure() -> None:
    """The process that made the folder removes it."""
    if OWN_FOLDER:
        shutil.rmtree(os.environ[PROGRAMS], ignore_errors=True)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Archives contain their time of making, but workers must agree on a test's name."""
    return "bytes" if isinstance(val, bytes) else None


def pytest_report_header() -> str:
    """How to draw the same sample of the exhaustive tests again."""
    return f"sample of the exhaustive tests: {SAMPLE}={os.environ[SAMPLE]}"


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Draw the sample before a lane is chosen; then put the longest files first.

    Workers get whole files in this order, so that at the end none waits long. The marks of a
    file's tests say how long it takes, or else its number of tests does.
    """
    draw_sample(items)
    yield
    tests = Counter(item.path for item in items)
    minutes: Counter[Path] = Counter()
    for item in items:
        for mark in (*item.iter_markers("slow"), *item.iter_markers("exhaustive")):
            minutes[item.path] = max(minutes[item.path], mark.kwargs.get("minutes", 0))
    items.sort(key=lambda item: (-minutes[item.path], -tests[item.path]))


@pytest.fixture
def float64() -> Iterator[None]:
    """Double precision for one test; arrays must be made within it."""
    with jax.enable_x64(True):
        yield
