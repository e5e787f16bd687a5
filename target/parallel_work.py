"""The minimum work of a parallel loop. Schedules compare it with static extents, kernels with dynamic ones."""

from typing import Final

MIN_PARALLEL_WORK: Final = 1 << 15
"""The minimum number of element operations in a parallel loop: below it, waking threads costs more than it saves."""
