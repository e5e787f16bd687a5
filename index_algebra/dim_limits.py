"""Limits on the size of expressions over named dimensions.

Expressions share subexpressions, so a few lines of a model can describe one whose text is exponentially long.
"""

from __future__ import annotations

from xrelay.errors import DimensionError

MAX_DEPTH = 64
"""The maximum nesting depth of quotients, remainders and selections."""

MAX_DEGREE = 12
"""The maximum number of factors in a product: proofs about products of more factors take too long."""

MAX_SIZE = 1000
"""The maximum number of names, operations and bytes of numbers in the text of an expression."""


def check_limit(found: int, limit: int, parts: str) -> None:
    """Raises `DimensionError` if an expression has `found` of its `parts`, more than `limit`."""
    if found > limit:
        raise DimensionError(f"an extent has more than {limit} {parts}", help="fix the extents of the inputs")
