"""The translator: encoder, attention and decoder; it knows nothing about text."""
