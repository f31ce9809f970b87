"""What ``bottleneck`` alone says."""

GREETING = """\
bottleneck trains small English-French translators, without attention and with,
and sets what it measures beside the numbers that the lecture's slides print.

Three commands to try:

  bottleneck lecture
      the printed numbers, recomputed (seconds; nothing is trained)
  bottleneck reproduce
      the lecture's two tables, measured (5 to 10 minutes on two cores)
  bottleneck translate "the black cat sat on the mat"
      a sentence through both translators (seconds, after reproduce)

All commands: bottleneck --help. What one of them takes: bottleneck NAME --help.
"""
"""Two lines on what it is, three commands with what each takes, and where the others are told."""
