"""Dimensions and indices: expressions over named dimensions, affine expressions with bounds, and their text form.

The three dialects say extents and indices with it; it knows no op of theirs.
"""
