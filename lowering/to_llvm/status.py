"""The status that native code returns where something failed (`runtime/abi.py`)."""

from __future__ import annotations

from xrelay.lowering.loop_to_scf.graph_function import CANCELLED

UNSPECIFIED = 1
CHECK = 6
"""The reason of an assertion in a function that takes the sizes of names."""
OUT_OF_MEMORY = 5
REASONS: dict[str, int] = {
    "index out of range": 2,
    "shape mismatch": 3,
    "division by zero": 4,
    "out of memory": OUT_OF_MEMORY,
    CANCELLED: 7,
}
"""Maps the beginning of an assertion's message to the reason in the status; any other message is `UNSPECIFIED`."""


def status_of(message: str, kernel: int | None) -> int:
    """The status of a failed assertion with this message, in the kernel of this number."""
    reason = next((number for text, number in REASONS.items() if message.startswith(text)), UNSPECIFIED)
    return reason if kernel is None else reason | kernel_bits(kernel)


def kernel_bits(kernel: int) -> int:
    """What the kernel of this number adds to the reason in a status."""
    return (kernel + 1) << 8


def check_status(number: int) -> int:
    """The status where the check of this number in `xrelay.checks` failed."""
    return CHECK | (number + 1) << 8
