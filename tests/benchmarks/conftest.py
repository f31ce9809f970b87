"""The benchmarks are separate programs: their folder is added to the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "experiments" / "benchmarks"))
