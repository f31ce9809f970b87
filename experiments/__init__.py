"""Sweep files and presets, which an installed command finds by name."""
