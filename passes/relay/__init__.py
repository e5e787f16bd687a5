"""Rewrites of relay programs: simplification, folding, normal forms. One pass a file, named like the pass."""
