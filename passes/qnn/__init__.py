"""Rewrites of operators on quantised numbers."""
