"""Rules for the elements of small integer tensors, from which shape rules determine computed extents.

An element is a number, an expression over named dimensions, or Any if it is unknown. Numbers wrap around as in their
dtype. It is not known whether an expression wraps around, except in i64, which represents every count of elements; so
in other types the result of arithmetic on expressions is Any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dim_intervals import interval_of
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, greatest, is_nonnegative, is_positive, least

INT64_MAX: Final = (1 << 63) - 1
"""The greatest 64-bit integer."""

Combine: TypeAlias = Callable[[Dim, Dim], Dim]


def binary_elements(facts: Facts, combine: Combine) -> Elements | None:
    """Returns the elements of a broadcasting op of two scalars or vectors. `combine` takes numbers or expressions."""
    dtype, pairs = _integer_dtype(facts[0]), _matched(facts)
    return None if dtype is None or pairs is None else tuple(wrapped(combine(*pair), dtype) for pair in pairs)


def compared_elements(facts: Facts, combine: Combine) -> Elements | None:
    """Returns the truth values of a comparison of two integer scalars or vectors; None for unsigned ones."""
    dtype, pairs = _integer_dtype(facts[0]), _matched(facts)
    signed = dtype is not None and dtype.kind != "u"
    return None if not signed or pairs is None else tuple(combine(*pair) for pair in pairs)


def chosen_elements(facts: Facts) -> Elements | None:
    """Returns the elements of two scalars or vectors, or of tensors of one shape, selected by the first operand."""
    found = _matched(facts)
    return None if found is None else tuple(select_element(*each) for each in found)


def _matched(facts: Facts) -> Sequence[tuple[Dim, ...]] | None:
    """Returns the elements of all operands after broadcasting, or None if some are not known."""
    known = [each for index in range(len(facts)) if (each := facts.elements(index)) is not None]
    same_shape = len({facts.shape(index) for index in range(len(facts))}) == 1
    if len(known) != len(facts) or not (same_shape or max(map(_rank, facts)) <= 1):
        return None
    count = max(map(len, known)) if all(known) else 0
    if any(len(each) not in (1, count) for each in known):
        return None
    return list(zip(*(each * (count // len(each) if each else 0) for each in known), strict=True))


def wrapped(element: Dim, dtype: np.dtype) -> Dim:
    """Returns an element after conversion to the dtype."""
    if isinstance(element, int):
        return int(np.array(element & ((1 << 64) - 1), np.uint64).astype(dtype))
    return element if dtype == np.int64 else ANY


def converted(facts: Facts, target: Attribute) -> Elements | None:
    """Returns the elements of a cast between integer types. A boolean is true if the number is not 0."""
    elements, dtype = facts.elements(0), _integer_dtype(facts[0])
    if elements is None or dtype is None or not isinstance(target, IntegerType):
        return None
    if target.width.data == 1:
        return tuple(int(element != 0) if isinstance(element, int) else ANY for element in elements)
    wide = numpy_dtype(target)
    narrower = wide.itemsize < dtype.itemsize
    return tuple(ANY if narrower and isinstance(each, DimExpr) else wrapped_number(each, wide) for each in elements)


def wrapped_number(element: Dim, dtype: np.dtype) -> Dim:
    """Returns a number after conversion to the dtype; an expression, which a wider type represents, unchanged."""
    return wrapped(element, dtype) if isinstance(element, int) else element


def truncated_quotient(lhs: Dim, rhs: Dim) -> Dim:
    """Returns `lhs / rhs` truncated towards zero, as in integer division.

    A multiple has no remainder. A negative dividend above `-rhs` yields 0: `(n - 1) / 8` is `max(n - 1, 0) floordiv 8`.
    """
    if not isinstance(rhs, int) or rhs == 0:
        return ANY
    if isinstance(lhs, int):
        return abs(lhs) // abs(rhs) * (1 if (lhs < 0) == (rhs < 0) else -1)
    if (rhs > 0 and is_nonnegative(lhs)) or lhs % rhs == 0:
        return lhs // rhs
    low, _ = interval_of(lhs, {})
    return greatest(lhs, 0) // rhs if low is not None and -rhs < low else ANY


def add(lhs: Dim, rhs: Dim) -> Dim:
    """Returns the sum."""
    return lhs + rhs


def sub(lhs: Dim, rhs: Dim) -> Dim:
    """Returns the difference."""
    return lhs - rhs


def mul(lhs: Dim, rhs: Dim) -> Dim:
    """Returns the product."""
    return lhs * rhs


def pair_maximum(lhs: Dim, rhs: Dim) -> Dim:
    """Returns the maximum."""
    return greatest(lhs, rhs)


def pair_minimum(lhs: Dim, rhs: Dim) -> Dim:
    """Returns the minimum; with an expression, the greatest 64-bit integer, the end of an axis, is ignored."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        # An unsigned number may be greater than that.
        return min(lhs, rhs)
    return rhs if lhs == INT64_MAX else lhs if rhs == INT64_MAX else least(lhs, rhs)


def equality(lhs: Dim, rhs: Dim) -> Dim:
    """Returns 1 if two elements are certainly equal, 0 if they certainly differ, else Any."""
    if ANY in (lhs, rhs):
        return ANY
    return 1 if lhs == rhs else 0 if is_positive(lhs - rhs) or is_positive(rhs - lhs) else ANY


def inequality(lhs: Dim, rhs: Dim) -> Dim:
    """Returns 0 if two elements are certainly equal, 1 if they certainly differ, else Any."""
    return _negate(equality(lhs, rhs))


def less(lhs: Dim, rhs: Dim) -> Dim:
    """Returns 1 if the first element is certainly less than the second, 0 if it certainly is not, else Any."""
    return 1 if is_positive(rhs - lhs) else 0 if is_nonnegative(lhs - rhs) else ANY


def less_equal(lhs: Dim, rhs: Dim) -> Dim:
    """Returns 1 if the first element is certainly at most the second, 0 if it certainly is greater, else Any."""
    return _negate(less(rhs, lhs))


def greater(lhs: Dim, rhs: Dim) -> Dim:
    """Returns 1 if the first element is certainly greater than the second, 0 if it certainly is not, else Any."""
    return less(rhs, lhs)


def greater_equal(lhs: Dim, rhs: Dim) -> Dim:
    """Returns 1 if the first element is certainly at least the second, 0 if it certainly is less, else Any."""
    return _negate(less(lhs, rhs))


def _negate(truth: Dim) -> Dim:
    """Returns the negated truth value, or Any."""
    return 1 - truth


def select_element(condition: Dim, lhs: Dim, rhs: Dim) -> Dim:
    """Returns the element that a truth value selects."""
    if isinstance(condition, int):
        return lhs if condition else rhs
    return lhs if lhs == rhs else ANY


def _integer_dtype(type: Attribute) -> np.dtype | None:
    if isinstance(type, TensorType) and isinstance(type.element_type, IntegerType):
        return numpy_dtype(type.element_type)
    return None


def _rank(type: Attribute) -> int:
    return len(shape_of(type)) if isinstance(type, TensorType) else 0
