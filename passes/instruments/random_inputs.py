"""Random arrays to run programs on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import shape_of, tensor_type
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import PassError
from xrelay.index_algebra.dims import AnyDim, Dim, DimExpr, Polynomial, Symbol

OPEN_EXTENT = 3
"""The extent that stands for one that the program leaves open."""


def random_array(type_: Attribute, rng: np.random.Generator) -> Array:
    """Returns an array of a tensor or buffer type, with `random_values`.

    Open extents are `OPEN_EXTENT`. Raises `PassError` for any other type.
    """
    if isa(type_, MemRefType):
        type_ = tensor_type(type_.get_shape(), type_.element_type)
    if not isa(type_, TensorType):
        raise PassError(f"there are no random inputs of type {type_}", help="pass inputs")
    return random_values(tuple(_extent(dim) for dim in shape_of(type_)), numpy_dtype(type_.element_type), rng)


def random_values(shape: Sequence[int], dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Standard normal floats; integers of magnitude 1 to 8, so that none divides by zero; either boolean."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        signs = rng.choice([-1, 1], shape) if dtype.kind == "i" else 1
        return (rng.integers(1, 9, shape) * signs).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def _extent(dim: Dim) -> int:
    """Returns an extent for a dimension that may be open; every name stands for `OPEN_EXTENT`."""
    if isinstance(dim, int):
        return dim
    known: Dim = OPEN_EXTENT if isinstance(dim, AnyDim) else dim.substitute(dict.fromkeys(_names(dim), OPEN_EXTENT))
    if not isinstance(known, int):
        raise PassError(f"there is no random input with the extent {dim}", help="pass inputs")
    return known


def _names(dim: DimExpr) -> list[str]:
    if not isinstance(dim, Polynomial):
        return []
    return [factor.name for monomial, _ in dim.terms for factor in monomial if isinstance(factor, Symbol)]
