"""Operators as Python functions: derived from their definitions, or with the signatures of Relay's Python."""
