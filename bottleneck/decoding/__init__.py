"""Translate with a trained model: greedy and beam search."""
