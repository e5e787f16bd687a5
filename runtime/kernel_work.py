"""The work of a kernel, and the form of its symbol in object code; without numpy, for processes that lower kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KERNEL_PREFIX: Final = "xrelay_kernel_"
"""The prefix of the symbols of kernels in object code."""
KERNEL_DIGITS: Final = 24
CODE_LENGTH: Final = len(KERNEL_PREFIX) + KERNEL_DIGITS
"""The length of such a symbol; the names of the functions that are parts of the kernel begin with it."""


@dataclass(frozen=True, slots=True)
class KernelWork:
    """The work of a call of a kernel, for profiles.

    `operations` and `bytes` are texts over the extents `d0`, `d1`, … of the call, empty if unknown: the arithmetic
    operations, and the sizes of the buffers that it accesses. `cycles` is the estimate of the cost model, or 0
    without one, for the extents `typical`. `schedule` is a phrase about the schedule.
    """

    operations: str = ""
    bytes: str = ""
    cycles: int = 0
    schedule: str = ""
    typical: tuple[int, ...] = ()


UNKNOWN_WORK: Final = KernelWork()
