"""Sequences and optionals, and `relay.fail`.

A sequence has any number of tensors of one element type; an optional has a value or none. The ops stay in the function
that calls kernels, down to the loop level, where both are lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType, UnrankedTensorType, i1, i64
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, var_operand_def

from xrelay.dialects.relay.core.axes import require_axis
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, int_property, string_property
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import (
    OptionalType,
    OptionalValue,
    SequenceType,
    SequenceValue,
    Value,
    common_element,
    common_type,
    joined_types,
    tensor_type,
)
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import ANY, AnyDim, Dim


class GraphOp(RelayOp):
    """Base of the ops on sequences, optionals and closures, and of `relay.fail`."""

    PATTERN = OpPatternKind.OPAQUE
    MIXED_PRECISION = MixedPrecision.NEVER


class OptionalOp(GraphOp):
    """Base of the ops on optionals."""

    def held_type(self, facts: Facts) -> Attribute:
        """Returns the type of the value in operand 0; C1."""
        type = facts[0]
        if not isinstance(type, OptionalType):
            facts.require(False, "C1", f"the operand must be an optional, found {type}")
            return type
        return type.element


@irdl_op_definition
class OptionalConstructOp(OptionalOp):
    """An optional with the operand as its value, or without a value, of the type `of`.

    Constraints:
    - C1: there is one operand, or none and `of`.

    Example:
    ```mlir
    %o = relay.optional_construct(%x) : (tensor<4xf32>) -> !relay.optional<tensor<4xf32>>
    ```

    """

    name = "relay.optional_construct"

    value = var_operand_def()

    of = opt_prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the optional of the operand's type, or of `of`; C1."""
        types = [*facts, *([] if self.of is None else [self.of])]
        element = common_type(types) if len(types) == 1 and isinstance(types[0], TypeAttribute) else None
        if element is None:
            facts.require(False, "C1", f"{len(facts)} operands and {'a' if self.of is not None else 'no'} type in of")
            return tensor_type((), i1)
        return OptionalType(element)

    def evaluate(self, *value: Value) -> Value:
        """Returns an optional with the operand, if any."""
        return OptionalValue(value)


@irdl_op_definition
class OptionalHasElementOp(OptionalOp):
    """Whether an optional has a value.

    Constraints:
    - C1: the operand is an optional.

    Example:
    ```mlir
    %c = relay.optional_has_element(%o) : (!relay.optional<tensor<4xf32>>) -> tensor<i1>
    ```

    """

    name = "relay.optional_has_element"

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of a scalar i1; C1."""
        self.held_type(facts)
        return tensor_type((), i1)

    def evaluate(self, data: OptionalValue) -> Array:
        """Returns whether there is a value."""
        return np.array(bool(data))


@irdl_op_definition
class OptionalGetElementOp(OptionalOp):
    """The value of an optional. An optional without a value is an error at run time.

    Constraints:
    - C1: the operand is an optional.
    - C2: its value has one rank.

    Example:
    ```mlir
    %x = relay.optional_get_element(%o) : (!relay.optional<tensor<4xf32>>) -> tensor<4xf32>
    ```

    """

    name = "relay.optional_get_element"

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the value's type, with names for the extents that the op introduces; C1 and C2."""
        type = self.held_type(facts)
        facts.require(not isinstance(type, UnrankedTensorType), "C2", f"the value must have one rank, found {type}")
        return facts.with_new_extents(type)

    def evaluate(self, data: OptionalValue) -> Value:
        """Returns the value."""
        if not data:
            raise InterpreterError("the optional has no value", help="check relay.optional_has_element first")
        return data[0]


OPTIONAL_OPS = (OptionalConstructOp, OptionalHasElementOp, OptionalGetElementOp)
"""The ops on optionals."""


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

    def evaluate(self, *values: Value) -> Value:
        """Returns the operands."""
        return SequenceValue(values)


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

    def evaluate(self) -> Value:
        """Returns an empty sequence."""
        return SequenceValue()


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

    def evaluate(self, data: SequenceValue, value: Value, *at: Array) -> Value:
        """Inserts at a checked position, which may be after the last value."""
        position = position_in(at[0], len(data), len(data)) if at else len(data)
        return SequenceValue((*data[:position], value, *data[position:]))


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

    def evaluate(self, data: SequenceValue, *at: Array) -> Value:
        """Returns the sequence without the value at the position."""
        position = position_in(at[0] if at else np.array(-1), len(data), len(data) - 1)
        return SequenceValue((*data[:position], *data[position + 1 :]))


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

    def evaluate(self, data: SequenceValue, at: Array) -> Value:
        """Returns the value at the position."""
        return data[position_in(at, len(data), len(data) - 1)]


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

    def evaluate(self, data: SequenceValue) -> Array:
        """Returns the length."""
        return np.array(len(data), np.int64)


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

    def evaluate(self, data: SequenceValue) -> Array:
        """Concatenates with `np.concatenate` or `np.stack`, which require at least one value."""
        if not data:
            raise InterpreterError("the sequence is empty")
        join = np.stack if self.new_axis.value.data else np.concatenate
        return join(cast("tuple[Array, ...]", data), axis=self.axis.value.data)


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

    def evaluate(self, data: Array, *split: Array) -> Value:
        """Splits with `np.split` at the ends of the slices."""
        axis = self.axis.value.data
        extent = data.shape[axis]
        sizes = split[0].reshape(-1) if split else np.ones(extent, np.int64)
        if (sizes < 0).any() or (split and split[0].ndim == 1 and sizes.sum() != extent):
            raise InterpreterError(f"[{self.name} C2] slices of {sizes.tolist()} do not add up to the extent {extent}")
        if split and split[0].ndim == 0:
            size = int(split[0])
            if size == 0:
                raise InterpreterError(f"[{self.name} C2] slices of 0 do not add up to the extent {extent}")
            sizes = np.array([min(size, extent - first) for first in range(0, extent, size)], np.int64)
        if not sizes.size:
            return SequenceValue()
        parts = np.split(data, np.cumsum(sizes)[:-1].tolist(), axis)
        dropped = not split and not self.keepdims.value.data
        return SequenceValue(part.squeeze(axis) if dropped else part for part in parts)


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


@irdl_op_definition
class FailOp(GraphOp):
    """Raises an error with the text `message` if the op runs. The result, of type `of`, is never computed.

    It ends a branch without a value, such as a branch whose operands have types that an op does not accept. Names of
    dimensions in `of` are those of the program; each `?` is an extent that the op introduces.

    Constraints:
    - C1: `of` is the type of a tensor, a sequence or an optional.
    - C2: the message has text.

    Example:
    ```mlir
    %x = relay.fail() {message = "the weight has rank 2", of = tensor<4xf32>} : () -> tensor<4xf32>
    ```

    """

    name = "relay.fail"

    message = string_property()
    of = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `of`, with names for the extents that the op introduces; C1 and C2."""
        is_value = isinstance(self.of, TensorType | SequenceType | OptionalType)
        facts.require(is_value, "C1", f"the result must be a tensor, a sequence or an optional, found {self.of}")
        facts.require(bool(self.message.data), "C2", "the message is empty")
        if not isinstance(self.of, TensorType):
            return self.of
        position = 0

        def chosen(dims: Sequence[Dim]) -> Dim:
            nonlocal position
            position += 1
            return facts.new_extent("d", position) if isinstance(dims[0], AnyDim) else dims[0]

        return joined_types([self.of], chosen) or self.of

    def evaluate(self) -> Value:
        """Raises the error."""
        raise InterpreterError(self.message.data)


def position_in(at: Array, count: int, last: int) -> int:
    """Returns a checked position from the front; negative positions count from the end."""
    position = int(at) + count if at < 0 else int(at)
    if not 0 <= position <= last:
        raise InterpreterError(f"position {int(at)} is out of range for a sequence of {count} values")
    return position
