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

def app(*_, **__):
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


def started(*arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
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
    process = started()
    for name in first:
        process.send_signal(getattr(signal, name))
    assert process.stdout.readline() == "tying up\n"
    for name in later:
        process.send_signal(getattr(signal, name))
    printed, errors = process.communicate(timeout=30)
    assert printed == "tied up\n"
    assert errors == "bottleneck: interrupted; the same command goes on from where it stopped\n"
    assert process.returncode == 130


@pytest.mark.slow
def test_of_a_command_that_begins_anew_nothing_else_is_said():
    process = started("report")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (errors, process.returncode) == ("bottleneck: interrupted\n", 130)


@pytest.mark.slow
def test_a_signal_that_the_caller_has_us_ignore_stays_ignored():
    """`nohup bottleneck sweep ...` goes on when its terminal is closed."""
    process = started("ignored")
    process.send_signal(signal.SIGHUP)
    printed, errors = process.communicate(timeout=30)
    assert (printed, errors, process.returncode) == ("tying up\ntied up\n", "", 0)


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
    "what swallows it": """
class Dropped:
    def __del__(self):
        waste()
Dropped()
""",
    "an import": """
import pathlib, tempfile
folder = tempfile.mkdtemp()
pathlib.Path(folder, "slow_to_import.py").write_text("import __main__; __main__.waste()")
sys.path.insert(0, folder)
import slow_to_import
assert slow_to_import.__main__
""",
}
"""Code in which an interrupt would be lost or become another error."""


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_at_a_deaf_moment_is_not_lost(moment):
    body = f"""
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from seq2seq_bottleneck.cli import main

def waste():
    print("begun", flush=True)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        pass

def app(*_, **__):
    exec(MOMENT, {{"waste": waste, "sys": sys}})
    time.sleep(60)

MOMENT = {MOMENTS[moment]!r}
main.app = app
sys.argv.append("sweep")
main.main()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", body], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert errors == "bottleneck: interrupted; the same command goes on from where it stopped\n"
