"""The memory that a run needs in addition to its arena: bounds for kernels, in terms of names.

Kernels use heap memory for rows whose length is known only at run time, and for buffers that are too large for the
stack. Dynamic buffers are not counted: the bounds of their extents are seldom near their sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final, NamedTuple

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
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
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import Monomial, from_terms, terms_of
from xrelay.index_algebra.dims import MAX_EXTENT, Dim, greatest, least, product, quotient, symbol
from xrelay.passes.loop.memory.buffer_size import bytes_and_factors, element_size
from xrelay.passes.loop.nest_queries import buffers_on_stack, enclosing_loops

MAX_UNCOUNTED: Final = 16
"""The maximum number of listed items that are not counted; of further items, only the number is listed."""
MOST: Final = 1 << 61
"""Bounds in bytes are capped at this value."""
_LIST: Final = "loop.list"
"""The prefix of the names of ops on sequences, optionals and closures."""


class MemoryNeeds(NamedTuple):
    """Upper bounds in bytes, as sums of products of names with nonnegative coefficients, and the uncounted items."""

    sizes: Mapping[str, Dim]
    """The bytes of a kernel in total, and of a kernel per thread."""
    uncounted: tuple[str, ...]


def memory_needs(main: func.FuncOp, functions: Mapping[str, func.FuncOp]) -> MemoryNeeds:
    """The needs of a planned `main`; `functions` are the functions of its module, with recorded heap memory of kernels.

    Not counted are dynamic buffers, lists, the allocations of other functions that are not kernels, and buffers of
    kernels without a bound in the names of `main`.
    """
    graphs = [
        function
        for name, function in functions.items()
        if function.body.blocks and LOOP_KERNEL not in function.attributes and name != PLAN
    ]
    uncounted = dict[str, None]()
    # If not all index arguments of a function are sizes of names, its extents have no bounds.
    arguments = zip(dim_arguments(main), dim_names(main), strict=False)
    bounds = ExtentBounds({value: symbol(name) for value, name in arguments})
    kernels: tuple[Counter[Monomial], Counter[Monomial]] = (Counter(), Counter())
    for function in graphs:
        for alloc in ops_of(function, memref.AllocOp):
            uncounted[_buffer(alloc) if function is main else f"allocations of @{function.sym_name.data}"] = None
        for call in ops_of(function, func.CallOp):
            callee = functions.get(call.callee.string_value())
            if callee is not None and LOOP_KERNEL in callee.attributes:
                for most, taken in zip(kernels, _taken_by(call, callee, bounds, uncounted), strict=True):
                    most |= taken
        if any(level_of(op) == "loop" and op.name.startswith(_LIST) for op in all_ops(function)):
            uncounted["sequences, optionals and closures"] = None
    total, each_thread = map(from_terms, kernels)
    return MemoryNeeds({"kernels": total, "each_thread": each_thread}, _shortened(list(uncounted)))


def write_needs(main: func.FuncOp, needs: MemoryNeeds) -> None:
    """Records in `main` the uncounted items, and the bounds that are constant."""
    known = {name: size for name, size in needs.sizes.items() if isinstance(size, int) and size}
    fields: dict[str, Attribute] = {name: IntegerAttr(min(size, MOST), i64) for name, size in known.items()}
    if needs.uncounted:
        fields["uncounted"] = ArrayAttr([StringAttr(text) for text in needs.uncounted])
    if fields:
        main.attributes[NEEDS] = DictionaryAttr(fields)


def _terms(dim: Dim) -> Counter[Monomial]:
    return Counter(dict(terms_of(dim)))


def _buffer(op: memref.AllocOp) -> str:
    """The description of a dynamic buffer."""
    return f"a buffer of {op.memref.type}{_from(op)}"


def _from(op: Operation) -> str:
    """The sources of a buffer or kernel, in parentheses."""
    sources = op.attributes.get(SOURCES, sources_or_location(op))
    return f" ({', '.join(each.data for each in sources)})" if is_attribute(sources, ArrayAttr[StringAttr]) else ""


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
            uncounted[f"buffers of the kernel @{kernel.sym_name.data}{_from(kernel)}"] = None
        else:
            taken[part.each_thread].update(_terms(product(known) * part.bytes))
    return taken


def _shortened(uncounted: Sequence[str]) -> tuple[str, ...]:
    if len(uncounted) <= MAX_UNCOUNTED:
        return tuple(uncounted)
    return (*uncounted[:MAX_UNCOUNTED], f"{len(uncounted) - MAX_UNCOUNTED} more")


_SUMS = (arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MaxUIOp)
_QUOTIENTS = (arith.DivUIOp, arith.DivSIOp, arith.FloorDivSIOp)
_MINIMA = (arith.MinSIOp, arith.MinUIOp)
_EVERY = MAX_EXTENT // 2
"""Bounds from this value on are dropped, since every extent is below it."""


class ExtentBounds:
    """Finds upper bounds of nonnegative `index` values, such as extents."""

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
    return ()


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
    limits = [part for part in known if not isinstance(part, int) or part < _EVERY]
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
