"""Emits integer arithmetic on short lists that computes extents of an op, for `relay-name-extents`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.facts import Elements
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MinimumOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import WhereOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor.shape import NdarraySizeOp, ShapeOfOp
from xrelay.dialects.relay.structure.extents import ExtentDescription, ExtentsOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.attribute_names import BINDS, EXTENT_DESCRIPTIONS
from xrelay.dialects.shared.requirements import BoundsAttr, NewExtent, new_extents
from xrelay.dialects.shared.types import element_type_of, is_static, shape_of
from xrelay.errors import PassError
from xrelay.index_algebra.dims import Dim
from xrelay.passes.graph.rewriting import Emitter, static_shape
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.types.dim_names import single_name

_U64: Final = IntegerType(64, Signedness.UNSIGNED)


class ShapeCode:
    """Emits arithmetic before one op. All lists are of i64 and have a known length.

    `failure` is the message for a negative number that is computed, with `{at}` for its index.
    """

    def __init__(
        self,
        op: RelayOp,
        emit: Emitter,
        elements: Sequence[Elements | None],
        fresh: Callable[[str], str],
        failure: str,
    ):
        self.op, self._emit, self._elements, self._fresh, self._failure = op, emit, elements, fresh, failure
        self.made = [extent.name for extent in new_extents(op)]
        """The names of the extents that the op introduces."""

    # --- values ----------------------------------------------------------------------------------------------------

    def call(self, kind: type[RelayOp], *operands: SSAValue | int, **attributes: AttributeValue) -> SSAValue:
        """The result of an op of class `kind` on lists and numbers."""
        values = [self.numbers(each) if isinstance(each, int) else each for each in operands]
        return self._emit.call(kind, *values, **attributes)

    def real(self, value: float) -> SSAValue:
        """A constant of rank 0 and type f64."""
        return self._emit.constant(np.array(value, np.float64))

    def numbers(self, values: int | Sequence[int]) -> SSAValue:
        """A constant number or list."""
        return self._emit.constant(np.array(values, np.int64))

    def cast(self, value: SSAValue) -> SSAValue:
        """The integers as i64; unsigned integers beyond i64 are clamped to its maximum."""
        element = element_type_of(value.type)
        if element == i64:
            return value
        if element == _U64:
            most = self._emit.constant(np.array(np.iinfo(np.int64).max, np.uint64))
            value = self.call(MinimumOp, value, most)
        return self.call(CastOp, value, dtype=i64)

    def operand(self, index: int) -> SSAValue:
        """Operand `index` of the op as i64."""
        return self.cast(self.op.operands[index])

    def shape(self, value: SSAValue) -> SSAValue:
        """The extents of a tensor."""
        return self.numbers(static_shape(value)) if is_static(value.type) else self.call(ShapeOfOp, value)

    def size(self, value: SSAValue) -> SSAValue | int:
        """The number of elements of a tensor."""
        return prod(static_shape(value)) if is_static(value.type) else self.call(NdarraySizeOp, value)

    def where(self, condition: SSAValue, yes: SSAValue | int, no: SSAValue | int) -> SSAValue:
        """The elementwise choice between `yes` and `no`."""
        return self.call(WhereOp, condition, yes, no)

    def join(self, *lists: SSAValue) -> SSAValue:
        """The concatenation of lists; empty lists are left out."""
        full = [each for each in lists if shape_of(each.type) != (0,)]
        return full[0] if len(full) == 1 else self.call(ConcatenateOp, self.call(TupleOp, *full))

    def take(self, source: SSAValue, indices: Sequence[int]) -> SSAValue:
        """The elements of a list at `indices`."""
        if list(indices) == list(range(length(source))):
            return source
        return self.call(TakeOp, source, self.numbers(list(indices)), axis=0)

    # --- names -----------------------------------------------------------------------------------------------------

    def elements(self, index: int, count: int) -> Sequence[Dim | None]:
        """The known elements of operand `index`, which has `count` elements; `None` for unknown elements."""
        known = self._elements[index]
        return [None] * count if known is None else known

    def name_of(self, dim: Dim) -> str | None:
        """The name of an extent of the result, if the op introduces it."""
        name = single_name(dim)
        return name if name in self.made else None

    def bind(self, values: SSAValue, names: Sequence[str | None], indices: Sequence[int] | None = None) -> SSAValue:
        """Binds `values` as extents to `names`, or to new names for `None`; returns them.

        `indices` are the indices of the values in the op's operand, for messages; by default the values are all of it.
        """
        bounds = BoundsAttr.of(NewExtent(self._fresh("e") if name is None else name) for name in names)
        if bounds is None:
            return values
        descriptions = self._descriptions(names, range(len(names)) if indices is None else indices)
        attributes = {BINDS: bounds, EXTENT_DESCRIPTIONS: ExtentDescription.attribute(descriptions)}
        return self._emit.insert(
            ExtentsOp.create(operands=[values], result_types=[values.type], attributes=attributes)
        ).result

    def _descriptions(self, names: Sequence[str | None], indices: Sequence[int]) -> list[ExtentDescription]:
        """Descriptions of the numbers at `indices` of the computed operand, for messages instead of generated names.

        A number with a name is an extent of the result.
        """
        # All fields of a tuple result, as the values and indices of topk, have one shape.
        first, *_ = leaf_types([self.op.results[0].type])
        axes = {single_name(dim): axis for axis, dim in enumerate(shape_of(first))}
        name = self.op.name
        descriptions: list[ExtentDescription] = []
        for extent, at in zip(names, indices, strict=True):
            axis = None if extent is None else axes.get(extent)
            subject = f"number {at} of {name}" if axis is None else f"extent {axis} of {name}"
            descriptions.append(ExtentDescription(subject, f"{name}: {self._failure.replace('{at}', str(at))}"))
        return descriptions

    def bind_unknown(
        self, values: SSAValue, dims: Sequence[Dim | None], known: SSAValue, indices: Sequence[int | None]
    ) -> SSAValue:
        """Binds the `values` that are not known; returns the list of all values.

        For each value, `dims` has the extent of the op's result that it is, or None, and `indices` its index in
        `known`, or None if it is not known. An unknown value that is no extent of the result gets a new name.
        """
        made = [None if dim is None else self.name_of(dim) for dim in dims]
        bound = [at for at, (name, index) in enumerate(zip(made, indices, strict=True)) if name or index is None]
        names = self.bind(self.take(values, bound), [made[at] for at in bound], bound)
        if len(bound) == len(made):
            return names
        number = {at: index for index, at in enumerate(bound)}
        taken = [number.get(at, len(bound) + (index if index is not None else 0)) for at, index in enumerate(indices)]
        return self.take(self.join(names, known), taken)

    def bind_sizes(self, sizes: SSAValue, dims: Sequence[Dim | None], values: SSAValue | None = None) -> SSAValue:
        """Binds `sizes`, the elements of operand 1, as `bind_unknown`, or the `values` that are computed from them."""
        indices = known_numbers(self.elements(1, length(sizes)))
        return self.bind_unknown(sizes if values is None else values, dims, sizes, indices)

    # --- the op ----------------------------------------------------------------------------------------------------

    def with_sizes(self, sizes: SSAValue, **properties: AttributeValue) -> RelayOp:
        """The op with `sizes` as operand 1; see `rebuild`."""
        first, _, *others = self.op.operands
        return self.rebuild(first, sizes, *others, **properties)

    def rebuild(self, *operands: SSAValue, **properties: AttributeValue) -> RelayOp:
        """The op with other operands and changed properties, without the names that it introduces."""
        changed = type(self.op).properties_from(properties)
        kept = {**self.op.properties, **{name: changed[name] for name in properties}}
        types = [result.type for result in self.op.results]
        return self._emit.insert(type(self.op).create(operands=list(operands), result_types=types, properties=kept))


def length(values: SSAValue) -> int:
    """The number of elements of a list."""
    (count,) = shape_of(values.type)
    if not isinstance(count, int):
        raise PassError(f"relay-name-extents: a list of {count} elements")
    return count


def known_numbers(elements: Sequence[Dim | None]) -> list[int | None]:
    """For each element its index if it is a nonnegative number, else `None`."""
    return [at if isinstance(element, int) and element >= 0 else None for at, element in enumerate(elements)]
