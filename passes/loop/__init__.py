"""Rewrites of loop nests: schedule primitives (`primitives/`), memory planning (`memory/`), and the lowering of blocks.

`nest_queries.py` has the queries on nests, `nest_edits.py` the edits.
"""
