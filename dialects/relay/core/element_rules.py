"""Rules for the elements of small integer tensors, by which shape rules know the extents that a program computes.

An element is a number, an expression over named dimensions, or Any where nothing is known of it. Numbers wrap around as
their dtype does. Of an expression it cannot be told whether it does, save in i64, which holds every count of elements;
so in other types what is computed from expressions is Any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.types import shape_of
from xrelay.index_algebra.dim_intervals import interval_of
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, greatest, is_nonnegative, is_positive, least

LAST: Final = (1 << 63) - 1
"""The greatest integer of 64 bits."""

Combine: TypeAlias = Callable[[Dim, Dim], Dim]


def binary_elements(facts: Facts, combine: Combine) -> Elements | None:
    """The elements of a broadcasting op of two scalars or vectors; `combine` works on numbers and expressions alike."""
    dtype, pairs = _integer_dtype(facts[0]), _matched(facts)
    return None if dtype is None or pairs is None else tuple(wrapped(combine(*pair), dtype) for pair in pairs)


def compared_elements(facts: Facts, combine: Combine) -> Elements | None:
    """The truth values of a comparison of two scalars or vectors of integers; of unsigned ones nothing is said."""
    dtype, pairs = _integer_dtype(facts[0]), _matched(facts)
    signed = dtype is not None and dtype.kind != "u"
    return None if not signed or pairs is None else tuple(combine(*pair) for pair in pairs)


def chosen_elements(facts: Facts) -> Elements | None:
    """The elements of two scalars or vectors, or of tensors of one shape, that the truth values of a first choose."""
    found = _matched(facts)
    return None if found is None else tuple(chosen(*each) for each in found)


def _matched(facts: Facts) -> Sequence[tuple[Dim, ...]] | None:
    """The elements that meet where all operands are broadcast; `None` where some are not known."""
    known = [each for index in range(len(facts)) if (each := facts.elements(index)) is not None]
    same_shape = len({facts.shape(index) for index in range(len(facts))}) == 1
    if len(known) != len(facts) or not (same_shape or max(map(_rank, facts)) <= 1):
        return None
    count = max(map(len, known)) if all(known) else 0
    if any(len(each) not in (1, count) for each in known):
        return None
    return list(zip(*(each * (count // len(each) if each else 0) for each in known), strict=True))


def wrapped(element: Dim, dtype: np.dtype) -> Dim:
    """An element as the dtype holds it."""
    if isinstance(element, int):
        return int(np.array(element & ((1 << 64) - 1), np.uint64).astype(dtype))
    return element if dtype == np.int64 else ANY


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
    """`lhs / rhs` truncated towards zero, as integers are divided.

    A multiple has no rest. What is never as low as `-rhs` gives 0 where it is negative: `(n - 1) / 8` is
    `max(n - 1, 0) floordiv 8`.
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
    return greatest(lhs, rhs)


def pair_minimum(lhs: Dim, rhs: Dim) -> Dim:
    """The lesser one; beside an expression the greatest number of 64 bits, which is the end of an axis, is none."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        # One without a sign may be greater than that.
        return min(lhs, rhs)
    return rhs if lhs == LAST else lhs if rhs == LAST else least(lhs, rhs)


def equality(lhs: Dim, rhs: Dim) -> Dim:
    """1 where two elements are certainly equal, 0 where they certainly differ."""
    if ANY in (lhs, rhs):
        return ANY
    return 1 if lhs == rhs else 0 if is_positive(lhs - rhs) or is_positive(rhs - lhs) else ANY


def inequality(lhs: Dim, rhs: Dim) -> Dim:
    """0 where two elements are certainly equal, 1 where they certainly differ."""
    return _denied(equality(lhs, rhs))


def less(lhs: Dim, rhs: Dim) -> Dim:
    """1 where the first element is certainly less than the second, 0 where it certainly is not."""
    return 1 if is_positive(rhs - lhs) else 0 if is_nonnegative(lhs - rhs) else ANY


def less_equal(lhs: Dim, rhs: Dim) -> Dim:
    """1 where the first element is certainly no more than the second, 0 where it certainly is more."""
    return _denied(less(rhs, lhs))


def greater(lhs: Dim, rhs: Dim) -> Dim:
    """1 where the first element is certainly more than the second, 0 where it certainly is not."""
    return less(rhs, lhs)


def greater_equal(lhs: Dim, rhs: Dim) -> Dim:
    """1 where the first element is certainly no less than the second, 0 where it certainly is less."""
    return _denied(less(lhs, rhs))


def _denied(truth: Dim) -> Dim:
    """The other truth value, as far as one is known."""
    return 1 - truth


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
