"""Sparse tensors as lists of places and of values (COO): `relay.sparse_to_dense`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, IntegerElements, RankOf
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import required_ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.core.types import tensor_type
from xrelay.dialects.relay.ops.tensor_gather import IndexingOp
from xrelay.index_algebra.dims import Shape

ONE_PLACE: Shape = (1,)


def require_places(facts: Facts, indices: Shape, values: Shape, rank: int, constraints: tuple[str, str]) -> None:
    """Demand that places are indices of a tensor of rank `rank`, and that there is one value or one for each place.

    `constraints` are the ids of the two demands.
    """
    parts = indices[1] if len(indices) == 2 else 1
    facts.require_equal(parts, rank, constraints[0], "indices of a place, and axes of the result:")
    if values:
        facts.require_equal((indices or ONE_PLACE)[0], values[0], constraints[1], "places and values:")


@register_relay_op
@irdl_op_definition
class SparseToDenseOp(IndexingOp):
    """A tensor of `output_shape` with the values at the places that `sparse_indices` names, and the default elsewhere.

    A row of the indices is a place, `result[indices[i, 0], …, indices[i, d - 1]] = values[i]`. Indices without a second
    axis are those of a vector, and a scalar is the index of one place. Where the values are a scalar every place has
    it. Of several values of one place the last one stays. `default_value` is converted to the values' element type.

    The op fails where an index is negative or lies behind its axis.

    Constraints:
    - C6: a place has an index for each axis of the result.
    - C7: values with an axis are as many as the places.

    Example:
    ```mlir
    %y = relay.sparse_to_dense(%i, %v, %d) {output_shape = [4, 8]}
        : (tensor<3x2xi64>, tensor<3xf32>, tensor<f32>) -> tensor<4x8xf32>
    ```

    """

    name = "relay.sparse_to_dense"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": IntegerElements(0),
        "C2": RankOf(0, 0, 2),
        "C3": RankOf(1, 0, 1),
        "C4": RankOf(2, 0, 0),
        "C5": AtLeast("output_shape", 0),
    }

    sparse_indices = operand_def()
    sparse_values = operand_def()
    default_value = operand_def()

    output_shape = required_ints_property()

    @property
    def may_fail(self) -> bool:
        """An index may be out of range."""
        return True

    def infer_type(self, facts: Facts) -> Attribute:
        """The shape that is asked for, of the values' elements; C6 and C7."""
        shape = ints(self.output_shape)
        require_places(facts, facts.shape(0), facts.shape(1), len(shape), ("C6", "C7"))
        return tensor_type(shape, facts.element(1))
