"""How much tests try: random ones their own number times `XRELAY_EXAMPLES`, others all where that is more than 1."""

from __future__ import annotations

import os

FACTOR = float(os.environ.get("XRELAY_EXAMPLES", "1"))


OPT_LEVELS = (0, 3) if FACTOR > 1 else (3,)
"""The levels at which native code of one op is tried: `make test` tries networks alone at all of them."""


def examples(number: int, *, more: int = 1) -> int:
    """`number` examples, or as many times more (or fewer, at least one) as `XRELAY_EXAMPLES` says.

    Where it says more there are `more` times as many again, for tests of which a few take long already.
    """
    return max(1, round(number * FACTOR * (more if FACTOR > 1 else 1)))
