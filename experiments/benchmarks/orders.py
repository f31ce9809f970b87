"""The other end of ``teams.Worker``: a process that answers orders, one line of JSON each."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

Answer = dict[str, Any]


def serve(ready: Answer, orders: Mapping[str, Callable[..., Answer]]) -> None:
    """Say that all is ready, then answer until stdin ends."""
    print(json.dumps(ready), file=_answers, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        answer = orders[order.pop("do")](**order)
        print(json.dumps(answer), file=_answers, flush=True)


# Whatever a library prints goes to stderr, so that stdout holds answers alone.
_answers = os.fdopen(os.dup(1), "w", encoding="utf8")
os.dup2(2, 1)
