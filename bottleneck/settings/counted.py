"""A count with its noun, in one or in many."""


def counted(count: int, noun: str) -> str:
    """``1 cell``, ``12 cells``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
