"""Dataflow patterns: what a piece of a graph looks like, where it is, and pieces as functions of their own."""
