"""How large an expression over named dimensions may be.

Expressions share their parts, so that a few lines of a model describe one whose text has no end.
"""

from __future__ import annotations

from xrelay.errors import DimensionError

MAX_DEPTH = 64
"""How deep quotients, remainders and selections may be nested in each other."""

MAX_DEGREE = 12
"""How many factors a product may have: proofs about products of more names take too long."""

MAX_SIZE = 1000
"""How many names, operations and bytes of numbers the text of an expression may have."""


def check_limit(found: int, limit: int, parts: str) -> None:
    """Raises `DimensionError` for an expression with more than `limit` of its `parts`."""
    if found > limit:
        raise DimensionError(f"an extent is made of more than {limit} {parts}", help="fix the extents of the inputs")
