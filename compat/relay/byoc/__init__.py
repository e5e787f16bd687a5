"""Relay's passes for external code generators: regions of a graph that another compiler takes."""
