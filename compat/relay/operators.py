"""Relay's operators as functions: `add`, `nn.conv2d` and all other registered ones.

Type checkers read `operators.pyi`, which `make stubs` generates from the definitions of the ops.
"""

from __future__ import annotations

from xrelay.relay.operator_functions.calls import (
    OpFunction,
    annotation,
    image,
    nn,
    operator_attribute,
    qnn,
    random,
    vision,
)

__all__ = ["annotation", "image", "nn", "qnn", "random", "vision"]


def __getattr__(name: str) -> OpFunction:
    """Returns the operator of this name as a function."""
    if name.startswith("__"):
        raise AttributeError(name)
    return operator_attribute(name)
