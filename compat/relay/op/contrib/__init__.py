"""`relay.op.contrib`: the pattern tables of external compilers, by name."""

from __future__ import annotations

from xrelay.relay.op.contrib import register
from xrelay.relay.op.contrib.register import get_pattern_table, register_pattern_table

__all__ = ["get_pattern_table", "register", "register_pattern_table"]
