"""Finds the arguments of kernels that alias no other argument at any call in a module.

An argument is marked if at every call its buffer is neither another argument's buffer nor a subview that overlaps it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain, combinations, islice, pairwise
from typing import Final

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, UnitAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import SubviewOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import expression_of
from xrelay.dialects.loop.subview_op import strides_of
from xrelay.dialects.shared.attribute_names import DIM, NOALIAS
from xrelay.errors import PassError
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.linear_form import factors_of, times
from xrelay.index_algebra.value_map import Space
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.memory.lifetimes import Buffer, roots_of
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs

Calls = Mapping[str, Sequence[func.CallOp]]
"""The calls of each function of a module, by its symbol."""


def mark_noalias(functions: Mapping[str, func.FuncOp], calls: Calls, main: func.FuncOp | None) -> None:
    """Adds `llvm.noalias` to each memref argument of `functions` that shares its buffer with no argument at any call.

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
    if main is None or not calls:
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

    All may refer to the same buffer. Views of buffers that a condition or a loop selects may overlap.
    """
    if len(buffers) < 2:
        return set()
    wholes: defaultdict[SSAValue, list[int]] = defaultdict(list)
    for number, buffer in enumerate(buffers):
        wholes[_whole_of(buffer)].append(number)
    if len(wholes) == 1:
        return _overlapping_views(buffers)
    selects = [number for number, buffer in enumerate(buffers) if isinstance(buffer.owner, arith.SelectOp)]
    if len(selects) < len(buffers):
        return set(range(len(buffers)))
    pairs = (
        (one, other)
        for one, other in combinations(selects, 2)
        if not _are_exclusive(buffers[one], buffers[other], roots)
    )
    return set(chain.from_iterable(pairs))


def _are_exclusive(one: SSAValue, other: SSAValue, roots: Mapping[SSAValue, tuple[Buffer, ...]]) -> bool:
    """Whether one condition selects different buffers for both: `select %c, %a, %b` and `select %c, %b, %a`."""
    first, second = one.owner, other.owner
    if not isinstance(first, arith.SelectOp) or not isinstance(second, arith.SelectOp):
        return False
    branches = ((first.lhs, second.lhs), (first.rhs, second.rhs))
    return first.cond is second.cond and all(set(roots[a]).isdisjoint(roots[b]) for a, b in branches)


MAX_SEARCHED: Final = 100
"""The maximum number of uses of a value that are searched for an extent, and of views that are compared in pairs."""


def _whole_of(value: SSAValue) -> SSAValue:
    """The outermost buffer that a value is a view of, or the value itself."""
    while isinstance(op := value.owner, SubviewOp):
        value = op.source
    return value


def _overlapping_views(views: Sequence[SSAValue]) -> set[int]:
    """The positions of the `views` of one buffer that may have an element in common with another of them.

    Constant ranges are sorted. Other ranges are compared in pairs, unless each view ends before the next one begins.
    """
    everything = set(range(len(views)))
    if any(not isinstance(view.owner, SubviewOp) for view in views):
        return everything
    ranges = [_range(view) for view in views]
    if all(_is_at_most(end, begin) for (_, end), (begin, _) in pairwise(ranges)):
        return set()
    intervals = [(*map(_constant, each), number) for number, each in enumerate(ranges)]
    known = [(begin, end, number) for begin, end, number in intervals if begin is not None and end is not None]
    if len(known) == len(ranges):
        return _overlapping_intervals(known)
    if len(views) > MAX_SEARCHED:
        return everything
    pairs = (
        (one, other)
        for one, other in combinations(everything, 2)
        if not (_is_at_most(ranges[one][1], ranges[other][0]) or _is_at_most(ranges[other][1], ranges[one][0]))
    )
    return set(chain.from_iterable(pairs))


def _overlapping_intervals(intervals: Sequence[tuple[int, int, int]]) -> set[int]:
    """The last fields of intervals, as (begin, end, number), that overlap another interval."""
    found: set[int] = set()
    last, reach = -1, 0
    for begin, end, number in sorted(intervals):
        if last >= 0 and begin < reach:
            found |= {last, number}
        if last < 0 or end > reach:
            last, reach = number, end
    return found


def _constant(number: ValueMap) -> int | None:
    form = linear_form(number.exprs[0])
    return None if form.terms else form.constant


def _range(view: SSAValue) -> tuple[ValueMap, ValueMap]:
    """The first element of a view in its outermost buffer, and an upper bound of the element after its last."""
    begin, value = ValueMap.constant(0), view
    while isinstance(op := value.owner, SubviewOp):
        begin, value = begin.plus(expression_of(op.offset)), op.source
    type = memref_type(view)
    sizes = iter(view.owner.sizes if isinstance(view.owner, SubviewOp) else ())
    extents = [expression_of(next(sizes) if size == DYNAMIC_INDEX else size) for size in type.get_shape()]
    if not (strides := strides_of(type)):
        return begin, begin.plus(reduce(_product, extents, ValueMap.constant(1)))
    end = begin
    for extent, stride in zip(extents, strides, strict=True):
        end = end.plus(extent, stride)
    return begin, end


def _product(lhs: ValueMap, rhs: ValueMap) -> ValueMap:
    space = Space(lhs.operands)
    (left,), (right,) = space.lift(lhs), space.lift(rhs)
    return ValueMap.make([times(left, right)], space.values)


def _is_at_most(lhs: ValueMap, rhs: ValueMap) -> bool:
    """Whether `lhs` is at most `rhs`: their difference is a sum of products of extents."""
    difference = rhs.plus(lhs, -1)
    form = linear_form(difference.exprs[0])
    return form.constant >= 0 and all(
        coefficient >= 0 and all(_is_extent(difference.operands, factor) for factor in factors_of(atom))
        for atom, coefficient in form.terms
    )


def _is_extent(operands: Sequence[SSAValue], factor: object) -> bool:
    """Whether a factor is the size of a name or an extent of a buffer, and therefore nonnegative."""
    if not isinstance(factor, AffineDimExpr):
        return False
    value = operands[factor.position]
    if isinstance(value, BlockArgument) and _is_size_of_name(value):
        return True
    # The first operands of a view are the buffer and the offset; its sizes follow.
    return any(
        isinstance(use.operation, memref.AllocOp)
        or (isinstance(use.operation, memref.ViewOp | SubviewOp) and use.index >= 2)
        for use in islice(value.uses, MAX_SEARCHED)
    )


def _is_size_of_name(argument: BlockArgument) -> bool:
    function = argument.block.parent_op()
    return isinstance(function, func.FuncOp) and DIM in argument_attrs(function)[argument.index]
