"""What is measured of a translator or its output: pure functions of arrays, no jax."""
