"""How many examples random tests try: their own number times `XRELAY_EXAMPLES`, by default 1."""

from __future__ import annotations

import os

FACTOR = float(os.environ.get("XRELAY_EXAMPLES", "1"))


def examples(number: int) -> int:
    """`number` examples, or as many times more (or fewer, at least one) as `XRELAY_EXAMPLES` says."""
    return max(1, round(number * FACTOR))
