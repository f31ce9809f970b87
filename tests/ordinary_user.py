"""What permissions and limits do to a process: root ignores the former until it gives that up."""

import ctypes
import os
from collections.abc import Callable

_PR_CAPBSET_DROP = 24
_PAST_PERMISSIONS = (1, 2, 3)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
CANNOT = "root, and the system does not let it give up what lets it past permissions"


def give_up_privileges() -> None:
    """For a child before its program: permissions of files are then for root as for anyone."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in _PAST_PERMISSIONS:
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), CANNOT)


def limited(size: int) -> Callable[[], None]:
    """For a child before its program: no file grows beyond so many bytes."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limit
