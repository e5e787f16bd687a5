"""`relay.tuple` and `relay.tuple_get_item`: several values as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from xrelay.dialects.relay.core.facts import Elements, Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import int_property
from xrelay.dialects.shared.types import IncompleteType, Value, is_complete, shape_of, tuple_type
from xrelay.index_algebra.dims import ANY, product


@irdl_op_definition
class TupleOp(RelayOp):
    """The tuple of its operands.

    Constraints: none.

    Example:
    ```mlir
    %t = relay.tuple(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tuple<tensor<4xf32>, tensor<8xf32>>
    ```

    """

    name = "relay.tuple"
    PATTERN = OpPatternKind.TUPLE
    INFERS_FROM_INCOMPLETE = True

    fields = var_operand_def()
    result = result_def()

    traits = traits_def(Pure())

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the concatenated elements of the fields."""
        parts = [facts.elements(index) for index in range(len(facts))]
        known = [part for part in parts if part is not None]
        return tuple(element for part in known for element in part) if len(known) == len(parts) else None

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the tuple of the operands' types."""
        return tuple_type(facts)

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's fields."""
        if not isinstance(result_type, TupleType) or len(result_type.types) != len(facts):
            return facts
        return list(result_type.types)

    def evaluate(self, *fields: Value) -> tuple[Value, ...]:
        """Returns the fields."""
        return fields


@irdl_op_definition
class TupleGetItemOp(RelayOp):
    """Field number `index` of a tuple.

    Constraints:
    - C1: the operand is a tuple.
    - C2: it has a field `index`.

    Example:
    ```mlir
    %x = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<8xf32>>) -> tensor<8xf32>
    ```

    """

    name = "relay.tuple_get_item"
    PATTERN = OpPatternKind.INJECTIVE
    INFERS_FROM_INCOMPLETE = True

    data = operand_def()
    result = result_def()

    index = int_property()

    traits = traits_def(Pure())

    def infer_elements(self, facts: Facts) -> Elements | None:
        """Returns the elements of the field, which follow those of the previous fields."""
        elements, tuple_type = facts.elements(0), facts[0]
        if elements is None or not isinstance(tuple_type, TupleType):
            return None
        counts = [product(shape_of(field)) if isinstance(field, TensorType) else ANY for field in tuple_type.types]
        known = [count for count in counts if isinstance(count, int)]
        if len(known) != len(counts):
            return None
        index = self.index.value.data
        first = sum(known[:index])
        return elements[first : first + known[index]]

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the field's type; C1 and C2."""
        type = facts[0]
        if isinstance(type, IncompleteType):
            return type
        if not isinstance(type, TupleType):
            facts.require(False, "C1", f"the operand must be a tuple, found {type}")
            return type
        index = self.index.value.data
        facts.require(0 <= index < len(type.types), "C2", f"field {index} of a tuple of {len(type.types)}")
        return type.types.data[index]

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the tuple's type with this field known."""
        type, index = facts[0], self.index.value.data
        if not isinstance(type, TupleType) or not 0 <= index < len(type.types):
            return facts
        fields = list(type.types)
        if not is_complete(fields[index]):
            fields[index] = cast(TypeAttribute, result_type)
        return [TupleType(tuple(fields))]

    def evaluate(self, data: tuple[Value, ...]) -> Value:
        """Returns a field."""
        return data[self.index.value.data]


def field_count(value: SSAValue) -> int | None:
    """Returns the number of fields of a tuple, from its type or from the attribute `field_count` of its op.

    Returns None for a tensor, and if the number is not known.
    """
    if isinstance(value.type, TupleType):
        return len(value.type.types)
    count: object = getattr(value.owner, "field_count", None) if isinstance(value.type, IncompleteType) else None
    return count if isinstance(count, int) else None
