"""xrelay: a deep-learning compiler you can read from end to end."""

__version__ = "0.1.0"
