"""Translations from a trained model: greedy and by beam."""
