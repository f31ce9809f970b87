"""BLEU and its intervals from per-sentence statistics, chrF, paired tests."""
