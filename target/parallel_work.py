"""How much work a parallel loop needs for threads to pay, which schedules decide of numbers and kernels at run time."""

from typing import Final

MIN_PARALLEL_WORK: Final = 1 << 15
"""How many element operations a parallel loop should have: below that, waking the threads costs more than it saves."""
