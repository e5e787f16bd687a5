"""Analyses and edits of relay graphs that several passes share."""
