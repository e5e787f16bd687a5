"""The ops that introduce the named extents in requirements, for the demand-driven interpreter.

A requirement may refer to an extent that is introduced by another op without uses, e.g. after inlining:

    %a = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 4>} : … -> tensor<?x1xi32, #relay.dims<k>>
    %z = relay.require(%y) {relay.requires = #relay.requirements<n == k>} : …

Such a reference counts as a use: the op is computed before the requirement is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import outside_closures
from xrelay.dialects.shared.op_lists import ops_in
from xrelay.dialects.shared.recorded_requirements import kernel_requirements_of, made_extents, requirements_of

ExtentMakers: TypeAlias = Mapping[Operation, Sequence[SSAValue]]
"""The values to compute before an op because they introduce extents in requirements of it or of ops in its regions."""


def extent_makers(functions: Iterable[FuncOp]) -> ExtentMakers:
    """Returns the values that introduce required extents in these functions, by the op that needs them.

    Ops in a closure, loop or fused group need outer extents when the closure is created, or the loop or group runs.
    """
    found: dict[Operation, dict[SSAValue, None]] = {}
    for function in functions:
        makers: dict[tuple[str, Block | None], Operation] = {}
        for op in ops_in(function.body):
            for name in _required_names(op) if makers else ():
                maker = _maker(name, op, makers)
                if maker is not None:
                    user = outside_closures(op, maker.parent)
                    found.setdefault(user, {})[maker.results[0]] = None
            for extent in made_extents(op):
                makers[extent.name, op.parent] = op
                group = op.parent_op()
                if isinstance(group, FusedOp):
                    makers[extent.name, group.parent] = group
    return {op: list(values) for op, values in found.items()}


def _required_names(op: Operation) -> Iterator[str]:
    """Yields the names in requirements of `op` or of the kernel that it calls."""
    requirements = (*requirements_of(op), *(each for row in kernel_requirements_of(op) for each in row.requirements))
    for requirement in requirements:
        yield from requirement.names


def _maker(name: str, op: Operation, makers: Mapping[tuple[str, Block | None], Operation]) -> Operation | None:
    """Returns the op before `op` that introduces the extent `name`, in its block or an enclosing one."""
    current: Operation | None = op
    while current is not None:
        maker = makers.get((name, current.parent))
        if maker is not None:
            return maker if maker is not current else None
        current = current.parent_op()
    return None
