"""The binary interface between compiled models and the runtime.

A model is entered through `i32 xrelay_entry(ptr ctx, ptr args)`: `args` is an array of pointers to inputs, outputs,
weights and the arena, in that order (the arena's pointer is there even where its size is 0). Weights and arena are
aligned to `ALIGNMENT` bytes, inputs and outputs to their element. `ctx` points to `Context`.

Outputs whose extents a run makes are boxes, and no elements of the array. Where there are some, it has one element
behind the arena's, which points to room for 64-bit integers: for each such output, in order, the run stores its address
and then its open extents. They are valid where the status is 0, until `void xrelay_release(ptr ctx)`, which such a
model has, and which is called after every run, failed ones too.

The array of a model with named dimensions has one element more, its last, which points to their sizes, 64-bit integers
from 0 to `MAX_EXTENT`; such a model has `i32 xrelay_plan(ptr ctx, ptr dims, ptr sizes)`, which from the sizes at `dims`
writes to `sizes`, as 64-bit integers, the bytes of the arena, then the open extents of the outputs that are no boxes,
in order, then the most bytes that a run needs beside the arena: of boxes, of a kernel, and of a kernel for each thread.

A status is 0 for success, else `reason | (number + 1) << 8`, where `reason` is one of `Reason` and `number` an index
into the model's table of kernels, which that of calls continues, for `Reason.CHECK` into that of checks; with nothing
above the low byte the kernel is unknown.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Final

ABI_VERSION: Final = 5
ENTRY_SYMBOL: Final = "xrelay_entry"
PLAN_SYMBOL: Final = "xrelay_plan"
BOX_SYMBOL: Final = "xrelay_box_new"
"""Defined in models that allocate boxes."""
RELEASE_SYMBOL: Final = "xrelay_release"
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
    CANCELLED = 7

    @property
    def text(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")


class Context(ctypes.Structure):
    """The first argument of every kernel; each call of a model has one.

    `status` takes the first failure of a parallel body, `num_threads` bounds the threads of a parallel region. What
    fails may keep three numbers for the message, `noted` says which (see `Noted`). A `cancel` other than 0 ends runs
    that ask for it. `boxes` lists the boxes of the run, which take `box_bytes` with what kernels allocate just now, and
    may take `box_limit` (0: whatever there is). The memory of boxes comes from `allocate(allocator, alignment, bytes)`
    and goes to `free(allocator, block)`; where these are null, from and to the C library.
    """

    _fields_ = (
        ("status", ctypes.c_int32),
        ("num_threads", ctypes.c_int32),
        ("noted", ctypes.c_int64),
        ("number", ctypes.c_int64),
        ("low", ctypes.c_int64),
        ("high", ctypes.c_int64),
        ("boxes", ctypes.c_void_p),
        ("cancel", ctypes.c_int64),
        ("box_bytes", ctypes.c_int64),
        ("box_limit", ctypes.c_int64),
        ("allocate", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("allocator", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 4),
    )


class Noted(IntEnum):
    """What the numbers in a context are."""

    INDEX = 1
    """The first index that was out of range, and the limits `[low, high)`."""
    BOX = 2
    """The bytes of a box, or of a kernel's buffer, that there was no room for, those taken already, and the limit."""
    SIDES = 3
    """Of a check that relates two extents: their values, `low` and `high`."""


def describe_failure(status: int, context: Context) -> tuple[str, int | None]:
    """What failed, in words, with the index that was out of range; and the index of the kernel or check."""
    text, kernel = decode_status(status)
    if text == Reason.INDEX_OUT_OF_RANGE.text and context.noted == Noted.INDEX:
        text = f"{text}: {context.number} is not in [{context.low}, {context.high})"
    if text == Reason.OUT_OF_MEMORY.text:
        text += describe_box(context)
    return text, kernel


def describe_box(context: Context) -> str:
    """What there was no room for, as the end of a message; empty where that is not why a run failed."""
    if context.noted != Noted.BOX:
        return ""
    size = context.number & (1 << 64) - 1
    if size > 1 << 62:
        return ", whose bytes do not fit in 62 bits"
    return f", {size} bytes beside {context.low} bytes of others"


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
