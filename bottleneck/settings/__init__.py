"""Settings, presets and sweeps; errors and file writing, for all of the package."""
