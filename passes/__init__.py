"""Passes, which rewrite programs within a level, one pass a file, and the infrastructure that runs them."""
