"""Finds the arguments of kernels that alias no other argument at any call in a module.

An argument is marked if at every call its buffer is not another argument's buffer, nor a part that overlaps it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, combinations

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import MemRefType, UnitAttr
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.attribute_names import NOALIAS
from xrelay.errors import PassError
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.lifetimes import Buffer, roots_of
from xrelay.passes.loop.part_ranges import overlapping_parts, whole_of
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs

Calls = Mapping[str, Sequence[func.CallOp]]
"""The calls of each function of a module, by its symbol."""


def mark_noalias(functions: Mapping[str, func.FuncOp], calls: Calls, main: func.FuncOp | None) -> None:
    """Adds `llvm.noalias` to each memref argument of `functions` whose buffer is no other argument's at every call.

    The arguments of `main` are distinct by contract. Those of other callers may overlap, so their callees get no mark.
    """
    for name, positions in _distinct_arguments({name: calls[name] for name in calls if name in functions}, main):
        attrs = argument_attrs(functions[name])
        for position in positions:
            attrs[position][NOALIAS] = UnitAttr()
        set_argument_attrs(functions[name], attrs)


def check_noalias(declared: Mapping[str, func.FuncOp], calls: Calls, main: func.FuncOp | None) -> None:
    """Raises `PassError` if a call violates the `llvm.noalias` marks of a kernel declaration.

    Such kernels are compiled before the memory of their callers is planned.
    """
    kernels = {name: op for name, op in declared.items() if name in calls and op.arg_attrs is not None}
    kept = dict(_distinct_arguments({name: calls[name] for name in kernels}, main)) if kernels else {}
    for name, kernel in kernels.items():
        for position, attributes in enumerate(argument_attrs(kernel)):
            if NOALIAS in attributes and position not in kept.get(name, ()):
                raise PassError(f"argument {position} of @{name} overlaps another one, which its code does not allow")


def _distinct_arguments(calls: Calls, main: func.FuncOp | None) -> list[tuple[str, list[int]]]:
    """The positions of arguments that share no buffer, for each function that only `main` calls."""
    if main is None:
        return []
    roots, own = roots_of(main.body.block), set[Operation](walk_ops(main))
    return [(name, _never_shared(sites, roots)) for name, sites in calls.items() if own.issuperset(sites)]


def _never_shared(sites: Sequence[func.CallOp], roots: Mapping[SSAValue, tuple[Buffer, ...]]) -> list[int]:
    """The positions of memref operands that share a buffer with no other operand at any of the calls."""
    shared: set[int] = set()
    for site in sites:
        users: defaultdict[Buffer, list[int]] = defaultdict(list)
        for position, operand in enumerate(site.arguments):
            for root in roots.get(operand, ()):
                users[root].append(position)
        for positions in users.values():
            buffers = [site.arguments[position] for position in positions]
            shared.update(positions[number] for number in _overlapping(buffers, roots))
    positions = range(len(sites[0].arguments))
    return [i for i in positions if i not in shared and isinstance(sites[0].arguments[i].type, MemRefType)]


def _overlapping(buffers: Sequence[SSAValue], roots: Mapping[SSAValue, tuple[Buffer, ...]]) -> set[int]:
    """The positions of the `buffers` that may have an element in common with another of them.

    All have a root in common. Parts of different buffers that a condition or a loop selects may overlap.
    """
    if len(buffers) < 2:
        return set()
    wholes: defaultdict[SSAValue, list[int]] = defaultdict(list)
    for number, buffer in enumerate(buffers):
        wholes[whole_of(buffer)].append(number)
    if len(wholes) == 1:
        return overlapping_parts(buffers)
    turns = [number for number, buffer in enumerate(buffers) if isinstance(buffer.owner, arith.SelectOp)]
    if len(turns) < len(buffers):
        return set(range(len(buffers)))
    pairs = (
        (one, other) for one, other in combinations(turns, 2) if not _take_turns(buffers[one], buffers[other], roots)
    )
    return set(chain.from_iterable(pairs))


def _take_turns(one: SSAValue, other: SSAValue, roots: Mapping[SSAValue, tuple[Buffer, ...]]) -> bool:
    """Whether one condition selects both buffers, never the same: `select %c, %a, %b` and `select %c, %b, %a`."""
    first, second = one.owner, other.owner
    if not isinstance(first, arith.SelectOp) or not isinstance(second, arith.SelectOp):
        return False
    sides = ((first.lhs, second.lhs), (first.rhs, second.rhs))
    return first.cond is second.cond and all(set(roots[a]).isdisjoint(roots[b]) for a, b in sides)
