"""Results whose length the data decides, as functions below relay have them: a buffer, and another result that counts.

The attribute `xrelay.counted = array<i64: axis, number>` of a result (at the loop level of the argument that holds it)
says that result `number` is how many elements the buffer has along `axis`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.attribute_names import COUNTED

T = TypeVar("T")

Counts: TypeAlias = Mapping[int, tuple[int, int]]
"""Result → the axis along which it is counted, and the result that counts."""


def counted_attribute(axis: int, number: int) -> Attribute:
    """The attribute of a result of which result `number` counts the elements along `axis`."""
    return DenseArrayBase.from_list(i64, [axis, number])


def counts_of(results: Sequence[Mapping[str, Attribute]]) -> Counts:
    """What the attributes of all results say."""
    found: dict[int, tuple[int, int]] = {}
    for number, attributes in enumerate(results):
        value = attributes.get(COUNTED)
        if isa(value, DenseArrayBase[IntegerType]) and len(value) == 2:
            axis, count = value.get_values()
            found[number] = axis, count
    return found


def without_counts(results: Sequence[T], counts: Counts) -> list[T]:
    """Those of `results` that do not merely count others."""
    counting = {number for _, number in counts.values()}
    return [result for number, result in enumerate(results) if number not in counting]
