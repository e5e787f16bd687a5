"""What makes the named extents that ops require something of, for the interpreter, which computes on demand.

A requirement may say an extent that another op makes whose value nothing asks for, as those do that inlining leaves:

    %a = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 4>} : … -> tensor<?x1xi32, #relay.dims<k>>
    %z = relay.require(%y) {relay.requires = #relay.requirements<n == k>} : …

To name an extent is a use of the op that makes it: it is computed before the requirement is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import outside_closures
from xrelay.dialects.shared.op_lists import ops_in
from xrelay.dialects.shared.recorded_requirements import demands_of, made_extents, requirements_of

ExtentMakers: TypeAlias = Mapping[Operation, Sequence[SSAValue]]
"""For an op: what is to be computed before it for the extents that it, or an op inside of it, requires something of."""


def extent_makers(functions: Iterable[FuncOp]) -> ExtentMakers:
    """The makers of extents in these functions, by the ops that need them; each op is looked at once.

    What is inside of a closure, loop or group needs an extent from around it when that is made, or runs.
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
    """The names that `op`, or the kernel that it calls, requires something of."""
    requirements = (*requirements_of(op), *(each for demand in demands_of(op) for each in demand.requirements))
    for requirement in requirements:
        yield from requirement.names


def _maker(name: str, op: Operation, makers: Mapping[tuple[str, Block | None], Operation]) -> Operation | None:
    """The op before `op` that makes the extent `name`, in its block or one around it."""
    place: Operation | None = op
    while place is not None:
        maker = makers.get((name, place.parent))
        if maker is not None:
            return maker if maker is not place else None
        place = place.parent_op()
    return None
