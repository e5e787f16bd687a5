"""Questions about shapes, by Relay's names."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.errors import InputError
from xrelay.te.tensor import Tensor


def is_empty_shape(shape: Sequence[int]) -> bool:
    """Whether a tensor of `shape` has no element."""
    return 0 in shape


def get_const_tuple(shape: Sequence[int]) -> tuple[int, ...]:
    """The extents, which are numbers here, as a tuple."""
    return tuple(shape)


def normal_axes(tensor: Tensor, axis: int | Sequence[int] | None) -> list[int]:
    """The axes that are meant, counted from 0: all without `axis`. `InputError` for one that is not there."""
    rank = tensor.ndim
    given = range(rank) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    for one in given:
        if not -rank <= one < rank:
            raise InputError(f"{tensor.name} has no axis {one}", help=f"it has {rank}, numbered from 0 or from the end")
    return sorted({one % rank for one in given})
