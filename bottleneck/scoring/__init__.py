"""Scores from per-sentence statistics: BLEU, chrF, bootstrap, paired tests."""
