"""The version of the package, which builds read from this file."""

__version__ = "0.1.0"
