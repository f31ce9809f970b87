"""Does a fixed vector squeeze a sentence to death, and does attention bring it back?

``seq2seq_bottleneck`` trains small English-French translators with and without attention and
prints the lecture's tables with measured numbers beside the printed ones.
"""

if __name__ == "bottleneck":
    # pandas imports any module called "bottleneck" (PyData's accelerator). With the repository
    # root on sys.path it would find this folder; ImportError is what it reads as "not installed".
    raise ImportError("this folder is the package seq2seq_bottleneck, not PyData's bottleneck")

__version__ = "0.1.0"
