"""The memory that a run needs in addition to its arena: bounds for dynamic buffers and kernels, in terms of names.

Kernels use heap memory for rows whose length is known only at run time, and for buffers that are too large for the
stack.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Final, NamedTuple

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.loop import LoopKind
from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.loop.signature import PLAN, dim_arguments, dim_names
from xrelay.dialects.shared.attribute_names import HEAP, LOOP_KERNEL, NEEDS, SOURCES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.levels import level_of
from xrelay.dialects.shared.locations import sources_or_location
from xrelay.dialects.shared.op_lists import all_ops, is_kind, ops_of
from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import Monomial, from_terms, terms_of
from xrelay.index_algebra.dims import MAX_EXTENT, Dim, greatest, least, product, quotient, symbol
from xrelay.passes.graph.calls import callees_first, calls_in
from xrelay.passes.infra.digraph import nodes_on_cycles
from xrelay.passes.loop.memory.buffer_size import bytes_and_factors, element_size
from xrelay.passes.loop.memory.lifetimes import LOOPS, TRANSFERRING_OPS, roots_of
from xrelay.passes.loop.nest_queries import buffers_on_stack, enclosing_loops

MAX_UNCOUNTED: Final = 16
"""The maximum number of listed items that are not counted; of further items, only the number is listed."""
MAX_BYTES: Final = 1 << 61
"""Bounds in bytes are capped at this value."""
_LIST: Final = "loop.list"
"""The prefix of the names of ops on sequences, optionals and closures."""


class MemoryNeeds(NamedTuple):
    """Upper bounds in bytes, as sums of products of names with nonnegative coefficients, and the uncounted items."""

    sizes: Mapping[str, Dim]
    """The bytes of dynamic buffers that are alive at once, of a kernel in total, and of a kernel per thread."""
    uncounted: tuple[str, ...]


def memory_needs(main: func.FuncOp, functions: Mapping[str, func.FuncOp]) -> MemoryNeeds:
    """The needs of a planned `main`; `functions` are the functions of its module, with recorded heap memory of kernels.

    A dynamic buffer counts from its allocation until it is freed. A buffer that a branch yields counts until the
    branch's result is freed; a buffer that a loop yields counts until the end, once for each copy that the loop may
    hold. Functions other than `main` count with their frames, and with kernels of known needs. Not counted are dynamic
    buffers without a bound in the names of `main`, lists, and functions that are recursive or return buffers.
    """
    graphs = {
        name: function
        for name, function in functions.items()
        if function.body.blocks and LOOP_KERNEL not in function.attributes and name != PLAN
    }
    uncounted = dict[str, None]()
    # If not all index arguments of a function are sizes of names, its extents have no bounds.
    arguments = zip(dim_arguments(main), dim_names(main), strict=False)
    bounds = ExtentBounds({value: symbol(name) for value, name in arguments})
    buffers = _DynamicBuffers(main, bounds, uncounted).most() + _frames(main, graphs, uncounted)
    kernels: tuple[Counter[Monomial], Counter[Monomial]] = (Counter(), Counter())
    for function in graphs.values():
        for call in ops_of(function, func.CallOp):
            callee = functions.get(call.callee.string_value())
            if callee is not None and LOOP_KERNEL in callee.attributes:
                for most, taken in zip(kernels, _taken_by(call, callee, bounds, uncounted), strict=True):
                    most |= taken
        if any(level_of(op) == "loop" and op.name.startswith(_LIST) for op in all_ops(function)):
            uncounted["sequences, optionals and closures"] = None
    sizes = (buffers, *map(from_terms, kernels))
    names_of_sizes = ("dynamic_buffers", "kernels", "each_thread")
    return MemoryNeeds(dict(zip(names_of_sizes, sizes, strict=True)), _shortened(list(uncounted)))


def write_needs(main: func.FuncOp, needs: MemoryNeeds) -> None:
    """Records in `main` the uncounted items, and the bounds that are constant."""
    known = {name: size for name, size in needs.sizes.items() if isinstance(size, int) and size}
    fields: dict[str, Attribute] = {name: IntegerAttr(min(size, MAX_BYTES), i64) for name, size in known.items()}
    if needs.uncounted:
        fields["uncounted"] = ArrayAttr([StringAttr(text) for text in needs.uncounted])
    if fields:
        main.attributes[NEEDS] = DictionaryAttr(fields)


def _terms(dim: Dim) -> Counter[Monomial]:
    return Counter(dict(terms_of(dim)))


# --- dynamic buffers


class _Allocation(NamedTuple):
    """The lifetime and the number of the buffers of an allocation, and the value that refers to one at its end."""

    value: SSAValue
    first: int
    last: int
    number: int = 1


class _DynamicBuffers:
    """The dynamic buffers of a graph function."""

    def __init__(self, main: func.FuncOp, bounds: ExtentBounds, uncounted: dict[str, None]):
        """Items that are not counted are added to `uncounted`."""
        self._ops, self._bounds, self._uncounted = all_ops(main), bounds, uncounted
        self._steps = {op: step for step, op in enumerate(self._ops)}
        self._freed: dict[object, int] = {}
        self._givers: dict[object, tuple[Operation, int]] = {}
        ends = [op for op in self._ops if is_kind(type(op), (memref.DeallocOp, *TRANSFERRING_OPS)) and op.operands]
        roots = roots_of(main.body.block) if ends else {}
        for op in ends:
            if isinstance(op, memref.DeallocOp):
                self._freed |= dict.fromkeys(roots.get(op.memref, ()), self._steps[op])
                continue
            for number, operand in enumerate(op.operands):
                for root in roots.get(operand, ()):
                    self._givers.setdefault(root, (op, number))

    def most(self) -> Dim:
        """A bound of the bytes that are alive at a time."""
        sizes: defaultdict[SSAValue, Counter[Monomial]] = defaultdict(Counter)
        holds: dict[SSAValue, _Allocation] = {}
        for op in (op for op in self._ops if isinstance(op, memref.AllocOp)):
            if (size := _buffer_bytes(op, self._bounds)) is None:
                self._uncounted[f"a buffer of {op.memref.type}{_describe_sources(op)}"] = None
                continue
            hold = self._hold(op)
            sizes[hold.value] |= _terms(size * hold.number)
            known = holds.setdefault(hold.value, hold)
            holds[hold.value] = _Allocation(hold.value, min(known.first, hold.first), max(known.last, hold.last))
        changes: defaultdict[int, list[tuple[int, Counter[Monomial]]]] = defaultdict(list)
        for value, hold in holds.items():
            changes[hold.first].append((1, sizes[value]))
            changes[hold.last + 1].append((-1, sizes[value]))
        return _highest(changes)

    def _hold(self, alloc: memref.AllocOp) -> _Allocation:
        value, first, end = alloc.memref, self._steps[alloc], len(self._ops)
        while value in self._givers:
            giver, number = self._givers[value]
            around = giver.parent_op()
            if not isinstance(giver, scf.YieldOp) or not isinstance(around, scf.IfOp):
                loops = _loops_around(alloc)
                first = min([first, *(self._steps[loop] for loop in loops)])
                carried = sum(isinstance(operand.type, MemRefType) for loop in loops for operand in loop.operands)
                return _Allocation(value, first, end, 1 + carried)
            value = around.results[number]
        return _Allocation(value, first, self._freed.get(value, end))


def _highest(changes: Mapping[int, Sequence[tuple[int, Counter[Monomial]]]]) -> Dim:
    """The maximum of sums that change at steps."""
    now, most = Counter[Monomial](), Counter[Monomial]()
    for step in sorted(changes):
        touched = set[Monomial]()
        for sign, terms in changes[step]:
            touched |= terms.keys()
            for monomial, factor in terms.items():
                now[monomial] += sign * factor
        for monomial in touched:
            most[monomial] = max(most[monomial], now[monomial])
    return from_terms(most)


def _buffer_bytes(op: memref.AllocOp, bounds: ExtentBounds) -> Dim | None:
    """A bound of the bytes of a dynamic buffer, or `None`."""
    type, extents = op.memref.type, [bounds.of(size) for size in op.dynamic_sizes]
    known, size = [extent for extent in extents if extent is not None], element_size(type.element_type)
    if size is None or len(known) < len(extents):
        return None
    bytes_ = product(known) * (size * prod(extent for extent in type.get_shape() if extent != DYNAMIC_INDEX))
    return with_header(bytes_) if isinstance(bytes_, int) else bytes_ + (2 * HEADER - 1)


def _loops_around(op: Operation) -> list[Operation]:
    found: list[Operation] = []
    around = op.parent_op()
    while around is not None:
        if isinstance(around, LOOPS):
            found.append(around)
        around = around.parent_op()
    return found


def _describe_sources(op: Operation) -> str:
    """The sources of a buffer or kernel, in parentheses."""
    sources = op.attributes.get(SOURCES, sources_or_location(op))
    return f" ({', '.join(each.data for each in sources)})" if is_attribute(sources, ArrayAttr[StringAttr]) else ""


# --- kernels and functions


def _taken_by(
    call: func.CallOp, kernel: func.FuncOp, bounds: ExtentBounds, uncounted: dict[str, None]
) -> tuple[Counter[Monomial], Counter[Monomial]]:
    """The heap memory of a kernel at a call, in total and per thread."""
    given = [operand for operand in call.arguments if isinstance(operand.type, IndexType)]
    taken: tuple[Counter[Monomial], Counter[Monomial]] = (Counter(), Counter())
    for part in heap_of(kernel):
        extents = None if part.extents is None else [bounds.of(given[number]) for number in part.extents]
        known = [extent for extent in extents if extent is not None] if extents is not None else []
        if extents is None or len(known) < len(extents):
            uncounted[f"buffers of the kernel @{kernel.sym_name.data}{_describe_sources(kernel)}"] = None
        else:
            taken[part.each_thread].update(_terms(product(known) * part.bytes))
    return taken


def _frames(main: func.FuncOp, functions: Mapping[str, func.FuncOp], uncounted: dict[str, None]) -> int:
    """The maximum bytes of the frames of functions other than `main` along one chain of calls.

    Adds to `uncounted` the functions whose dynamic buffers have no bound, which count 0; among them are functions
    called only as closures.
    """
    calls = {name: calls_in(function, functions) for name, function in functions.items()}
    order, recursive, called = callees_first(calls), nodes_on_cycles(calls), {main.sym_name.data}
    for name in reversed(order):
        if name in called:
            called |= calls[name].keys()
    most: dict[str, int] = {}
    for name in order:
        own = 0 if functions[name] is main else _frame_of(functions[name])
        if name in recursive:
            uncounted[f"frames of @{name}, which calls itself"] = None
        elif own is None or (own and name not in called):
            uncounted[f"allocations of @{name}"] = None
        else:
            most[name] = own + max((most.get(callee, 0) for callee in calls[name]), default=0)
    return most.get(main.sym_name.data, 0)


def _frame_of(function: func.FuncOp) -> int | None:
    """The bytes of a function's dynamic buffers, which are freed at its end; `None` if they have no known bound."""
    buffers = ops_of(function, memref.AllocOp)
    sizes = [_buffer_bytes(op, ExtentBounds({})) for op in buffers if op.parent is function.body.block]
    known = [size for size in sizes if isinstance(size, int)]
    gives_buffers = any(isinstance(type, MemRefType) for type in function.function_type.outputs)
    return None if buffers and (gives_buffers or len(known) < len(buffers)) else sum(known)


def _shortened(uncounted: Sequence[str]) -> tuple[str, ...]:
    if len(uncounted) <= MAX_UNCOUNTED:
        return tuple(uncounted)
    return (*uncounted[:MAX_UNCOUNTED], f"{len(uncounted) - MAX_UNCOUNTED} more")


_SUMS = (arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MaxUIOp)
_QUOTIENTS = (arith.DivUIOp, arith.DivSIOp, arith.FloorDivSIOp)
_MINIMA = (arith.MinSIOp, arith.MinUIOp)
_TRIVIAL_BOUND = MAX_EXTENT // 2
"""Bounds from this value on are dropped, since every extent is below it."""
_SGE = 5
"""The number of the predicate `sge`."""


class ExtentBounds:
    """Finds upper bounds of nonnegative `index` values, such as extents.

    The bound of a value that an op computes from data, such as the number of nonzero elements, is asserted in the
    program.
    """

    def __init__(self, names: Mapping[SSAValue, Dim]):
        """`names` maps the values of names to dimensions."""
        self._known: dict[SSAValue, Dim | None] = dict(names)

    def of(self, value: SSAValue) -> Dim | None:
        """The bound of `value`, or `None`."""
        pending, begun = [value], set[SSAValue]()
        while pending:
            last = pending[-1]
            parts = () if last in self._known else _bounding_values(last)
            missing = [part for part in parts if part not in self._known and part not in begun]
            begun.add(last)
            if missing:
                pending += missing
                continue
            pending.pop()
            if last not in self._known:
                self._known[last] = _bound(last, [self._known.get(part) for part in parts])
        return self._known[value]


def _bounding_values(value: SSAValue) -> tuple[SSAValue, ...]:
    """The values whose bounds determine the bound of `value`."""
    if isinstance(value.owner, (*_SUMS, *_QUOTIENTS, *_MINIMA, arith.SubiOp)):
        return tuple(value.owner.operands)
    return tuple(_asserted_values(value))


def _asserted_values(value: SSAValue) -> list[SSAValue]:
    """The values that are asserted to be at least `value`."""
    compares = [use.operation for use in value.uses if use.index == 1]
    return [
        op.operands[0]
        for op in compares
        if isinstance(op, arith.CmpiOp)
        and op.predicate.value.data == _SGE
        and any(isinstance(use.operation, cf.AssertOp) for use in op.result.uses)
    ]


def _bound(value: SSAValue, parts: Sequence[Dim | None]) -> Dim | None:
    """The bound of a value, computed from the bounds of its parts."""
    op = value.owner
    known = [part for part in parts if part is not None]
    if isinstance(op, arith.ConstantOp):
        return op.value.value.data if isinstance(op.value, IntegerAttr) else None
    if isinstance(op, (*_SUMS, *_QUOTIENTS, arith.SubiOp)):
        try:
            return _combined(op, *known) if len(known) == 2 else None
        except DimensionError:
            return None  # The dimension would nest more quotients than `Dim` allows.
    limits = [part for part in known if not isinstance(part, int) or part < _TRIVIAL_BOUND]
    return reduce(least, limits) if limits else None


def _combined(op: Operation, lhs: Dim, rhs: Dim) -> Dim | None:
    match op:
        case arith.AddiOp():
            return lhs + rhs
        case arith.MuliOp():
            return lhs * rhs if all(not isinstance(each, int) or each >= 0 for each in (lhs, rhs)) else None
        case arith.SubiOp():
            return lhs - rhs if isinstance(rhs, int) else lhs
        case arith.MaxSIOp() | arith.MaxUIOp():
            return greatest(lhs, rhs)
        case _:
            return quotient(lhs, rhs) if isinstance(rhs, int) and rhs > 0 else lhs


HEADER: Final = 64
"""The bytes before a heap buffer; the sum of header and buffer is rounded up to a multiple of this number."""


class HeapPart(NamedTuple):
    """`bytes` times the values of some `index` arguments, given by number; `None` for other sizes."""

    bytes: int
    extents: tuple[int, ...] | None
    each_thread: bool


def with_header(size: int) -> int:
    """The heap memory of a buffer of `size` bytes, including its header."""
    return -(-(size + HEADER) // HEADER) * HEADER


def note_heap(kernel: func.FuncOp) -> None:
    """Records the heap memory of a kernel as an attribute.

    Buffers at its top are alive during all other ops. Buffers in the same op at its top are alive together.
    """
    stack = buffers_on_stack(kernel)
    top, most = Counter[_Kind](), Counter[_Kind]()
    for op in kernel.body.block.ops:
        if isinstance(op, memref.AllocOp):
            if op not in stack:
                top += _bytes_of(op, kernel)
            continue
        inside = Counter[_Kind]()
        for alloc in all_ops(op) if op.regions else ():
            if isinstance(alloc, memref.AllocOp) and alloc not in stack:
                inside += _bytes_of(alloc, kernel)
        most |= inside
    parts = [HeapPart(size, *kind) for kind, size in (top + most).items()]
    if parts:
        kernel.attributes[HEAP] = ArrayAttr([_attribute(part) for part in parts])


def heap_of(kernel: func.FuncOp) -> Sequence[HeapPart]:
    """The recorded heap memory of a kernel: the sum of these parts."""
    rows = kernel.attributes.get(HEAP)
    return [_part(row) for row in rows.data] if is_attribute(rows, ArrayAttr[DictionaryAttr]) else ()


_Kind = tuple[tuple[int, ...] | None, bool]


def _bytes_of(alloc: memref.AllocOp, kernel: func.FuncOp) -> Counter[_Kind]:
    """The heap memory of a buffer; a buffer of unknown size counts as 1 under the key `None`."""
    each_thread = any(loop.kind is LoopKind.PARALLEL for loop in enclosing_loops(alloc))
    if element_size(alloc.memref.type.element_type) is None:
        return Counter({(None, each_thread): 1})
    size, factors = bytes_and_factors(alloc)
    arguments = list[SSAValue](index_arguments(kernel))
    if not factors:
        return Counter({((), each_thread): with_header(size)})
    if not all(factor in arguments for factor in factors):
        return Counter({(None, each_thread): 1})
    numbers = tuple(sorted(arguments.index(factor) for factor in factors))
    return Counter({(numbers, each_thread): size, ((), each_thread): 2 * HEADER - 1})


def _attribute(part: HeapPart) -> DictionaryAttr:
    fields: dict[str, Attribute] = {"bytes": IntegerAttr(part.bytes, i64)}
    if part.extents is not None:
        fields["extents"] = DenseArrayBase.from_list(i64, part.extents)
    if part.each_thread:
        fields["each_thread"] = UnitAttr()
    return DictionaryAttr(fields)


def _part(row: DictionaryAttr) -> HeapPart:
    size, extents = row.data.get("bytes"), row.data.get("extents")
    numbers = tuple(extents.get_values()) if is_attribute(extents, DenseArrayBase[IntegerType]) else None
    return HeapPart(size.value.data if isinstance(size, IntegerAttr) else 0, numbers, "each_thread" in row.data)
