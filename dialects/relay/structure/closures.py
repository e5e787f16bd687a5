"""Closures as data: the number of a function, and the captured values.

`relay-lift-closures` converts escaping `relay.fn`s to them. The ops stay in the function that calls kernels, down to
the loop level, where a closure is a list.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_operand_def

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.relay.structure.containers import GraphOp
from xrelay.dialects.shared.types import ClosureType, ClosureValue, OptionalType, SequenceType, Value, tensor_type
from xrelay.errors import InterpreterError

CAPTURED_TYPES = (TensorType, SequenceType, OptionalType, ClosureType)
"""The kinds of values that a closure may capture."""


class ClosureOp(GraphOp):
    """Base of the ops on closures."""

    def require_closure(self, facts: Facts) -> None:
        """Requires that operand 0 is a closure; C1."""
        facts.require(isinstance(facts[0], ClosureType), "C1", f"the operand must be a closure, found {facts[0]}")


@irdl_op_definition
class ClosureConstructOp(ClosureOp):
    """A closure of the function `number` of the program, which captures its operands.

    Constraints:
    - C1: the operands are tensors, sequences, optionals or closures.
    - C2: the number is 0 or more.

    Example:
    ```mlir
    %f = relay.closure_construct(%x) {number = 0} : (tensor<4xf32>) -> !relay.closure
    ```

    """

    name = "relay.closure_construct"

    captured = var_operand_def()

    number = int_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the closure type; C1 and C2."""
        for index, type in enumerate(facts):
            facts.require(
                isinstance(type, CAPTURED_TYPES), "C1", f"operand #{index} is {type}, which a closure cannot capture"
            )
        number = self.number.value.data
        facts.require(number >= 0, "C2", f"the number of a function must not be negative, found {number}")
        return ClosureType()

    def evaluate(self, *captured: Value) -> Value:
        """Returns the function number and the operands."""
        return ClosureValue((np.array(self.number.value.data, np.int64), *captured))


@irdl_op_definition
class ClosureNumberOp(ClosureOp):
    """The number of a closure's function.

    Constraints:
    - C1: the operand is a closure.

    Example:
    ```mlir
    %n = relay.closure_number(%f) : (!relay.closure) -> tensor<i64>
    ```

    """

    name = "relay.closure_number"

    data = operand_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of a scalar i64; C1."""
        self.require_closure(facts)
        return tensor_type((), i64)

    def evaluate(self, data: ClosureValue) -> Value:
        """Returns the function number."""
        return data[0]


@irdl_op_definition
class ClosureCapturedOp(ClosureOp):
    """The captured value `index` of a closure, of type `of`. The op binds the dynamic extents of the value.

    The result is undefined for a closure with other captured values: test `relay.closure_number` first.

    Constraints:
    - C1: the operand is a closure.
    - C2: the index is 0 or more.
    - C3: a closure can hold values of the type `of`.

    Example:
    ```mlir
    %x = relay.closure_captured(%f) {index = 0, of = tensor<4xf32>} : (!relay.closure) -> tensor<4xf32>
    ```

    """

    name = "relay.closure_captured"

    data = operand_def()

    index = int_property()
    of = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `of`, with names for the extents that the op introduces; C1 to C3."""
        self.require_closure(facts)
        index = self.index.value.data
        facts.require(index >= 0, "C2", f"the index of a captured value must not be negative, found {index}")
        facts.require(isinstance(self.of, CAPTURED_TYPES), "C3", f"a closure cannot contain {self.of}")
        return facts.with_new_extents(self.of)

    def evaluate(self, data: ClosureValue) -> Value:
        """Returns a captured value."""
        index = self.index.value.data
        if index + 1 >= len(data):
            raise InterpreterError(f"a closure over {len(data) - 1} values has no value {index}")
        return data[index + 1]


CLOSURE_OPS = (ClosureConstructOp, ClosureNumberOp, ClosureCapturedOp)
"""The ops on closures as data."""
