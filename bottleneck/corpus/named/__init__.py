"""Real text by name: where it lies, how it is fetched, how it becomes pairs."""
