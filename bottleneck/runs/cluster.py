"""More than one machine: the runs of a sweep on the workers of a Dask scheduler.

Start a scheduler with ``dask scheduler`` and on every machine
``dask worker tcp://HOST:8786 --nthreads 1 --nworkers N``, N its number of cores: a run takes one
thread of a worker and is a process of its own. Scheduler and workers need this package, in the same
version. Workers may join and leave at any time. They share no disk with this machine: settings go
out, the user's corpus once a worker, and the files of each run come back into this machine's store.
When a worker dies its runs are done again on others, from the checkpoint that the store has, if it
has one; with a fourth worker lost (Dask's ``distributed.scheduler.allowed-failures``) a run fails.

Whoever reaches a scheduler can run code on it, on its workers and, by what comes back, here. Keep
it on a network of your own, or use ``tls://`` addresses: Dask takes the certificates from its own
configuration (``distributed.comm.tls`` in ``~/.config/dask``, or DASK_DISTRIBUTED__COMM__TLS__...),
on all machines alike, and then speaks with holders of a certificate of that authority alone.
"""

import logging
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from ..settings.errors import UserError
from .pool import Job, Listener, Outcome

CONNECTING = 10.0
"""Seconds that a scheduler has to answer."""


def run_jobs_on_cluster(
    jobs: Sequence[Job],
    store: Path,
    listener: Listener,
    scheduler: str,
    force: bool = False,
    tell: Callable[[str], object] = str,
) -> list[Outcome]:
    """Execute all jobs into ``store`` on the workers of ``scheduler``, as ``run_jobs`` does here.

    A run that diverges or fails does not stop the others; a KeyboardInterrupt stops them all, and
    their checkpoints come back. ``tell`` takes what the user should know.

    Without Dask, or where the scheduler cannot be reached, a ``UserError``.
    """
    if find_spec("distributed") is None:
        raise UserError('--scheduler needs Dask: pip install "seq2seq-bottleneck[cluster]"')
    # Imported here: Dask is an extra.
    from distributed import Client

    from .dispatch import Dispatch

    _check_certificates(scheduler)
    try:
        client = Client(scheduler, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise UserError(
            f"cannot reach scheduler {scheduler!r}: {_line(error)}; `dask scheduler` starts one "
            "and prints its address"
        ) from None
    # What Dask has to say of a lost scheduler is a traceback; we say it in a line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        if not client.ncores():
            tell(f"waiting for workers at {scheduler}: dask worker {scheduler} --nthreads 1")
        return Dispatch(client, store, listener, force).run(jobs)


def _check_certificates(scheduler: str) -> None:
    """Refuse an address that does not go with what Dask is told of certificates.

    Without one for a ``tls://`` address, or with any other where all is to be encrypted, Dask ends
    in a traceback, after half a minute.
    """
    from distributed.security import Security

    known = Security()
    if not scheduler.startswith("tls://"):
        if known.require_encryption:
            raise UserError(
                f"scheduler {scheduler!r} is spoken to in clear, and Dask's configuration has "
                "distributed.comm.require-encryption: give the tls:// address of one that encrypts"
            )
    elif not known.get_connection_args("client")["ssl_context"]:
        raise UserError(
            f"scheduler {scheduler!r} asks for TLS; name ca-file, cert and key in Dask's "
            "configuration, under distributed.comm.tls.client"
        )


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
