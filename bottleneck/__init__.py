"""Does a fixed vector squeeze a sentence to death, and does attention bring it back?

``seq2seq_bottleneck`` trains small English-French translators with and without attention and
prints the lecture's tables with measured numbers beside the printed ones.
"""

from typing import TYPE_CHECKING, Any

if __name__ == "bottleneck":
    # pandas imports any module called "bottleneck" (PyData's accelerator). With the repository
    # root on sys.path it would find this folder; ImportError is what it reads as "not installed".
    raise ImportError("this folder is the package seq2seq_bottleneck, not PyData's bottleneck")

if TYPE_CHECKING:
    from .results.bundle import Results

    load = Results.open

__version__ = "0.1.0"
__all__ = ["Results", "__version__", "load"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """``load`` and ``Results``, imported when they are asked for: the command starts at once."""
    if name in ("Results", "load"):
        from .results.bundle import Results

        return Results if name == "Results" else Results.open
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
