"""Passes on dynamic shapes: extents become known, or get names that native code can compute."""
