"""The binary interface between compiled models and the runtime.

A model is entered through `i32 xrelay_entry(ptr ctx, ptr args)`: `args` is an array of pointers to inputs, outputs,
weights and the arena, in that order (the arena's pointer is there even where its size is 0). Weights and arena are
aligned to `ALIGNMENT` bytes, inputs and outputs to their element. `ctx` points to `Context`.

The array of a model with named dimensions has one element more, which points to their sizes, 64-bit integers from 0 to
`MAX_EXTENT`; such a model has `i32 xrelay_plan(ptr ctx, ptr dims, ptr sizes)`, which from the sizes at `dims` writes to
`sizes`, as 64-bit integers, the bytes of the arena and then the open extents of the outputs, in order.

A status is 0 for success, else `reason | (number + 1) << 8`, where `reason` is one of `Reason` and `number` an index
into the model's table of kernels, for `Reason.CHECK` into that of checks; with nothing above the low byte the kernel
is unknown.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Final

ABI_VERSION: Final = 2
ENTRY_SYMBOL: Final = "xrelay_entry"
PLAN_SYMBOL: Final = "xrelay_plan"
MAX_EXTENT: Final = 1 << 47
PARALLEL_FOR_SYMBOL: Final = "xrelay_parallel_for"
ALIGNMENT: Final = 64


class Reason(IntEnum):
    """Why native code failed: the low byte of a status."""

    UNSPECIFIED = 1
    INDEX_OUT_OF_RANGE = 2
    SHAPE_MISMATCH = 3
    DIVISION_BY_ZERO = 4
    OUT_OF_MEMORY = 5
    CHECK = 6

    @property
    def text(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")


class Context(ctypes.Structure):
    """The first argument of every kernel; each call of a model has one.

    `status` takes the first failure of a parallel body, `num_threads` bounds the threads of a parallel region. The
    first index that is out of range sets `index_noted`, and is kept with the limits `[index_low, index_high)`.
    """

    _fields_ = (
        ("status", ctypes.c_int32),
        ("num_threads", ctypes.c_int32),
        ("index_noted", ctypes.c_int64),
        ("index", ctypes.c_int64),
        ("index_low", ctypes.c_int64),
        ("index_high", ctypes.c_int64),
        ("reserved", ctypes.c_int64 * 3),
    )


def describe_failure(status: int, context: Context) -> tuple[str, int | None]:
    """What failed, in words, with the index that was out of range; and the index of the kernel or check."""
    text, kernel = decode_status(status)
    if text == Reason.INDEX_OUT_OF_RANGE.text and context.index_noted:
        text = f"{text}: {context.index} is not in [{context.index_low}, {context.index_high})"
    return text, kernel


def encode_status(reason: int, kernel: int | None = None) -> int:
    """The status of a failure in the kernel, or of the check, with this index (`None`: unknown)."""
    return reason if kernel is None else reason | (kernel + 1) << 8


def decode_status(status: int) -> tuple[str, int | None]:
    """The reason in words, and the index of the kernel or check, of a non-zero status."""
    low, high = status & 0xFF, (status >> 8) & 0xFFFFFF
    try:
        text = Reason(low).text
    except ValueError:
        text = f"status {status}"
    return text, high - 1 if high else None
