"""What every test stands on: the CPU, checked shapes, no silent broadcasting.

Flags and the import hook must be in place before anything of the package is imported, hence here.
"""

import os
from collections.abc import Iterator

import jax
import pytest
from jaxtyping import install_import_hook

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax.config.update("jax_platforms", os.environ["JAX_PLATFORMS"])
jax.config.update("jax_numpy_rank_promotion", "raise")

# The arrays of a test are tiny: compiling takes the time, not running (14 s against 44 s for
# tests/training). XLA aborts on a flag that it does not know, hence the versions.
if (0, 7) <= jax.__version_info__ < (0, 11):
    quick = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    os.environ.setdefault("XLA_FLAGS", quick)

install_import_hook("seq2seq_bottleneck", "beartype.beartype")


def pytest_configure(config: pytest.Config) -> None:
    """Beartype dislikes ``typing.Hashable``, which is flax's choice (``nnx.GraphDef``)."""
    ignored = "ignore::beartype.roar.BeartypeDecorHintPep585DeprecationWarning"
    config.addinivalue_line("filterwarnings", ignored)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Archives hold the time at which they were made, and workers must agree on a test's name."""
    return "bytes" if isinstance(val, bytes) else None


@pytest.fixture
def float64() -> Iterator[None]:
    """Double precision for one test; arrays must be made within it."""
    with jax.enable_x64(True):
        yield
