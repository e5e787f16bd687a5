"""Rewrites of quantised operators."""
