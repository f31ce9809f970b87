"""Verdicts on the lecture's claims, by rules written before the run."""
