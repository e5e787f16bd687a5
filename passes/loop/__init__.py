"""Rewrites of loop nests: schedule primitives, lowering of blocks, and memory planning.

Each primitive has a file (`split.py`, `tile.py`, …) with its rewrite and its pass; shared parts are in `primitives/`.
`nest_queries.py` has the queries on nests, `nest_edits.py` the edits.
"""
