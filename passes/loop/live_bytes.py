"""How many bytes of a block's buffers are needed at each place, and whether others may be needed for longer.

What kernels work in is not counted, as schedules decide about it; so a little more than before is no reason to refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

LITTLE: Final = 1 << 20
"""Bytes that a function may need whatever it needed before."""
SHARE: Final = 8
"""By so large a part of what was needed, an eighth, more may be."""


@dataclass(frozen=True)
class Span:
    """So many bytes more, or fewer, from place `first` to `last`, both included."""

    bytes: int
    first: int
    last: int


class LiveBytes:
    """The bytes in a block of so many places, and how many there may be."""

    def __init__(self, places: int, spans: Iterable[Span]):
        steps: NDArray[np.int64] = np.zeros(places + 1, np.int64)
        for span in spans:
            steps[span.first] += span.bytes
            steps[span.last + 1] -= span.bytes
        self._bytes = np.cumsum(steps[:-1])
        most = int(self._bytes.max(initial=0))
        self._limit = max(most + most // SHARE, LITTLE)

    def allows(self, changes: Sequence[Span]) -> bool:
        """Whether no place would need much more than the one that needed most in the beginning."""
        first, last = min(span.first for span in changes), max(span.last for span in changes)
        return int(self._changed(changes, first, last).max()) <= self._limit

    def change(self, changes: Sequence[Span]) -> None:
        """Takes changes over."""
        first, last = min(span.first for span in changes), max(span.last for span in changes)
        self._bytes[first : last + 1] = self._changed(changes, first, last)

    def _changed(self, changes: Sequence[Span], first: int, last: int) -> NDArray[np.int64]:
        """The bytes at the places from `first` to `last` after changes."""
        steps: NDArray[np.int64] = np.zeros(last - first + 2, np.int64)
        for span in changes:
            steps[span.first - first] += span.bytes
            steps[span.last + 1 - first] -= span.bytes
        return self._bytes[first : last + 1] + np.cumsum(steps[:-1])
