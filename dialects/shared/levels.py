"""The level that an op belongs to, which its class determines.

Other packages may derive an op from `RelayOp` or `NamedOp` under their own dialect name. Such an op is inferred, fused,
lowered and interpreted like any op of relay or topi, so its name does not determine its level.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

LEVEL = "LEVEL"
"""The class variable with which a base class sets the level of the ops derived from it."""


def level_of(op: Operation) -> str:
    """The level of `op`: that of its base class, else the name of its dialect, as for the ops of upstream dialects."""
    return level_of_class(type(op))


@cache
def level_of_class(op_type: type[Operation]) -> str:
    """The level of the ops of a class; see `level_of`."""
    level = getattr(op_type, LEVEL, None)
    return level if isinstance(level, str) else op_type.name.partition(".")[0]
