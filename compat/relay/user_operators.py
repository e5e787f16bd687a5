"""`relay.op.register`: operators that a program defines by name.

    relay.op.register("custom_op", "Adds two tensors.")
    op = relay.op.get("custom_op")
    op.set_num_inputs(2)
    op.add_type_rel("Broadcast")
    relay.op.register_pattern("custom_op", relay.op.OpPattern.BROADCAST)
    relay.op.register_compute("custom_op", lambda attrs, inputs, out_type: [topi.add(*inputs)])
    y = relay.Call(op, [x, x])

Such an operator has operands and a type. An operator with attributes, constraints or an ONNX form has to be an op
class: docs/extending.md.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.operator_value import UserOperator, make_operator
from xrelay.dialects.relay.core.registry import register_relay_op, relay_ops
from xrelay.errors import InputError
from xrelay.registrations import note_caller
from xrelay.relay.op_attributes import LEVEL, register_op_attr


class OpPattern:
    """Relay's kinds of operators for fusion."""

    ELEMWISE = OpPatternKind.ELEM_WISE
    BROADCAST = OpPatternKind.BROADCAST
    INJECTIVE = OpPatternKind.INJECTIVE
    COMM_REDUCE = OpPatternKind.COMM_REDUCE
    OUT_ELEMWISE_FUSABLE = OpPatternKind.OUT_ELEM_WISE_FUSABLE
    TUPLE = OpPatternKind.TUPLE
    OPAQUE = OpPatternKind.OPAQUE


def register(op_name: str, describe: str = "") -> None:
    """Registers an operator called `op_name`. Raises `InputError` if it exists or the name is not valid."""
    legal = all(part.isidentifier() for part in op_name.split("."))
    if not legal:
        raise InputError(f"{op_name!r} is not a valid operator name", help="use words separated by dots")
    if op_name in relay_ops():
        raise InputError(f"the operator {op_name!r} exists already", help="use another name")
    kind: type[Operation] = make_operator(op_name, describe)
    assert issubclass(kind, UserOperator), "made as one"
    register_relay_op(kind)
    note_caller()


def register_pattern(op_name: str, pattern: int, level: int = LEVEL) -> None:
    """Sets the fusion kind of a registered operator. Raises `InputError` if its definition declares it."""
    register_op_attr(op_name, "TOpPattern", pattern, level)
    note_caller()


def register_stateful(op_name: str, stateful: bool, level: int = LEVEL) -> None:
    """Marks an operator as stateless. Raises `InputError` for a stateful one, as programs have no state."""
    if stateful:
        raise InputError(f"{op_name} has state, which is not supported", help="pass and return the state as a tensor")
    register_op_attr(op_name, "TOpIsStateful", False, level)
