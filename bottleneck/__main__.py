"""``python -m seq2seq_bottleneck`` is the command ``bottleneck``."""

from .cli.main import main

if __name__ == "__main__":
    main()
