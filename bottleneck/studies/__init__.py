"""A question of the lecture each: which runs, which probe, into which file of the bundle."""
