"""The size of tests, scaled by the environment variable `XRELAY_EXAMPLES`."""

from __future__ import annotations

import os
from zlib import crc32

FACTOR = float(os.environ.get("XRELAY_EXAMPLES", "1"))


OPT_LEVELS = (0, 3) if FACTOR > 1 else (3,)
"""The levels at which tests compile single ops; `make test` compiles only networks at all levels."""

THOROUGH = 1 if FACTOR > 1 else 4
"""Some checks run for one text in this many, chosen by `chance`: verification after each pass, levels."""

OPTIMISED = 1 if FACTOR > 1 else 8
"""LLVM optimises one module in this many, chosen by `chance`, in tests that remember kernels."""


def chance(text: str) -> int:
    """A number that looks random and depends only on `text`."""
    return crc32(text.encode())


def examples(number: int, *, more: int = 1) -> int:
    """Returns `number` times `XRELAY_EXAMPLES`, at least 1.

    If `XRELAY_EXAMPLES` exceeds 1, the number is also multiplied by `more`, for tests whose examples are slow.
    """
    return max(1, round(number * FACTOR * (more if FACTOR > 1 else 1)))
