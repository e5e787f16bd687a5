"""Relay's `relay.op.annotation`: operators that annotate values, for import by name."""

from __future__ import annotations

from xrelay.relay import operators

checkpoint = operators.annotation.checkpoint
compiler_begin = operators.annotation.compiler_begin
compiler_end = operators.annotation.compiler_end
on_device = operators.annotation.on_device
stop_fusion = operators.annotation.stop_fusion

__all__ = ["checkpoint", "compiler_begin", "compiler_end", "on_device", "stop_fusion"]
