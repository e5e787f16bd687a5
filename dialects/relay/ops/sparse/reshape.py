"""`relay.sparse_reshape`: coordinates in another shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import Constraints, IntegerElements, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.reshape_codes import reshaped_to
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import ANY

if TYPE_CHECKING:
    from xrelay.dialects.relay.computes.builder import TopiBuilder


@register_relay_op
@irdl_op_definition
class SparseReshapeOp(RelayOp):
    """The coordinates of a sparse tensor after a reshape from `prev_shape` to `new_shape`, and the new shape.

    A row of the indices is the coordinates of an element, whose index in row-major order is preserved. One element of
    `new_shape` may be -1; the second result has the remaining extent instead. Both shapes are read at run time, and
    indices out of range of `prev_shape` are not detected: such coordinates are unchanged if the shapes are equal,
    otherwise they are computed from the 64-bit row-major index.

    Constraints:
    - C2: of the known elements of `new_shape`, at most one is -1 and none is less than -1.
    - C3: both shapes have the same number of elements if all extents are known.
    - C7: coordinates have an index for each element of `prev_shape`.

    Example:
    ```mlir
    %t = relay.sparse_reshape(%i, %p, %n)
        : (tensor<5x3xi64>, tensor<3xi64>, tensor<2xi64>) -> tuple<tensor<5x2xi64>, tensor<2xi64>>
    ```

    """

    name = "relay.sparse_reshape"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.FOLLOW
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": IntegerElements(0),
        "C4": RankOf(0, 2, 2),
        "C5": IntegerElements(1),
        "C6": RankOf(1, 1, 1),
        "C8": IntegerElements(2),
        "C9": RankOf(2, 1, 1),
    }

    sparse_indices = operand_def()
    prev_shape = operand_def()
    new_shape = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns as many coordinates, with an index for each element of the new shape; checks C2, C3 and C7."""
        (count, parts), (rank,) = facts.shape(0), facts.shape(2)
        facts.require_equal(parts, facts.shape(1)[0], "C7", "indices of an element, and elements of prev_shape:")
        old, new = facts.elements(1), facts.elements(2)
        if old is not None and new is not None and ANY not in (*old, *new):
            reshaped_to(facts, old, new, copies=False)
        return TupleType((tensor_type((count, rank), facts.element(0)), facts.tensor(2)))

    def evaluate(self, indices: Array, old: Array, new: Array) -> tuple[Array, Array]:
        """Converts coordinates to row-major indices in the old shape, and these to coordinates in the new shape."""
        from xrelay.dialects.relay.meaning.integer_division import truncated_quotient

        with np.errstate(over="ignore"):
            wide, sizes, wanted = (each.astype(np.int64) for each in (indices, old, new))
            known = np.prod(wanted, where=wanted != -1)
            shape = np.where(wanted == -1, truncated_quotient(np.asarray(np.prod(sizes)), np.maximum(known, 1)), wanted)
            number = (wide * _strides(sizes)).sum(axis=1)
            places = np.empty((indices.shape[0], new.shape[0]), np.int64)
            rows = zip(np.maximum(_strides(shape), 1), np.maximum(shape, 1), strict=True)
            for axis, (stride, extent) in enumerate(rows):
                outer = truncated_quotient(number, stride)
                places[:, axis] = outer if axis == 0 else outer - truncated_quotient(outer, extent) * extent
        stays = np.array_equal(sizes, shape)
        return indices.copy() if stays else places.astype(indices.dtype), shape.astype(new.dtype)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Computes row-major indices, and new coordinates by quotients and remainders, in 64 bits."""
        from xrelay.dialects.relay.computes.coordinates import complete_shape, reshaped
        from xrelay.dialects.topi.scalars import convert_scalar

        indices, old, new = (build.operand(index) for index in range(3))
        shape, element = complete_shape(build, old, new), build.element(new)
        places = reshaped(build, indices, old, shape)
        result = build.compute(
            "new_shape", build.shape(new), element, lambda b: convert_scalar(b, b.read(shape, *b.spatial), element)
        )
        return [places, result]


def _strides(shape: Array) -> Array:
    """Returns the row-major stride of each axis."""
    return np.append(np.cumprod(shape[::-1])[::-1], 1)[1:] if shape.size else shape
