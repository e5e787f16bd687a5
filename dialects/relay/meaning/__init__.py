"""Numpy code that the `evaluate` methods of several operators share. Nothing here is shared with `computes`."""
