"""The binary interface between compiled models and the runtime.

The entry of a model is `i32 xrelay_entry(ptr ctx, ptr args)`. `args` is an array of pointers to inputs, outputs,
weights and the arena, in that order; the arena's pointer is present even if its size is 0. Weights and arena are
aligned to `ALIGNMENT` bytes, inputs and outputs to their element. `ctx` points to `Context`.

Outputs of data-dependent shape are dynamic buffers and have no element in `args`. If there are any, the
element after the arena's points to space for 64-bit integers, in which the run stores, for each such output in order,
its address and then its dynamic extents. They are valid if the status is 0, until `void xrelay_release(ptr ctx)`. A
model with such outputs defines this function, which is called after every run, also after failed ones.

For a model with named dimensions, the last element of `args` points to their sizes, 64-bit integers from 0 to
`MAX_EXTENT`. Such a model also defines `i32 xrelay_plan(ptr ctx, ptr dims, ptr sizes)`. From the sizes at `dims` it
writes 64-bit integers to `sizes`: the bytes of the arena; the dynamic extents of the outputs that are not dynamic
buffers, in order; and the maximum bytes that a run needs besides the arena: of dynamic buffers, of a kernel, and of
each thread of a kernel.

A status is 0 for success, else `reason | (number + 1) << 8`. `reason` is a `Reason`. `number` indexes the model's table
of kernels followed by its table of calls, or for `Reason.CHECK` the table of checks. If only the low byte is set, the
kernel is unknown.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Final

ABI_VERSION: Final = 6
ENTRY_SYMBOL: Final = "xrelay_entry"
PLAN_SYMBOL: Final = "xrelay_plan"
BUFFER_SYMBOL: Final = "xrelay_buffer_new"
"""Defined in models that allocate dynamic buffers."""
RELEASE_SYMBOL: Final = "xrelay_release"
MAX_EXTENT: Final = 1 << 47
PARALLEL_FOR_SYMBOL: Final = "xrelay_parallel_for"
ALIGNMENT: Final = 64


class Reason(IntEnum):
    """The reason of a failure in native code: the low byte of a status."""

    UNSPECIFIED = 1
    INDEX_OUT_OF_RANGE = 2
    SHAPE_MISMATCH = 3
    DIVISION_BY_ZERO = 4
    OUT_OF_MEMORY = 5
    CHECK = 6
    CANCELLED = 7

    @property
    def text(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")


class Context(ctypes.Structure):
    """The first argument of every kernel; each call of a model has its own.

    The first failure of a parallel body sets `status`. `num_threads` is the maximum for a parallel region. A failure
    may store three numbers for the message; `noted` (a `ContextWord`) is their meaning. A nonzero `cancel` ends runs
    that poll it. `buffers` is the list of the run's dynamic buffers. `buffer_bytes` counts these and the current
    allocations of kernels, up to `buffer_limit` (0: no limit). Dynamic buffers are allocated by `allocate` (arguments:
    `allocator`, alignment, bytes) and freed by `free` (arguments: `allocator`, block); if these are null, by the C
    library.
    """

    _fields_ = (
        ("status", ctypes.c_int32),
        ("num_threads", ctypes.c_int32),
        ("noted", ctypes.c_int64),
        ("number", ctypes.c_int64),
        ("low", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("cancel", ctypes.c_int64),
        ("buffer_bytes", ctypes.c_int64),
        ("buffer_limit", ctypes.c_int64),
        ("allocate", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("allocator", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 4),
    )


class ContextWord(IntEnum):
    """The meaning of the numbers in a context."""

    INDEX = 1
    """The first index that was out of range, and the limits `[low, high)`."""
    BUFFER = 2
    """The bytes of an allocation that failed, the bytes already allocated, and the limit."""
    SIDES = 3
    """The values `low` and `high` of the two extents that a failed check relates."""


def describe_failure(status: int, context: Context) -> tuple[str, int | None]:
    """Returns a description of the failure, and the index of the kernel or check."""
    text, kernel = decode_status(status)
    if text == Reason.INDEX_OUT_OF_RANGE.text and context.noted == ContextWord.INDEX:
        text = f"{text}: {context.number} is not in [{context.low}, {context.high})"
    if text == Reason.OUT_OF_MEMORY.text:
        text += describe_allocation(context)
    return text, kernel


def describe_allocation(context: Context) -> str:
    """Returns the end of a message about a failed allocation; empty if the run failed for another reason."""
    if context.noted != ContextWord.BUFFER:
        return ""
    size = context.number & (1 << 64) - 1
    if size > 1 << 62:
        return ", whose bytes do not fit in 62 bits"
    return f", {size} bytes beside {context.low} bytes of others"


def encode_status(reason: int, kernel: int | None = None) -> int:
    """Returns the status of a failure in the kernel or check with this index (`None`: unknown)."""
    return reason if kernel is None else reason | (kernel + 1) << 8


def decode_status(status: int) -> tuple[str, int | None]:
    """Returns the reason of a nonzero status in words, and the index of the kernel or check."""
    low, high = status & 0xFF, (status >> 8) & 0xFFFFFF
    try:
        text = Reason(low).text
    except ValueError:
        text = f"status {status}"
    return text, high - 1 if high else None
