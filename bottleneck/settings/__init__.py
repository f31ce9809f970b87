"""Settings, presets and sweeps, and what all the code needs of files and errors."""
