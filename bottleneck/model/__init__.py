"""The translator: encoder, attention, decoder; nothing about text."""
