"""Sequences: values with any number of tensors of one element type.

The ops stay in the function that calls kernels, down to the loop level, where sequences are lists.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, TensorType, UnrankedTensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_operand_def

from xrelay.dialects.relay.core.axes import require_axis
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.properties import bool_property, int_property
from xrelay.dialects.relay.structure.graph_op import GraphOp
from xrelay.dialects.shared.container_types import SequenceType
from xrelay.dialects.shared.types import common_element, tensor_type
from xrelay.index_algebra.dims import ANY, Dim


class SequenceOp(GraphOp):
    """Base of the ops on sequences. Constraints that several ops share have the same ids."""

    def held_type(self, facts: Facts) -> Attribute:
        """Returns the type of the values in operand 0; C1."""
        type = facts[0]
        if not isinstance(type, SequenceType):
            facts.require(False, "C1", f"the operand must be a sequence, found {type}")
            return type
        return type.element

    def held_tensor(self, facts: Facts) -> Attribute:
        """Returns the type of the values in operand 0, which must have one rank; C1 and C4."""
        type = self.held_type(facts)
        if not isinstance(type, TensorType):
            text = f"the values must have one rank, found {type}"
            facts.require(False, "C4", text, help="set the shapes of the inputs (shapes={…})")
        return type

    def check_position(self, facts: Facts, index: int) -> None:
        """Requires that the optional operand `index` is a position; C2."""
        for shape, element in [facts.operand(each, "C2") for each in range(index, len(facts))]:
            is_number = shape == () and isinstance(element, IntegerType) and element.width.data > 1
            facts.require(is_number and len(facts) == index + 1, "C2", "a position must be one integer of rank 0")

    def joined(self, facts: Facts, types: Sequence[Attribute]) -> Attribute:
        """Returns the type of a sequence whose values have any of `types`; C3."""
        tensors = all(isinstance(type, TensorType | UnrankedTensorType) for type in types)
        element = common_element(types) if tensors else None
        if element is None:
            found = ", ".join(map(str, types))
            facts.require(False, "C3", f"the tensors of a sequence must have one element type, found {found}")
            return types[0]
        return SequenceType(element)


@irdl_op_definition
class SequenceConstructOp(SequenceOp):
    """The sequence of its operands.

    Constraints:
    - C1: there is at least one operand; `relay.sequence_empty` has none.
    - C3: they are tensors of one element type.

    Example:
    ```mlir
    %s = relay.sequence_construct(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> !relay.sequence<tensor<?xf32>>
    ```

    """

    name = "relay.sequence_construct"

    values = var_operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the sequence of the common type of the operands; C1 and C3."""
        facts.require(len(facts) > 0, "C1", "a sequence without values", help="use relay.sequence_empty")
        return self.joined(facts, facts)


@irdl_op_definition
class SequenceEmptyOp(SequenceOp):
    """An empty sequence for values of type `of`.

    Constraints:
    - C3: `of` is a tensor type.

    Example:
    ```mlir
    %s = relay.sequence_empty() {of = tensor<?xf32>} : () -> !relay.sequence<tensor<?xf32>>
    ```

    """

    name = "relay.sequence_empty"

    of = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the sequence of `of`; C3."""
        return self.joined(facts, [self.of])


@irdl_op_definition
class SequenceInsertOp(SequenceOp):
    """The sequence with a value inserted before position `at`, or at the end; negative positions count from the end.

    Constraints:
    - C1: the first operand is a sequence.
    - C2: a position is an integer of rank 0.
    - C3: the value has the element type of the others.

    Example:
    ```mlir
    %r = relay.sequence_insert(%s, %x, %at)
        : (!relay.sequence<tensor<4xf32>>, tensor<5xf32>, tensor<i64>) -> !relay.sequence<tensor<?xf32>>
    ```

    """

    name = "relay.sequence_insert"

    data = operand_def()
    value = operand_def()
    at = var_operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the sequence of the common type of the values; C1 to C3."""
        self.check_position(facts, 2)
        return self.joined(facts, [self.held_type(facts), facts[1]])


@irdl_op_definition
class SequenceEraseOp(SequenceOp):
    """The sequence without the value at position `at`, or without the last; negative positions count from the end.

    Constraints:
    - C1: the first operand is a sequence.
    - C2: a position is an integer of rank 0.

    Example:
    ```mlir
    %r = relay.sequence_erase(%s) : (!relay.sequence<tensor<4xf32>>) -> !relay.sequence<tensor<4xf32>>
    ```

    """

    name = "relay.sequence_erase"

    data = operand_def()
    at = var_operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the same type; C1 and C2."""
        self.check_position(facts, 1)
        return SequenceType(self.held_type(facts))


@irdl_op_definition
class SequenceAtOp(SequenceOp):
    """The value at position `at`; negative positions count from the end.

    Constraints:
    - C1: the first operand is a sequence.
    - C2: a position is an integer of rank 0.
    - C4: the values have one rank.

    Example:
    ```mlir
    %x = relay.sequence_at(%s, %at) : (!relay.sequence<tensor<4xf32>>, tensor<i64>) -> tensor<4xf32>
    ```

    """

    name = "relay.sequence_at"

    data = operand_def()
    at = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of the values, with names for the extents that the op introduces; C1, C2 and C4."""
        self.check_position(facts, 1)
        return facts.with_new_extents(self.held_tensor(facts))


@irdl_op_definition
class SequenceLengthOp(SequenceOp):
    """The number of values in a sequence.

    Constraints:
    - C1: the operand is a sequence.

    Example:
    ```mlir
    %n = relay.sequence_length(%s) : (!relay.sequence<tensor<4xf32>>) -> tensor<i64>
    ```

    """

    name = "relay.sequence_length"

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of a scalar i64; C1."""
        self.held_type(facts)
        return tensor_type((), i64)


@irdl_op_definition
class ConcatFromSequenceOp(SequenceOp):
    """The values concatenated along `axis`; with `new_axis` stacked along a new axis.

    Constraints:
    - C1: the operand is a sequence.
    - C2: `axis` is an axis of the values, with `new_axis` of the result.
    - C4: the values have one rank.

    Example:
    ```mlir
    %x = relay.concat_from_sequence(%s) {axis = 0} : (!relay.sequence<tensor<?x4xf32>>) -> tensor<?x4xf32>
    ```

    """

    name = "relay.concat_from_sequence"

    data = operand_def()

    axis = int_property(0)
    new_axis = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the values' type, with an extent that the op introduces along the axis; C1, C2 and C4."""
        shape, element = Facts(self.name, [self.held_tensor(facts)]).operand(0, "C1")
        new = bool(self.new_axis.value.data)
        axis = require_axis(self, self.axis.value.data, len(shape) + new, "C2")
        extents: list[Dim] = [*shape[:axis], ANY, *shape[axis if new else axis + 1 :]]
        return facts.with_new_extents(tensor_type(extents, element))


@irdl_op_definition
class SplitToSequenceOp(SequenceOp):
    """The data split along `axis`: into parts of the extents in a list, of one extent, or of extent 1.

    With one extent, the last part may be smaller. Without list or extent, `keepdims` false removes the axis.

    Constraints:
    - C1: `axis` is an axis of the data.
    - C2: the extents are integers, a list or one number.

    Example:
    ```mlir
    %s = relay.split_to_sequence(%x) {axis = 1} : (tensor<2x6xf32>) -> !relay.sequence<tensor<2x1xf32>>
    ```

    """

    name = "relay.split_to_sequence"

    data = operand_def()
    split = var_operand_def()

    axis = int_property(0)
    keepdims = bool_property(True)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the sequence of the parts' type; C1 and C2."""
        shape, element = facts.operand(0)
        axis = require_axis(self, self.axis.value.data, len(shape), "C1")
        part: list[Dim] = [1] if self.keepdims.value.data else []
        for places, of in [facts.operand(index, "C2") for index in range(1, len(facts))]:
            numbers = isinstance(of, IntegerType) and of.width.data > 1
            facts.require(numbers and len(places) < 2 and len(facts) == 2, "C2", "extents of parts are integers")
            part = [ANY]
        return self.joined(facts, [tensor_type((*shape[:axis], *part, *shape[axis + 1 :]), element)])


SEQUENCE_OPS = (
    SequenceConstructOp,
    SequenceEmptyOp,
    SequenceInsertOp,
    SequenceEraseOp,
    SequenceAtOp,
    SequenceLengthOp,
    ConcatFromSequenceOp,
    SplitToSequenceOp,
)
"""The ops on sequences."""
