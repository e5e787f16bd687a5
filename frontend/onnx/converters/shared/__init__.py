"""Helpers that converters of several families share; no module here registers a converter."""
