"""`relay.scatter_elements` and `relay.scatter_nd`: updates of a tensor at indices from an operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.gradients.numbered_elements import no_numbers, numbered
from xrelay.dialects.relay.op_definition import (
    Array,
    AxisOf,
    Body,
    Facts,
    GradientBuilder,
    Gradients,
    IncompleteType,
    IntegerElements,
    OneOf,
    OpPatternKind,
    SameElements,
    TopiBuilder,
    axis_index,
    int_property,
    register_relay_op,
    shape_text,
    string_property,
)
from xrelay.dialects.relay.ops.tensor.gather import IndexingOp, require_inside, require_same_extents, require_tuples

REDUCTIONS = ("update", "add", "mul", "min", "max")
"""The ways to combine an element and its update."""


class ScatterOp(IndexingOp):
    """Base of the scatters. The operands are data, indices and updates; the result has the data's type."""

    PATTERN = OpPatternKind.OPAQUE

    data = operand_def()
    indices = operand_def()
    updates = operand_def()

    @property
    def combination(self) -> str:
        """The way to combine an element and its update, one of `REDUCTIONS`."""
        raise NotImplementedError(f"{self.name} does not define how elements are combined")

    def require_numbers(self, facts: Facts, constraint: str) -> None:
        """Requires that booleans are not added or multiplied."""
        facts.require(
            facts.element(0) != i1 or self.combination not in ("add", "mul"),
            constraint,
            f"'{self.combination}' is not supported for booleans",
            help="cast to int32, or use max for or, min for and",
        )

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type for the data."""
        if not isinstance(facts[0], IncompleteType):
            return facts
        return [result_type, *facts[1:]]

    def put(self, data: Array, indices: Sequence[Array], updates: Array) -> Array:
        """Returns the data with updates applied in row-major order, at an index for each axis."""
        result = data.copy()
        if self.combination == "update":
            for point in np.ndindex(updates.shape):
                result[tuple(index[point] for index in indices)] = updates[point]
        else:
            functions = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
            functions[self.combination].at(result, tuple(indices), updates)
        return result

    def scattered(
        self, build: TopiBuilder, fill: Callable[[Body], tuple[Sequence[SSAValue], SSAValue]]
    ) -> Sequence[SSAValue]:
        """Builds a scatter over the updates; `fill` returns the indices in the data and the update."""
        from xrelay.dialects.topi.build import scatter, variables
        from xrelay.dialects.topi.compute import Combine

        space, combine = variables("i", build.shape(build.operand(2))), Combine(self.combination)
        return [build.insert(scatter(build.label, space, combine, build.operand(0), fill)).result]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradients of data and updates; None for the indices."""
        match self.combination:
            case "add":
                return [of, None, self.read(of, build)]
            case "update":
                return self._gradient_of_update(of, build)
            case "mul":
                return self._gradient_of_product(of, build)
            case _:
                return self._gradient_of_extremum(of, build)

    def read(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Returns the elements of `value` at the indices, in the shape of the updates."""
        raise NotImplementedError(f"{self.name} does not define how elements are read")

    def write(self, value: SSAValue, updates: SSAValue, combination: str, build: GradientBuilder) -> SSAValue:
        """Returns `value` with `updates` combined at the indices."""
        raise NotImplementedError(f"{self.name} does not define how elements are written")

    def _gradient_of_update(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the gradient for the last update of each element, which is found by scattering numbers."""
        numbers, zeros = numbered(self.updates, build), build.zeros_like(self.updates)
        written = self.write(no_numbers(self.data, build), numbers, "update", build)
        stays = build.op("equal", self.read(written, build), numbers)
        updates = build.op("where", stays, self.read(of, build), zeros)
        return [self.write(of, zeros, "update", build), None, updates]

    def _gradient_of_product(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """The derivative is the product of the other factors, which is exact if factors are 0."""
        factors = (self.data, self.updates)
        are_zero = [build.op("equal", each, 0) for each in factors]
        rest = [build.op("where", at, build.ones_like(each), each) for at, each in zip(are_zero, factors, strict=True)]
        zeros = [build.cast_like(each, of) for each in are_zero]
        product, count = self.write(rest[0], rest[1], "mul", build), self.write(zeros[0], zeros[1], "add", build)

        def others(number: int, product: SSAValue, count: SSAValue, of: SSAValue) -> SSAValue:
            without = build.op("divide", product, rest[number])
            nothing = build.op("greater", build.op("subtract", count, zeros[number]), 0)
            return build.op("multiply", of, build.op("where", nothing, build.zeros_like(without), without))

        updates = others(1, *(self.read(each, build) for each in (product, count, of)))
        return [others(0, product, count, of), None, updates]

    def _gradient_of_extremum(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Distributes the gradient equally among data and updates that are equal to the result."""
        data = build.cast_like(build.op("equal", self.data, self.result), of)
        updates = build.cast_like(build.op("equal", self.updates, self.read(self.result, build)), of)
        share = build.op("divide", of, self.write(data, updates, "add", build))
        return [build.op("multiply", data, share), None, build.op("multiply", updates, self.read(share, build))]


@register_relay_op
@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """The data updated at `indices` along `axis` and at the index of the update along the other axes.

    `result[indices[i, j], j] = updates[i, j]` for axis 0 and "update"; of several updates of an element the last in
    row-major order is used. "add", "mul", "min" and "max" combine the update with the element. Negative indices count
    from the end; the op fails if an index is still out of range. Relay's "mean" is not supported.

    Constraints:
    - C5: data and indices have the same rank, and the indices' extents of the other axes are at most the data's.
    - C6: indices and updates have the same shape.
    - C7: booleans are not added or multiplied.

    Example:
    ```mlir
    %y = relay.scatter_elements(%x, %i, %u) {axis = 1, reduction = "add"}
        : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.scatter_elements"
    CONSTRAINTS = {
        "C1": IntegerElements(1),
        "C2": AxisOf(),
        "C3": OneOf("reduction", REDUCTIONS),
        "C4": SameElements((0, 2)),
    }

    axis = int_property(0)
    reduction = string_property("update")

    @property
    def combination(self) -> str:
        """The way to combine an element and its update."""
        return self.reduction.data

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C5 to C7."""
        places = facts.shape(1)
        require_inside(facts, facts.shape(0), places, self.axis.value.data, "C5")
        require_same_extents(facts, places, facts.shape(2), "C6", "indices and updates")
        self.require_numbers(facts, "C7")
        return facts.tensor(0)

    def evaluate(self, data: Array, indices: Array, updates: Array) -> Array:
        """Updates elements at the indices along the axis, and at the update's index along the others."""
        from xrelay.dialects.relay.meaning.checked_indices import indices_along

        axis = axis_index(self.axis.value.data, data.ndim)
        return self.put(data, np.broadcast_arrays(*indices_along(indices, axis, data.shape[axis])), updates)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Scatters each update to the index along the axis, and to its own indices along the others."""
        from xrelay.dialects.relay.computes.checked_indices import checked_indices

        data, indices, updates = (build.operand(index) for index in range(3))
        shape = build.shape(data)
        axis = self.axis.value.data % len(shape)
        known = checked_indices(build, indices, shape[axis])

        def fill(b: Body) -> tuple[list[SSAValue], SSAValue]:
            at = list(b.variables)
            at[axis] = b.read(known, *b.spatial)
            return at, b.read(updates, *b.spatial)

        return self.scattered(build, fill)

    def read(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Gathers along the axis."""
        return build.op("gather", value, self.indices, axis=self.axis)

    def write(self, value: SSAValue, updates: SSAValue, combination: str, build: GradientBuilder) -> SSAValue:
        """Scatters along the axis."""
        return build.op("scatter_elements", value, self.indices, updates, axis=self.axis, reduction=combination)


@register_relay_op
@irdl_op_definition
class ScatterNDOp(ScatterOp):
    """The data with slices updated at index tuples, which are along the first axis of `indices`.

    `result[indices[0, y…], …, indices[M-1, y…], x…] = updates[y…, x…]` for the mode "update"; of several updates of an
    element the last in row-major order is used. "add", "mul", "min" and "max" combine the update with the element.
    Negative indices count from the end; the op fails if an index is still out of range.

    Constraints:
    - C4: the indices have an axis of known extent M for the tuples, at most the rank of the data.
    - C5: the updates have the indices' shape without its first axis, followed by the data's axes that are not indexed.
    - C6: booleans are not added or multiplied.

    Example:
    ```mlir
    %y = relay.scatter_nd(%x, %i, %u) : (tensor<4x8x3xf32>, tensor<2x5xi64>, tensor<5x3xf32>) -> tensor<4x8x3xf32>
    ```

    """

    name = "relay.scatter_nd"
    CONSTRAINTS = {
        "C1": IntegerElements(1),
        "C2": OneOf("mode", REDUCTIONS),
        "C3": SameElements((0, 2)),
    }

    mode = string_property("update")

    @property
    def combination(self) -> str:
        """The way to combine an element and its update."""
        return self.mode.data

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the data's type; checks C4 to C6."""
        shape, places = facts.shape(0), facts.shape(1)
        parts = require_tuples(facts, places, None, "C4")
        facts.require(parts <= len(shape), "C4", f"tuples of {parts} do not index data of shape {shape_text(shape)}")
        require_same_extents(facts, (*places[1:], *shape[parts:]), facts.shape(2), "C5", "slices and updates")
        self.require_numbers(facts, "C6")
        return facts.tensor(0)

    def evaluate(self, data: Array, indices: Array, updates: Array) -> Array:
        """Updates slices at index tuples."""
        from xrelay.dialects.relay.meaning.checked_indices import index_tuples

        places = indices.shape[1:]
        parts = index_tuples(indices, data.shape)
        slices = data.shape[len(parts) :]
        own = np.indices((*places, *slices), sparse=True)[len(places) :]
        at = [part.reshape((*places, *(1,) * len(slices))) for part in parts]
        return self.put(data, [np.broadcast_to(index, (*places, *slices)) for index in (*at, *own)], updates)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Scatters each update to the components of its index tuple and its indices in the slice."""
        from xrelay.dialects.relay.computes.checked_indices import index_tuples

        data, indices, updates = (build.operand(index) for index in range(3))
        rank = len(build.shape(indices)) - 1
        parts = index_tuples(build, indices, build.shape(data))

        def fill(b: Body) -> tuple[list[SSAValue], SSAValue]:
            at = [b.read(part, *b.spatial[:rank]) for part in parts]
            return [*at, *b.variables[rank:]], b.read(updates, *b.spatial)

        return self.scattered(build, fill)

    def read(self, value: SSAValue, build: GradientBuilder) -> SSAValue:
        """Gathers at the index tuples."""
        return build.op("gather_nd", value, self.indices)

    def write(self, value: SSAValue, updates: SSAValue, combination: str, build: GradientBuilder) -> SSAValue:
        """Scatters at the index tuples."""
        return build.op("scatter_nd", value, self.indices, updates, mode=combination)
