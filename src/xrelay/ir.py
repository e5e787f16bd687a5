"""Relay's names that stand in `tvm.ir`: modules of functions, and attributes of operators."""

from __future__ import annotations

from xrelay.relay.module import IRModule
from xrelay.relay.op_attributes import register_op_attr

__all__ = ["IRModule", "register_op_attr"]
