"""How long the rest of some work takes, told by how fast the latest of it went."""

import time


class TimeLeft:
    """Marks of work done, in any unit; the start is one.

    Programs are compiled in the first moments, when little else is done: the time left is told by
    the later half of the marks alone.
    """

    def __init__(self, done: int | float = 0):
        self._marks: list[tuple[float, int | float]] = [(time.perf_counter(), done)]

    def mark(self, done: int | float) -> None:
        """So much is done by now; nothing is noted where that is no more than before."""
        if done > self._marks[-1][1]:
            self._marks.append((time.perf_counter(), done))

    def seconds_left(self, work: int | float) -> float | None:
        """Until all ``work`` is done; None as long as nothing is."""
        now, done = self._marks[-1]
        begun, before = self._marks[(len(self._marks) - 1) // 2]
        return (now - begun) / (done - before) * (work - done) if done > before else None
