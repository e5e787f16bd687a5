"""Rewrites of loop nests: schedules, erasing blocks, planning memory.

One primitive a file (`split.py`, `tile.py`, …), rewrite and pass together; what they share is in `primitives/`.
Questions about a nest are answered by `nest_queries.py`, edits stand in `nest_edits.py`.
"""
