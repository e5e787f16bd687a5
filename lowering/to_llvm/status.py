"""The status that native code returns on failure (`runtime/abi.py`)."""

from __future__ import annotations

from xrelay.lowering.loop_to_scf.graph_function import CANCELLED

UNSPECIFIED = 1
CHECK = 6
"""The reason of an assertion in a function with named dimensions."""
OUT_OF_MEMORY = 5
REASONS: dict[str, int] = {
    "index out of range": 2,
    "shape mismatch": 3,
    "division by zero": 4,
    "out of memory": OUT_OF_MEMORY,
    CANCELLED: 7,
}
"""Beginning of an assertion's message → reason in the status; any other message is `UNSPECIFIED`."""


def status_of(message: str, kernel: int | None) -> int:
    """Returns the status of a failed assertion with this message, in the kernel with this number."""
    reason = next((number for text, number in REASONS.items() if message.startswith(text)), UNSPECIFIED)
    return reason if kernel is None else reason | kernel_bits(kernel)


def kernel_bits(kernel: int) -> int:
    """Returns the bits of a status that hold the kernel's number."""
    return (kernel + 1) << 8


def check_status(number: int) -> int:
    """Returns the status of a failure of check `number` in `xrelay.checks`."""
    return CHECK | (number + 1) << 8
