"""A process that does one task: told in JSON on stdin, events as JSON lines on stdout.

Its order names the ``task``, a function by module and name: of the runs `run.execute_stack`, of a
question's probe or benchmark one of `questions`, a room above this. It is given ``emit`` and the
rest of the order. An event has a ``place``, counted from 0 among the ``places`` that the task is
about, and a ``phase``. What any library prints goes to stderr, so that events alone are on stdout.

The end of the process that reads the events is SIGTERM to this.
"""

import json
import os
import signal
import sys
from pkgutil import resolve_name
from typing import Any

from ..settings.machine import mendable
from .pool import ENDS


def main() -> None:
    """Do the task; an error that the user can mend is an event, not a traceback."""
    order = json.loads(sys.stdin.read())
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    task, live = order.pop("task"), set(range(order.pop("places")))

    def emit(place: int, event: dict[str, Any]) -> None:
        if event["phase"] in ENDS:
            live.discard(place)
        try:
            print(json.dumps({"place": place} | event), file=events, flush=True)
        except BrokenPipeError:
            # What is left in the buffer must not be flushed at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), events.fileno())
            signal.raise_signal(signal.SIGTERM)

    try:
        resolve_name(f"{__package__.partition('.')[0]}.{task}")(emit, **order)
    except Exception as error:
        known = mendable(error)
        if known is None:
            raise
        for place in sorted(live):
            emit(place, {"phase": "failed", "reason": str(known), "exit_code": known.exit_code})


if __name__ == "__main__":
    main()
