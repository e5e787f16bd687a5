"""Random arrays as inputs of programs, and sizes for the names in their shapes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import DimensionError, PassError
from xrelay.index_algebra.dims import AnyDim, Dim, Shape, evaluate, names_of

DRAWS = 6
"""The number of draws of sizes for a program that refuses some sizes."""


def drawn_sizes(names: Collection[str], rng: np.random.Generator, draw: int) -> dict[str, int]:
    """Returns a random size from 1 to 8 for each name; every other draw uses one size for all names.

    A program may require equal extents, which independent sizes would hardly ever be.
    """
    return dict.fromkeys(names, _size(rng)) if draw % 2 else {name: _size(rng) for name in sorted(names)}


def random_arrays(rows: Sequence[tuple[Shape, np.dtype[Any]]], rng: np.random.Generator, draw: int = 0) -> list[Array]:
    """Returns `random_values` of these shapes and dtypes, with the sizes of a draw.

    An unnamed extent is treated like a name of its own. Raises `PassError` for an extent that is negative at these
    sizes.
    """
    sizes = drawn_sizes({name for shape, _ in rows for dim in shape for name in names_of(dim)}, rng, draw)
    common = next(iter(sizes.values()), _size(rng)) if draw % 2 else None

    def extent(dim: Dim) -> int:
        if isinstance(dim, AnyDim):
            return _size(rng) if common is None else common
        try:
            found = evaluate(dim, sizes)
        except DimensionError as error:
            raise PassError(f"there is no random input with the extent {dim}", help="pass inputs") from error
        if found < 0:
            raise PassError(f"there is no random input with the extent {dim} of {found}", help="pass inputs")
        return found

    return [random_values([extent(dim) for dim in shape], dtype, rng) for shape, dtype in rows]


def random_values(shape: Sequence[int], dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Returns standard normal floats, booleans, or integers of magnitude 1 to 8, which are safe as divisors."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        signs = rng.choice([-1, 1], shape) if dtype.kind == "i" else 1
        return (rng.integers(1, 9, shape) * signs).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def _size(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 9))
