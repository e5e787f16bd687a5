"""The bytes of a block's live buffers at each position, and whether lifetimes may grow.

The scratch memory of kernels is not counted, because it depends on their schedules; therefore a small increase is
allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

LITTLE: Final = 1 << 20
"""Bytes that a function may always need."""
SHARE: Final = 8
"""The maximum may grow by this fraction, an eighth, of its initial value."""


@dataclass(frozen=True)
class Span:
    """A change of the live bytes from position `first` to `last`, both included."""

    bytes: int
    first: int
    last: int


class LiveBytes:
    """The live bytes at each position of a block, and their limit."""

    def __init__(self, places: int, spans: Iterable[Span]):
        steps: NDArray[np.int64] = np.zeros(places + 1, np.int64)
        for span in spans:
            steps[span.first] += span.bytes
            steps[span.last + 1] -= span.bytes
        self._bytes = np.cumsum(steps[:-1])
        most = int(self._bytes.max(initial=0))
        self._limit = max(most + most // SHARE, LITTLE)

    def allows(self, changes: Sequence[Span]) -> bool:
        """Whether all positions stay within the limit after the changes."""
        first, last = min(span.first for span in changes), max(span.last for span in changes)
        return int(self._changed(changes, first, last).max()) <= self._limit

    def change(self, changes: Sequence[Span]) -> None:
        """Applies changes."""
        first, last = min(span.first for span in changes), max(span.last for span in changes)
        self._bytes[first : last + 1] = self._changed(changes, first, last)

    def _changed(self, changes: Sequence[Span], first: int, last: int) -> NDArray[np.int64]:
        """The bytes at the positions from `first` to `last` after the changes."""
        steps: NDArray[np.int64] = np.zeros(last - first + 2, np.int64)
        for span in changes:
            steps[span.first - first] += span.bytes
            steps[span.last + 1 - first] -= span.bytes
        return self._bytes[first : last + 1] + np.cumsum(steps[:-1])
