"""Sentence pairs (drawn, read or downloaded), tokens, vocabularies and batches."""
