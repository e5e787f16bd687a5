"""`relay.op.register`: operators that a program names, and what it says of them.

    relay.op.register("custom_op", "Adds two tensors.")
    op = relay.op.get("custom_op")
    op.set_num_inputs(2)
    op.add_type_rel("Broadcast")
    relay.op.register_pattern("custom_op", relay.op.OpPattern.BROADCAST)
    relay.op.register_compute("custom_op", lambda attrs, inputs, out_type: [topi.add(*inputs)])
    y = relay.Call(op, [x, x])

Such an operator has operands and a type. One with attributes, constraints or an ONNX form is a class of its own:
docs/extending.md.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import register_relay_op, relay_ops
from xrelay.dialects.relay.core.user_operator import UserOperator, make_operator
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
    """Have an operator called `op_name`; `InputError` where there is one, or where no text can have the name."""
    legal = all(part.isidentifier() for part in op_name.split("."))
    if not legal:
        raise InputError(f"{op_name!r} is no name of an operator", help="write words with dots between")
    if op_name in relay_ops():
        raise InputError(f"there is an operator called {op_name!r}", help="give it a name of its own")
    kind: type[Operation] = make_operator(op_name, describe)
    assert issubclass(kind, UserOperator), "made as one"
    register_relay_op(kind)
    note_caller()


def register_pattern(op_name: str, pattern: int, level: int = LEVEL) -> None:
    """Say what kind a registered operator is for fusion; `InputError` for an operator that declares it."""
    register_op_attr(op_name, "TOpPattern", pattern, level)
    note_caller()


def register_stateful(op_name: str, stateful: bool, level: int = LEVEL) -> None:
    """Say that an operator has no state; `InputError` where it has, as programs here have none."""
    if stateful:
        raise InputError(f"{op_name} has state, which programs here have not", help="give and take it as a tensor")
    register_op_attr(op_name, "TOpIsStateful", False, level)
