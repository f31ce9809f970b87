"""Runs: one or many, worker processes, clusters, the store, checkpoints, translations."""
