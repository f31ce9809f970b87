"""The tables and verdicts that a results folder gives, for terminal, CSV and Markdown."""
