"""Dimensions and indices: expressions over named dimensions, affine expressions with bounds, and their text form.

The dialects relay, topi and loop use it for extents and indices; it depends on no dialect.
"""
