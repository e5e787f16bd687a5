"""Rules for the elements of small integer tensors, by which shape rules know the extents that a program computes.

An element is a number, an expression over named dimensions, or Any where nothing is known of it. Numbers wrap around as
their dtype does. Of an expression it cannot be told whether it does, save in 64 bits, which hold every count of
elements; so in narrower types what is computed from expressions is Any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.types import shape_of
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, Polynomial, certainly_differ, maximum, minimum

Combine: TypeAlias = Callable[[Dim, Dim], Dim]


def binary_elements(facts: Facts, combine: Combine) -> Elements | None:
    """The elements of a broadcasting op of two scalars or vectors; `combine` works on numbers and expressions alike."""
    lhs, rhs = facts.elements(0), facts.elements(1)
    dtype = _integer_dtype(facts[0])
    if lhs is None or rhs is None or dtype is None or max(_rank(facts[0]), _rank(facts[1])) > 1:
        return None
    count = max(len(lhs), len(rhs)) if lhs and rhs else 0
    if len(lhs) not in (1, count) or len(rhs) not in (1, count):
        return None
    pairs = zip(lhs * (count // len(lhs) if lhs else 0), rhs * (count // len(rhs) if rhs else 0), strict=True)
    return tuple(wrapped(combine(left, right), dtype) for left, right in pairs)


def wrapped(element: Dim, dtype: np.dtype) -> Dim:
    """An element as the dtype holds it."""
    if isinstance(element, int):
        return int(np.array(element & ((1 << 64) - 1), np.uint64).astype(dtype))
    return element if dtype.itemsize == 8 else ANY


def converted(facts: Facts, target: Attribute) -> Elements | None:
    """The elements of a cast between integer types; truth values say of a number whether it is 0."""
    elements, dtype = facts.elements(0), _integer_dtype(facts[0])
    if elements is None or dtype is None or not isinstance(target, IntegerType):
        return None
    if target.width.data == 1:
        return tuple(int(element != 0) if isinstance(element, int) else ANY for element in elements)
    wide = numpy_dtype(target)
    narrower = wide.itemsize < dtype.itemsize
    return tuple(ANY if narrower and isinstance(each, DimExpr) else wrapped_number(each, wide) for each in elements)


def wrapped_number(element: Dim, dtype: np.dtype) -> Dim:
    """A number as the dtype holds it; an expression, which a wider type holds as well, as it is."""
    return wrapped(element, dtype) if isinstance(element, int) else element


def truncated_quotient(lhs: Dim, rhs: Dim) -> Dim:
    """`lhs / rhs` truncated towards zero, as integers are divided."""
    if not isinstance(rhs, int) or rhs == 0:
        return ANY
    if isinstance(lhs, int):
        return abs(lhs) // abs(rhs) * (1 if (lhs < 0) == (rhs < 0) else -1)
    return lhs // rhs if rhs > 0 and is_not_negative(lhs) else ANY


def is_not_negative(dim: Dim) -> bool:
    """Whether a dimension is 0 or more for certain: a sum of products of extents with positive factors."""
    if isinstance(dim, int):
        return dim >= 0
    return isinstance(dim, Polynomial) and all(coefficient > 0 for _, coefficient in dim.terms) and dim.depth == 0


def add(lhs: Dim, rhs: Dim) -> Dim:
    """The sum."""
    return lhs + rhs


def sub(lhs: Dim, rhs: Dim) -> Dim:
    """The difference."""
    return lhs - rhs


def mul(lhs: Dim, rhs: Dim) -> Dim:
    """The product."""
    return lhs * rhs


def pair_maximum(lhs: Dim, rhs: Dim) -> Dim:
    """The greater one."""
    return maximum(lhs, rhs)


def pair_minimum(lhs: Dim, rhs: Dim) -> Dim:
    """The lesser one."""
    return minimum(lhs, rhs)


def equality(lhs: Dim, rhs: Dim) -> Dim:
    """1 where two elements are certainly equal, 0 where they certainly differ."""
    if ANY in (lhs, rhs):
        return ANY
    return 1 if lhs == rhs else 0 if certainly_differ(lhs, rhs) else ANY


def chosen(condition: Dim, lhs: Dim, rhs: Dim) -> Dim:
    """The element that a truth value chooses."""
    if isinstance(condition, int):
        return lhs if condition else rhs
    return lhs if lhs == rhs else ANY


def _integer_dtype(type: Attribute) -> np.dtype | None:
    if isinstance(type, TensorType) and isinstance(type.element_type, IntegerType):
        return numpy_dtype(type.element_type)
    return None


def _rank(type: Attribute) -> int:
    return len(shape_of(type)) if isinstance(type, TensorType) else 0
