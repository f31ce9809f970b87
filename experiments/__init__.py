"""Sweep files and presets: what an installed command finds by name."""
