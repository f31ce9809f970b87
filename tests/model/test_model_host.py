"""Results of jax on the host: whole, or jax's own error."""

import jax.numpy as jnp
import numpy as np
import pytest

from seq2seq_bottleneck.model.parts import on_host


def test_a_result_is_numpys():
    found = on_host(jnp.arange(6).reshape(2, 3) * 2)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [[0, 2, 4], [6, 8, 10]]
    assert on_host([1.5, 2.5]).tolist() == [1.5, 2.5]


def test_an_error_is_not_swallowed():
    deleted = jnp.ones(3)
    deleted.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        on_host(deleted)
