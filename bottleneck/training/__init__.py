"""Training: the loss, the update, its loop."""
