"""A sweep that halts once, for a while, at one of its stages: a test can kill it just there.

`halting_sweep.py STAGE MARK ARGUMENTS...`, a program of its own; ``MARK`` is a file that it makes
where it halts. Its workers are the same program, as `halting_sweep.py STAGE MARK -m MODULE`.
"""

import runpy
import shlex
import sys
import time
from pathlib import Path
from pkgutil import resolve_name
from unittest.mock import patch

SECONDS = 5.0
"""Long enough to be found halted, and less than a worker has to end when asked to."""
OF_DRIVER = {
    "planning": "runs.sweep:plan",
    "starting workers": "runs.pool:worker_environment",
    "gathering": "runs.sweep:write_bundle",
}
OF_WORKER = {
    "starting": "runs.run:use_cache",
    "preparing the corpus": "runs.run:load_corpus",
    "training": "corpus.batches:TrainingBatches.batch",
    "validating": "training.loop:sentence_losses",
    "keeping a checkpoint": "runs.checkpoint:to_bytes",
    "decoding": "runs.evaluation:decode",
    "scoring": "runs.evaluation:bucket_rows",
    "writing": "runs.evaluation:make_examples",
    "ending": "runs.store:seal",
}
"""Of each stage the function, by module, at whose first call it halts."""


def halt_at(function: str, mark: Path) -> None:
    """Have a function of the package halt at its first call, if no process has halted yet."""
    function = f"seq2seq_bottleneck.{function}"
    plain = resolve_name(function)

    def halting(*args, **kwargs):
        if not mark.exists():
            mark.touch()
            time.sleep(SECONDS)
        return plain(*args, **kwargs)

    patch(function.replace(":", "."), halting).start()


def workers_halt(mark: Path) -> None:
    """Have workers started by this program, too: as Python they are given a script."""
    script = mark.with_suffix(".sh")
    program = shlex.join([sys.executable, __file__, *sys.argv[1:3]])
    script.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    script.chmod(0o755)
    sys.executable = str(script)


def main() -> None:
    stage, mark, arguments = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    if arguments[0] == "-m":
        halt_at(OF_WORKER[stage], mark)
        runpy.run_module(arguments[1], run_name="__main__")
        return
    if stage in OF_DRIVER:
        halt_at(OF_DRIVER[stage], mark)
    else:
        workers_halt(mark)
    from seq2seq_bottleneck.cli.main import main as command

    sys.argv[1:] = arguments
    command()


if __name__ == "__main__":
    main()
