"""Verdicts on the lecture's claims, by rules in code; changes are dated in results/LOG.md."""
