"""Dataflow patterns: describe subgraphs, match them, and partition matches into functions."""
