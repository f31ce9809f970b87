"""The tables by name; apart from what makes them, so that the names can be had at once."""

TABLES = ("failure-pattern", "vindication", "context-size", "compression", "arms")
"""The tables of runs; those of `results.schema.STUDIES` have one each beside them."""

GOLD_TABLE = "alignment-gold"
"""The table of the study ``alignment`` put to gold links of the user's own."""

FORMATS = ("rich", "csv", "markdown", "latex", "json")
"""The forms of a table; ``rich`` is the terminal's."""
