"""Scores from per-sentence statistics: BLEU, chrF, length buckets, bootstrap, spread."""
