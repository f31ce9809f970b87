"""Estimates whose intervals are known."""

import numpy as np

from seq2seq_bottleneck.scoring.bootstrap import Estimate


def planted(value: float, half: float = 0.0) -> Estimate:
    """An estimate whose 95 % interval is value plus and minus half."""
    return Estimate(float(value), value + np.linspace(-half, half, 401) / 0.95)
