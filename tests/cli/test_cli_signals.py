"""Being asked to stop: once or several times at once, the ends are tied up and the code is 130."""

import signal
import subprocess
import sys

import pytest

COMMAND = """
import signal, sys, time
# Tests may run where either is ignored (under `nohup`, in the background of a script).
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_IGN if "ignored" in sys.argv else signal.SIG_DFL)
from seq2seq_bottleneck.cli import main

def waste():
    print("begun", flush=True)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        pass

def app(*_, **__):
    if MOMENT:
        exec(MOMENT, {"waste": waste, "sys": sys})
        time.sleep(60)
    try:
        print("begun", flush=True)
        time.sleep(2 if "ignored" in sys.argv else 60)
    finally:
        print("tying up", flush=True)
        time.sleep(0.5)
        print("tied up", flush=True)

main.app = app
if "report" not in sys.argv:
    sys.argv.append("sweep")  # which goes on when it is given again
main.main()
"""
INTERRUPTED = "bottleneck: interrupted; the same command goes on from where it stopped\n"
MOMENTS = {
    "a callback of the collector's, as jax has one": """
import gc
gc.callbacks.append(lambda *_: (gc.callbacks.clear(), waste()))
gc.collect()
""",
    "a comparison that jax asks for": """
class Compared:
    def __eq__(self, other):
        waste()
        return True
try:
    Compared() == Compared()
except BaseException as error:  # as jaxlib does
    raise ValueError("Exception raised while checking equality") from error
""",
    "an import": """
import pathlib, tempfile
folder = tempfile.mkdtemp()
pathlib.Path(folder, "slow_to_import.py").write_text("import __main__; __main__.waste()")
sys.path.insert(0, folder)
import slow_to_import
assert slow_to_import.__main__
""",
    "what swallows it": """
class Dropped:
    def __del__(self):
        waste()
Dropped()
""",
}
"""Code in which an interrupt would be lost or become another error."""


def start(*arguments, moment=""):
    process = subprocess.Popen(
        [sys.executable, "-c", f"MOMENT = {moment!r}\n{COMMAND}", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "later"),
    [
        (["SIGINT"], []),
        (["SIGINT", "SIGTERM"], []),
        (["SIGTERM"], ["SIGINT", "SIGHUP"]),
        (["SIGHUP"], ["SIGINT", "SIGINT"]),
    ],
)
def test_a_second_signal_does_not_break_into_the_ending(first, later):
    process = start()
    for name in first:
        process.send_signal(getattr(signal, name))
    assert process.stdout.readline() == "tying up\n"
    for name in later:
        process.send_signal(getattr(signal, name))
    printed, errors = process.communicate(timeout=30)
    assert (printed, errors, process.returncode) == ("tied up\n", INTERRUPTED, 130)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "stop", "expected"),
    [
        # A command that begins anew says nothing of going on.
        ("report", signal.SIGINT, ("bottleneck: interrupted\n", 130)),
        # `nohup bottleneck sweep ...` goes on when its terminal is closed.
        ("ignored", signal.SIGHUP, ("", 0)),
    ],
)
def test_what_begins_anew_says_so_and_what_is_ignored_stays_ignored(argument, stop, expected):
    process = start(argument)
    process.send_signal(stop)
    printed, errors = process.communicate(timeout=30)
    assert (printed, errors, process.returncode) == ("tying up\ntied up\n", *expected)


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_at_a_deaf_moment_is_not_lost(moment):
    process = start(moment=MOMENTS[moment])
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (errors, process.returncode) == (INTERRUPTED, 130)
