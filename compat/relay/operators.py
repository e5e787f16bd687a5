"""Relay's operators as functions: `add`, `nn.conv2d` and all other registered ones.

Type checkers read `operators.pyi`, which `make stubs` generates from the definitions of the ops.
"""

from __future__ import annotations

from xrelay.dialects.relay.core.registry import UnknownOpError
from xrelay.relay.operator_functions.calls import (
    NoOperatorError,
    OpFunction,
    annotation,
    image,
    nn,
    op_function,
    qnn,
    random,
    vision,
)

__all__ = ["annotation", "image", "nn", "qnn", "random", "vision"]


def __getattr__(name: str) -> OpFunction:
    """Returns the operator of this name as a function."""
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return op_function(name)
    except UnknownOpError as error:
        raise NoOperatorError(error.message, help=error.help) from error
