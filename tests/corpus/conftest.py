"""For tests that draw many sentences."""

from collections.abc import Iterator

import pytest
from jaxtyping import config


@pytest.fixture(scope="module")
def unchecked() -> Iterator[None]:
    """No types checked at run time: it makes draws a hundred times slower, and the tests of
    known answers go through every function with them on."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
