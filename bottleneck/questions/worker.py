"""A process that probes one run, or measures a point of the benchmark.

It reads its task as JSON from stdin, and tells what it is at, or what it measured, as JSON lines on
stdout. A library that prints, prints on stderr.
"""

import json
import os
import sys
from pathlib import Path

from ..runs.environment import use_cache
from ..settings.errors import UserError
from .probing import keep
from .question import find_study
from .subject import open_subject


def main() -> None:
    """Do the task; the user's own error is a line as well."""
    task = json.loads(sys.stdin.read())
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(**event: object) -> None:
        print(json.dumps(event), file=events, flush=True)

    use_cache()
    if "sizes" in task:
        from .step_cost import measure

        tell(**measure(**task))
        return
    study, run = find_study(task["study"]), Path(task["run"])
    try:
        keep(run, study, study.probe(open_subject(run), lambda words: tell(phase=words)))
    except UserError as error:
        tell(failed=str(error))


if __name__ == "__main__":
    main()
