"""A process that executes one run: the job as JSON on stdin, events as JSON lines on stdout."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from ..settings.errors import UserError
from ..settings.run import parse_settings
from .environment import use_cache
from .run import execute


def emit(event: dict[str, Any]) -> None:
    """Send one event to the process that started this one."""
    print(json.dumps(event), flush=True)


def main() -> None:
    """Read the job, execute it; an error the user can mend is an event, not a traceback."""
    job = json.loads(sys.stdin.read())
    emit({"phase": "starting", "process": os.getpid()})
    use_cache()
    try:
        execute(parse_settings(job["settings"]), Path(job["store"]), emit)
    except UserError as error:
        emit({"phase": "failed", "reason": str(error), "exit_code": error.exit_code})


if __name__ == "__main__":
    main()
