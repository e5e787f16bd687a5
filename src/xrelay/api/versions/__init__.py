"""Versions of models for certain sizes, which another process compiles."""
