"""`relay.op`: operators by name, and registration of their attributes.

    @relay.op.register_alter_op_layout("nn.conv2d", level=101)
    def alter_conv2d(attrs, inputs, tinfos, out_type):
        new_attrs = dict(attrs)
        new_attrs["data_layout"] = "NCHW16c"
        return relay.nn.conv2d(*inputs, **new_attrs)

`get` returns an operator by name, whose attributes can be read, set and reset.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.passes.relay.legalize import LEGALIZE
from xrelay.relay import operators
from xrelay.relay.nodes import Op
from xrelay.relay.op import contrib
from xrelay.relay.op.attributes import (
    ALTER_OP_LAYOUT,
    INTEGERS,
    MIXED_PRECISION,
    OPTIONAL_INTEGERS,
    OpPattern,
    register,
    register_op_attr,
    register_pattern,
    register_stateful,
)
from xrelay.relay.op.hooks import legalize_hook, register_gradient
from xrelay.relay.op.implementations import (
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
    """Returns an operator as a function: `relay.op.concatenate` is `relay.concatenate`. `op` is this module."""
    if name == "op":
        return sys.modules[__name__]
    return getattr(operators, name)


def get(name: str) -> Op:
    """Returns the operator called `name`. Raises `UnknownOpError` for an unknown name."""
    return Op.of(get_relay_op(name))


def register_alter_op_layout(
    op_name: str, alter_layout: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Registers the layouts in which `op_name` works on the CPU. May be used as a decorator.

    The hook takes the attributes, a variable for each operand, the operands' types and the result's type. It returns a
    call of an operator whose attributes name the layouts, or None if the op follows its operands. The arguments of the
    call are the variables or values computed from them, in the layouts of the program. It replaces hooks of a lower or
    the same `level`. Raises `UnknownOpError` for an unknown operator. An invalid result raises `PassError` in the pass.
    """
    return register_op_attr(op_name, ALTER_OP_LAYOUT, alter_layout, level)


def register_legalize(
    op_name: str, legal_op: Callable[..., object] | None = None, level: int = 10, *, attr_name: str = LEGALIZE
) -> Callable[[FunctionT], FunctionT]:
    """Registers the replacement of `op_name` in `transform.Legalize`. May be used as a decorator.

    The hook takes the attributes, the operands as expressions, and the types of the operands and, last, of the result.
    It returns an expression of the result type, or None to keep the op. It replaces hooks of a lower or the same
    `level`. `attr_name` names the list of hooks that the pass uses (`legalize_map_attr_name`). Raises `UnknownOpError`
    for an unknown operator. An invalid result raises `PassError` in the pass.
    """
    return register_op_attr(op_name, attr_name, legal_op, level)


def register_mixed_precision_conversion(
    op_name: str, func: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Registers how `transform.ToMixedPrecision` treats `op_name`. May be used as a decorator.

    The hook takes the call and the name of the mixed type. It returns a list of the category (0: always in the mixed
    type, 1: as the operands, 2: never), the accumulation type, and the result type: `[0, "float32", "float16"]`. It
    replaces the declaration of the operator, and hooks of a lower or the same `level`. Raises `UnknownOpError` for an
    unknown operator. An invalid result raises `PassError` in the pass.
    """
    return register_op_attr(op_name, MIXED_PRECISION, func, level)


def register_fake_quantization_to_integer(
    op_name: str, func: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Registers the form of `op_name` on integers. May be used as a decorator.

    `transform.FakeQuantizationToInteger` uses it before its own rule. The rule takes the call, whose quantised
    arguments are integers, and a mapping: `type_map[expr.args[0]]` is the `TensorAffineType` of an argument
    (`TupleAffineType` for a tuple), `type_map[expr]` that of the following quantisation. It returns a list of the
    expression for the result and its affine type. If it raises, the op stays in floats. It replaces rules of a lower or
    the same `level`. Raises `UnknownOpError` for an unknown operator. An invalid result raises `PassError` in the pass.
    """
    return register_op_attr(op_name, INTEGERS, func, level)


def register_optional_fake_quantization_to_integer(
    op_name: str, func: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """The same as `register_fake_quantization_to_integer`, for operators in the pass option `optional_qnn_ops`."""
    return register_op_attr(op_name, OPTIONAL_INTEGERS, func, level)
