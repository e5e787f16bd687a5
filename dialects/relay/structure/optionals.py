"""Optionals: a value or none. Like those on sequences, the ops stay in the function that calls kernels."""

from __future__ import annotations

from xdsl.dialects.builtin import UnrankedTensorType, i1
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, var_operand_def

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.structure.graph_op import GraphOp
from xrelay.dialects.shared.container_types import OptionalType
from xrelay.dialects.shared.types import common_type, tensor_type


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


OPTIONAL_OPS = (OptionalConstructOp, OptionalHasElementOp, OptionalGetElementOp)
"""The ops on optionals."""
