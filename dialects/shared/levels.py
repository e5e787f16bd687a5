"""The level that an op belongs to, told by its class.

A package outside may derive an op from `RelayOp` or `NamedOp` under its own dialect name. Such an op is an op of relay
or topi like any other: it is inferred, fused, lowered and interpreted with them, so no name tells its level.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

LEVEL = "LEVEL"
"""The class variable by which a base class gives the level of the ops derived from it."""


def level_of(op: Operation) -> str:
    """The level of `op`: that of its base class, else the dialect of its class, as for the ops of upstream dialects."""
    return level_of_class(type(op))


@cache
def level_of_class(op_type: type[Operation]) -> str:
    """The level of the ops of a class; see `level_of`."""
    level = getattr(op_type, LEVEL, None)
    return level if isinstance(level, str) else op_type.name.partition(".")[0]
