"""Being asked to stop, by Ctrl-C or a signal: heard once, and never lost."""

import signal
import sys
import threading
from types import FrameType
from typing import Any

DEAF = ("_xla_gc_callback", "__eq__", "__hash__")
"""Functions called by jax, which swallows what is raised in them, or makes another error of it."""
IMPORTING = "<frozen importlib"
PROGRAM = f"{__package__}.main"
"""Where the program begins: what called it (`runpy`, a module that is just imported) is no
matter of ours."""
AGAIN = 0.05
"""Seconds until a signal that came at such a moment is sent once more."""


def listen() -> None:
    """From now on a signal to stop is an interrupt like Ctrl-C, of the main thread."""
    for stop in stop_signals():
        signal.signal(stop, interrupt)
    sys.unraisablehook = _swallowed


def stop_signals() -> list[int]:
    """The signals that ask us to stop, but for those that our caller has us ignore (`nohup`)."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]  # Windows: no HUP
    return [stop for stop in known if signal.getsignal(stop) != signal.SIG_IGN]


def interrupt(number: int, frame: FrameType | None) -> None:
    """Being asked to stop is a ``KeyboardInterrupt`` like Ctrl-C: the runs keep their checkpoints.

    Once is enough: a second signal would break into what ends the runs and writes them down,
    which takes seconds. One that comes while modules are imported, or in what would swallow it, is
    put off.
    """
    if _is_deaf(frame):
        _send_again(number)
        return
    for stop in stop_signals():
        signal.signal(stop, _nothing)
    raise KeyboardInterrupt


def _nothing(*_: object) -> None:
    """Go on with stopping. (No process that we start inherits this, as it would SIG_IGN.)"""


def _is_deaf(frame: FrameType | None) -> bool:
    """Whether the frame, or one of ours that called it, is no place to be interrupted at."""
    while frame is not None and frame.f_globals.get("__name__") != PROGRAM:
        code = frame.f_code
        if code.co_name in DEAF or code.co_filename.startswith(IMPORTING):
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    timer = threading.Timer(AGAIN, _send, (number,))
    timer.daemon = True
    timer.start()


def _send(number: int) -> None:
    """To the main thread, which may be waiting for something."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident, number)
    else:  # Windows
        signal.raise_signal(number)


def _swallowed(told: Any) -> None:
    """What was raised where nothing can be: an interrupt comes once more."""
    if told.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(told)
        return
    stops = stop_signals()
    for stop in stops:
        signal.signal(stop, interrupt)
    _send_again(stops[0])
