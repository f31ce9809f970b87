"""The benchmarks are programs of their own beside the package: their folder joins the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "experiments" / "benchmarks"))
