"""Shape helpers under Relay's names."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.errors import InputError
from xrelay.te.tensor import Tensor


def is_empty_shape(shape: Sequence[int]) -> bool:
    """Whether a tensor of `shape` has no elements."""
    return 0 in shape


def get_const_tuple(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the extents, which are always numbers, as a tuple."""
    return tuple(shape)


def normal_axes(tensor: Tensor, axis: int | Sequence[int] | None) -> list[int]:
    """Returns the axes as non-negative numbers, all if `axis` is `None`. Raises `InputError` for an invalid axis."""
    rank = tensor.ndim
    given = range(rank) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    for one in given:
        if not -rank <= one < rank:
            raise InputError(f"{tensor.name} has no axis {one}", help=f"it has {rank}, numbered from 0 or from the end")
    return sorted({one % rank for one in given})
