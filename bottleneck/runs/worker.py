"""A process that executes a stack of runs: as JSON on stdin, events as JSON lines on stdout.

An event names its run by ``place``, counted from 0 in the order given. What any library prints goes
to stderr, so that events alone are on stdout.

SIGTERM asks it to stop: in training it first writes a checkpoint. So does the end of the process
that reads its events.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from ..settings.machine import mendable
from ..settings.run import parse_settings
from .checkpoint import StopRequest
from .environment import use_cache
from .pool import ENDS
from .run import execute


def main() -> None:
    """Read the job, execute it; an error the user can mend is an event, not a traceback."""
    job = json.loads(sys.stdin.read())
    stop = StopRequest()
    signal.signal(signal.SIGTERM, lambda *_: stop.ask())
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    live = set(range(len(job["stack"])))

    def emit(place: int, event: dict[str, Any]) -> None:
        if event["phase"] in ENDS:
            live.discard(place)
        try:
            print(json.dumps({"place": place} | event), file=events, flush=True)
        except BrokenPipeError:
            # Nobody reads any more; what is left in the buffer must not be flushed at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), events.fileno())
            stop.ask()

    stack = [parse_settings(settings) for settings in job["stack"]]
    for place in range(len(stack)):
        emit(place, {"phase": "starting", "process": os.getpid()})
    use_cache()
    try:
        execute(stack, Path(job["store"]), emit, stop, job["force"])
    except Exception as error:
        known = mendable(error)
        if known is None:
            raise
        for place in sorted(live):
            emit(place, {"phase": "failed", "reason": str(known), "exit_code": known.exit_code})


if __name__ == "__main__":
    main()
