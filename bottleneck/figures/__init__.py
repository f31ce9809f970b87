"""Figures for slides, drawn with matplotlib from a bundle; each with the numbers it shows."""
