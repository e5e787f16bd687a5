"""Rewrites of relay programs: simplification, folding, layouts, fusion. One pass a file, named like the pass."""
