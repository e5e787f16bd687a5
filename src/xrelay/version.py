"""The version of the package; builds read it here too."""

__version__ = "0.1.0"
