"""Rewrites within a level, one pass a file, and what they run on."""
