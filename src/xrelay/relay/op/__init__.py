"""`relay.op`: operators by name, and what is registered for them from outside.

    @relay.op.register_alter_op_layout("nn.conv2d", level=101)
    def alter_conv2d(attrs, inputs, tinfos, out_type):
        new_attrs = dict(attrs)
        new_attrs["data_layout"] = "NCHW16c"
        return relay.nn.conv2d(*inputs, **new_attrs)

`get` gives an operator by name, whose attributes are read, set and reset.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.passes.relay.legalize_hooks import LEGALIZE
from xrelay.relay import operators
from xrelay.relay.attrs import Op
from xrelay.relay.op import contrib
from xrelay.relay.op_attributes import ALTER_OP_LAYOUT, INTEGERS, MIXED_PRECISION, OPTIONAL_INTEGERS, register_op_attr
from xrelay.relay.op_gradients import register_gradient
from xrelay.relay.op_hooks import legalize_hook
from xrelay.relay.op_implementations import (
    OpImplementation,
    OpStrategy,
    register_broadcast_schedule,
    register_compute,
    register_injective_schedule,
    register_schedule,
    register_strategy,
    wrap_topi_compute,
    wrap_topi_schedule,
)
from xrelay.relay.operators import annotation, image, nn
from xrelay.relay.user_operators import OpPattern, register, register_pattern, register_stateful

__all__ = [
    "OpImplementation",
    "OpPattern",
    "OpStrategy",
    "annotation",
    "contrib",
    "get",
    "image",
    "legalize_hook",
    "nn",
    "register",
    "register_alter_op_layout",
    "register_broadcast_schedule",
    "register_compute",
    "register_fake_quantization_to_integer",
    "register_gradient",
    "register_injective_schedule",
    "register_legalize",
    "register_mixed_precision_conversion",
    "register_op_attr",
    "register_optional_fake_quantization_to_integer",
    "register_pattern",
    "register_schedule",
    "register_stateful",
    "register_strategy",
    "wrap_topi_compute",
    "wrap_topi_schedule",
]

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


def __getattr__(name: str) -> Any:
    """The operator called so, as a function: `relay.op.concatenate` is `relay.concatenate`; `op` is this module."""
    if name == "op":
        return sys.modules[__name__]
    return getattr(operators, name)


def get(name: str) -> Op:
    """The operator called `name`; `UnknownOpError` for none."""
    return Op.of(get_relay_op(name))


def register_alter_op_layout(
    op_name: str, alter_layout: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says in which layouts `op_name` works on the CPU.

    The function gets the attributes, a variable for each operand, the operands' types and the result's. It returns a
    call of an operator whose attributes name the layouts, on these variables or on what is computed of them, as they
    are without layouts; or None where the op is to follow its operands. It replaces one of a lower or the same `level`.
    `UnknownOpError` for a name of no op; a `PassError` tells when the pass runs that an answer is none.
    """
    return register_op_attr(op_name, ALTER_OP_LAYOUT, alter_layout, level)


def register_legalize(
    op_name: str, legal_op: Callable[..., object] | None = None, level: int = 10, *, attr_name: str = LEGALIZE
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says what takes the place of `op_name` in `transform.Legalize`.

    The function gets the attributes, the operands as expressions, and the types of the operands and, last, of the
    result. It returns an expression of the type of the result, or None where the op is to stay. It replaces one of a
    lower or the same `level`. `attr_name` names the list that the pass asks (`legalize_map_attr_name`).
    `UnknownOpError` for a name of no op; a `PassError` tells when the pass runs that an answer is none.
    """
    return register_op_attr(op_name, attr_name, legal_op, level)


def register_mixed_precision_conversion(
    op_name: str, func: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says how `transform.ToMixedPrecision` does `op_name`.

    The function gets the call and the name of the mixed type. It returns a list of the category (0: always in the mixed
    type, 1: as its operands are, 2: never), the type of the result while it is summed up, and the type that others are
    to see: `[0, "float32", "float16"]`. It replaces what the operator declares, and one of a lower or the same `level`.
    `UnknownOpError` for a name of no op; a `PassError` tells when the pass runs that an answer is none.
    """
    return register_op_attr(op_name, MIXED_PRECISION, func, level)


def register_fake_quantization_to_integer(
    op_name: str, func: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Decorator, or called with the function: it says how `op_name` is done on integers.

    `transform.FakeQuantizationToInteger` asks it, before its own rule. The function gets the call, whose arguments are
    integers where quantised numbers lead to them, and a mapping: `type_map[expr.args[0]]` is the `TensorAffineType` of
    an argument (`TupleAffineType` of a tuple), `type_map[expr]` that of the quantisation behind it. It returns a list
    of the expression that stands for the result, and its affine type. Where it raises, the op stays in floats. It
    replaces one of a lower or the same `level`. `UnknownOpError` for a name of no op; a `PassError` tells when the pass
    runs that an answer is none.
    """
    return register_op_attr(op_name, INTEGERS, func, level)


def register_optional_fake_quantization_to_integer(
    op_name: str, func: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """As `register_fake_quantization_to_integer`, for operators that the pass is given in `optional_qnn_ops`."""
    return register_op_attr(op_name, OPTIONAL_INTEGERS, func, level)
