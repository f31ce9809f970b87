"""A run and many of them: store, workers, checkpoints, clusters, estimates."""
