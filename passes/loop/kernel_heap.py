"""The heap memory of kernels: rows whose length is known only at run time, and buffers too large for the stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, IntegerType, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.loop import ForOp, LoopKind
from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.shared.attribute_names import HEAP
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.passes.loop.buffer_size import bytes_and_factors, element_size
from xrelay.passes.loop.nest_queries import buffers_on_stack

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
    """The heap memory of a buffer; a buffer of unknown size counts 1 under the kind `None`."""
    each_thread = _is_in_parallel_loop(alloc)
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


def _is_in_parallel_loop(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp) and parent.kind is LoopKind.PARALLEL:
            return True
        parent = parent.parent_op()
    return False


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
