"""Relay's "bring your own codegen": outlines the parts of a graph that external code generators compile."""
