"""Pairs of sentences: drawn, read or fetched; tokens, vocabularies, batches."""
