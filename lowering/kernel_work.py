"""Counts the arithmetic operations of a kernel, and the bytes that it reads and writes at least once.

Both are texts over the kernel's extents `d0`, `d1`, …, its trailing `index` arguments, which the runtime evaluates for
the extents of each call. They describe the loop nests before they are scheduled, so they do not depend on the schedule.
A pass that schedules a kernel records them as the attribute `loop.work`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, IntegerAttr, IntegerType, MemRefType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import BlockOp, LoadOp, StoreOp
from xrelay.dialects.loop.block_op import DYNAMIC
from xrelay.dialects.loop.extents import expression_of, extents_of, index_arguments
from xrelay.dialects.shared.attribute_names import SCHEDULE_CYCLES, SCHEDULE_REASON, WORK
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.topi.shapes import bit_width
from xrelay.lowering.size_hints import expected_size
from xrelay.runtime.kernel_work import KernelWork

_ARITHMETIC: Final = ("arith.", "math.")
_MOVES: Final = frozenset({"arith.constant", "arith.select", "arith.bitcast", "arith.index_cast"})
"""Ops of these dialects that compute no number."""


def kernel_work(kernel: FuncOp) -> KernelWork:
    """Returns the work of a kernel, with the facts about its schedule; a text is empty if an extent in it is unknown.

    A kernel that is scheduled must have the attribute `loop.work`.
    """
    recorded = kernel.attributes.get(WORK)
    if is_attribute(recorded, ArrayAttr[StringAttr]):
        operations, moved = (text.data for text in recorded)
        work = KernelWork(operations, moved, typical=tuple(map(expected_size, index_arguments(kernel))))
    else:
        work = _counted_work(kernel)
    reason, cycles = kernel.attributes.get(SCHEDULE_REASON), kernel.attributes.get(SCHEDULE_CYCLES)
    return replace(
        work,
        cycles=cycles.value.data if isinstance(cycles, IntegerAttr) else 0,
        schedule=_short_schedule(reason.data) if isinstance(reason, StringAttr) else "",
    )


def record_work(kernel: FuncOp, scheduled: FuncOp) -> None:
    """Sets the attribute `loop.work` of `scheduled`, a copy of the kernel with its schedule applied."""
    work = kernel_work(kernel)
    scheduled.attributes[WORK] = ArrayAttr([StringAttr(work.operations), StringAttr(work.bytes)])


def _counted_work(kernel: FuncOp) -> KernelWork:
    """Returns the work of a kernel that is not scheduled."""
    arguments = index_arguments(kernel)
    names: dict[SSAValue, int] = {argument: position for position, argument in enumerate(arguments)}
    blocks = [(block, _product(block.extents, names)) for block in ops_of(kernel, BlockOp)]
    counts = [(sum(map(_is_arithmetic, all_ops(block))), points) for block, points in blocks]
    return KernelWork(
        operations=_sum(_times(count, points) for count, points in counts if count),
        bytes=_sum(_bytes_moved(kernel, blocks, names)),
        typical=tuple(map(expected_size, arguments)),
    )


def _short_schedule(reason: str) -> str:
    """Returns the family with its first decision; `family: parallel, …` if another one makes a loop parallel."""
    family, colon, text = reason.partition(": ")
    decisions = text.split("; ")
    others = [decision for decision in decisions if not decision.startswith("parallel over ")]
    if not colon or not others:
        return reason.split("; ")[0]
    return f"{family}: {others[0] if others == decisions else f'parallel, {others[0]}'}"


def _is_arithmetic(op: Operation) -> bool:
    """Whether an op computes a number from elements; indices and conditions do not count."""
    if not op.name.startswith(_ARITHMETIC) or op.name in _MOVES:
        return False
    (result,) = op.results
    return isinstance(result.type, AnyFloat) or (isinstance(result.type, IntegerType) and result.type.width.data > 1)


def _bytes_moved(
    kernel: FuncOp, blocks: Iterable[tuple[BlockOp, str | None]], names: Mapping[SSAValue, int]
) -> Iterable[str | None]:
    """Yields the bytes of each argument that blocks access: at most its size, and an element for each access."""
    accesses: defaultdict[SSAValue, list[str | None]] = defaultdict(list)
    for block, points in blocks:
        for op in ops_of(block, LoadOp, StoreOp):
            accesses[op.memref].append(points)
    for argument in kernel.body.block.args:
        if isinstance(argument.type, MemRefType) and argument in accesses:
            element = -(-bit_width(argument.type.element_type) // 8)
            size, touched = _product(extents_of(argument), names), _sum(accesses[argument])
            yield _times(element, _least(size, touched))


def _product(extents: Iterable[int | SSAValue | None], names: Mapping[SSAValue, int]) -> str | None:
    """Returns the product of extents; `None` if one is unknown."""
    number, factors = 1, list[str]()
    for extent in extents:
        if isinstance(extent, SSAValue):
            expression = expression_of(extent)
            if any(operand not in names for operand in expression.operands):
                return None
            dims = [AffineDimExpr(names[operand]) for operand in expression.operands]
            factors.append(str(expression.exprs[0].replace_dims_and_symbols(dims, [])))
        elif extent is None or extent == DYNAMIC:
            return None
        else:
            number *= extent
    return " * ".join([str(number), *factors])


def _times(count: int, points: str | None) -> str | None:
    if points is None or points.isdecimal():
        return None if points is None else str(count * int(points))
    return f"{count} * ({points})"


def _least(size: str | None, touched: str) -> str | None:
    if size is None or not touched:
        return size
    return str(min(int(size), int(touched))) if size.isdecimal() and touched.isdecimal() else f"min({size}, {touched})"


def _sum(terms: Iterable[str | None]) -> str:
    """Returns the sum of texts; empty if one is unknown."""
    number, others = 0, list[str]()
    for term in terms:
        if term is None:
            return ""
        if term.isdecimal():
            number += int(term)
        else:
            others.append(term)
    return " + ".join([*others, str(number)] if number or not others else others)
