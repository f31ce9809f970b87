"""Benchmarks that a user can run: what a step costs, in time and memory (C9)."""
