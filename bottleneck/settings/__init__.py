"""Settings, presets and sweeps, and what every room needs of files and errors."""
