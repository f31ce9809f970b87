"""Fixture for tests that draw many sentences."""

from collections.abc import Iterator

import pytest
from jaxtyping import config


@pytest.fixture(scope="module")
def unchecked() -> Iterator[None]:
    """Switch off run-time type checks, which make draws a hundred times slower. The tests of
    known answers run every function with checks on."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
