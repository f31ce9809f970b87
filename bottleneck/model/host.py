"""Results of jax as numpy has them."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Shaped


def on_host(result: Any) -> Shaped[np.ndarray, "..."]:
    """A result as an array of numpy's, once it is there.

    Of one whose computation found no memory this raises jax's error. ``numpy.asarray`` alone would
    wait for ever where it asks before the computation has failed (jax 0.8 to 0.10, CPU: the wait
    is for the buffer, which never comes, not for the error).
    """
    return np.asarray(jax.block_until_ready(result))
