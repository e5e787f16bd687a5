"""Operators on quantised numbers: `relay.qnn.op.conv2d`, and the passes that lower them, `relay.qnn.transform`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from xrelay.relay.operator_functions.quantized import current_requantize_config, requantize_config
from xrelay.relay.operators import qnn as op

if TYPE_CHECKING:
    from xrelay.relay.qnn import transform as transform

__all__ = ["current_requantize_config", "op", "requantize_config", "transform"]


def __getattr__(name: str) -> object:
    """Returns `transform`, which is imported on first use, or the operator of this name as a function."""
    if name == "transform":
        return import_module("xrelay.relay.qnn.transform")
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(op, name)
