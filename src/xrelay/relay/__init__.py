"""The builder: Relay programs in Python, pleasant to read.

    data = relay.var("data", shape=(1, 3, 224, 224))
    weight = relay.var("weight")
    y = relay.nn.relu(relay.nn.conv2d(data, weight, channels=32, kernel_size=(3, 3)))
    func = relay.Function(relay.analysis.free_vars(y), y)
    module = relay.Module.from_expr(func)

Every registered operator is a function here under Relay's name (`relay.add`, `relay.nn.conv2d`); operands may be
expressions, values of xDSL, numbers and arrays.
"""

from __future__ import annotations

from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.relay import analysis
from xrelay.relay.calls import NoOperatorError, OpFunction, annotation, nn, op_function
from xrelay.relay.expr import Any, Expr, ExprLike, Tuple, Var, const, var
from xrelay.relay.expr import tensor as TensorType  # noqa: N812 (Relay's name)
from xrelay.relay.function import Function, If, Module, invoke, let

__all__ = [
    "Any",
    "Expr",
    "ExprLike",
    "Function",
    "If",
    "Module",
    "TensorType",
    "Tuple",
    "Var",
    "analysis",
    "annotation",
    "const",
    "get_relay_op",
    "invoke",
    "let",
    "nn",
    "op_function",
    "var",
]


def __getattr__(name: str) -> OpFunction:
    """The operator called `name`, as a function."""
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return op_function(name)
    except UnknownOpError as error:
        raise NoOperatorError(error.message, help=error.help) from error
