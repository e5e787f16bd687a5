"""`loop-elide-copies`: computes operands of a concatenation in its result, and reads slices in their source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop import SubviewOp, ValueMap
from xrelay.dialects.loop.extents import MAX_EXTENT, extents_of
from xrelay.dialects.loop.signature import output_arguments
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import COPIED, LOOP_KERNEL, VERSION
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.index_arith import IndexArith
from xrelay.passes.loop.memory.copy_analysis import Move, moves_of
from xrelay.passes.loop.memory.subview_kernels import CopyKernels, StridedKernels
from xrelay.passes.loop.memory.subview_lifetimes import SubviewLifetimes, name_of
from xrelay.passes.loop.nest_queries import kernels_of

LEAST_RUN: Final = 16
"""The smallest number of contiguous elements in each run of a strided part: those of a vector."""


@dataclass(frozen=True)
class LoopElideCopiesPass(XRelayPass):
    """Makes buffers parts of a whole, so that the kernels that would copy them are removed.

    Before → after, for a concatenation and for a slice:

    ```
    %a = memref.alloc() : memref<2x4xf32>            %c = memref.alloc() : memref<6x4xf32>
    func.call @k(%x, %a) : …                         %a = loop.subview %c[%c0][] : memref<6x4xf32> to memref<2x4xf32>
    %b = memref.alloc() : memref<4x4xf32>            func.call @k(%x, %a) : …
    func.call @l(%x, %b) : …                         %b = loop.subview %c[%c8][] : memref<6x4xf32> to memref<4x4xf32>
    %c = memref.alloc() : memref<6x4xf32>       →    func.call @l(%x, %b) : …
    func.call @concatenate(%a, %b, %c) : …           %d = loop.subview %c[%c8][] : memref<6x4xf32> to memref<1x4xf32>
    %d = memref.alloc() : memref<1x4xf32>            func.call @m(%d, %y) : …
    func.call @slice(%c, %d) : …
    func.call @m(%d, %y) : …
    ```

    Kernels that only copy are recognized by their accesses (`copy_analysis.py`). Offsets may be computed from extents
    known only at run time. A subview is contiguous if the axes before the concatenated axis have extent 1. Otherwise
    its type has strides, and the kernels that use it are copied with this type for their argument:

    ```
    %a = loop.subview %c[%c0][] : memref<8x48xf32> to memref<8x16xf32, strided<[48, 1]>>
    func.call @k_apart(%x, %a) : …
    ```

    A part that cannot be placed is copied by a separate kernel; the attribute `loop.copied` of the call states the
    reason.

    Not placed are strided parts with runs of less than 16 elements, or with users other than private kernels without
    versions; parts that are arguments, constants, outputs or parts of another whole, and parts that are transferred or
    written again later; parts of a whole that is used before, or whose extents are computed too late; slices whose
    source changes during their lifetime; and parts that would raise the peak memory of the function by more than an
    eighth, such as a small part that is computed long before the others. Kernels that compute anything, or have
    versions, are left unchanged.
    """

    name = "loop-elide-copies"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the graph functions of the module in place."""
        moves = _moves_of_kernels(op)
        if not moves:
            return
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, func.FuncOp)}
        taken, removed = set(functions), set[str]()
        copies, strided = CopyKernels(taken), StridedKernels(functions, taken)
        for function in list(functions.values()):
            if LOOP_KERNEL not in function.attributes and len(function.body.blocks) == 1:
                removed |= _Placement(function, functions, copies, strided).run(moves)
        removed |= strided.given_up
        op.body.block.add_ops(copies.made)
        _erase_uncalled(op, [kernel for name, kernel in functions.items() if name in removed])


def _moves_of_kernels(module: ModuleOp) -> dict[str, Sequence[Move]]:
    """The moves of the kernels that only copy."""
    versions = versions_by_kernel(kernels_of(module))
    alone = [kernel for kernel in kernels_of(module) if VERSION not in kernel.attributes]
    found = {kernel.sym_name.data: moves_of(kernel) for kernel in alone if kernel.sym_name.data not in versions}
    return {name: moves for name, moves in found.items() if moves}


def _erase_uncalled(module: ModuleOp, kernels: Iterable[func.FuncOp]) -> None:
    """Erases the private `kernels` that are no longer called."""
    called = {each.callee.string_value() for each in ops_of(module, func.CallOp)}
    for kernel in kernels:
        if kernel.sym_name.data not in called and kernel.sym_visibility == StringAttr("private"):
            Rewriter.erase_op(kernel)


class _Placement:
    """Places parts in one graph function."""

    def __init__(
        self,
        function: func.FuncOp,
        functions: Mapping[str, func.FuncOp],
        copies: CopyKernels,
        strided: StridedKernels,
    ):
        self._function, self._functions = function, functions
        self._copies, self._strided = copies, strided
        self._outputs = set[SSAValue](output_arguments(function))
        self._lives = SubviewLifetimes(function, functions)

    def run(self, moves: Mapping[str, Sequence[Move]]) -> set[str]:
        """Visits the calls of kernels that only copy; returns the names of kernels with removed calls."""
        removed: set[str] = set()
        for call in ops_of(self._function, func.CallOp):
            name = call.callee.string_value()
            if name not in moves or not all(map(_is_plain, call.arguments)):
                continue
            dear = self._unaffordable(call, moves[name])
            reasons = [self._place(call, move, dear) for move in moves[name]]
            stated = [reason for reason in reasons if reason is not None]
            if len(stated) == len(reasons):
                call.attributes[COPIED] = StringAttr("; ".join(dict.fromkeys(stated)))
                continue
            for move, reason in zip(moves[name], reasons, strict=True):
                if reason is not None:
                    self._copy(call, move, reason)
            Rewriter.erase_op(call)
            removed.add(name)
        return removed

    def _unaffordable(self, call: func.CallOp, moves: Sequence[Move]) -> set[SSAValue]:
        """The sources of moves that could be stored in their target but would raise the peak memory."""
        found: set[SSAValue] = set()
        for target in dict.fromkeys(move.target for move in moves):
            fit = [each for each in moves if each.target == target and each.takes_source]
            parts = [call.arguments[each.source] for each in fit if self._why_not_stored(call, each) is None]
            if parts:
                found |= set(parts) - self._lives.affordable(parts, call.arguments[target])
        return found

    def _place(self, call: func.CallOp, move: Move, dear: Collection[SSAValue]) -> str | None:
        """Stores the source of a move in the target, or reads the target in the source; returns why neither works.

        The buffers `dear` would raise the peak memory if they were stored in their target.
        """
        reason = self._store_in_part(call, move, dear) if move.takes_source else None
        if move.takes_source and (reason is None or not move.fills_target):
            return reason
        other = self._read_as_part(call, move)
        return other if reason is None or other is None else reason

    def _store_in_part(self, call: func.CallOp, move: Move, dear: Collection[SSAValue]) -> str | None:
        """Makes the source of a move a part of its target; returns the reason if that is not possible."""
        part, whole = call.arguments[move.source], call.arguments[move.target]
        reason, alloc = self._why_not_stored(call, move), part.owner
        if reason is None and part in dear:
            reason = f"{name_of(whole)} would be needed as soon as {name_of(part)}, which takes more memory"
        if reason is not None or not isinstance(alloc, memref.AllocOp):
            return reason
        self._lives.move_before(whole, alloc)
        type = _at_strides(alloc.memref.type, move)
        ops, new = _part(whole, self._target_offset(call, move), alloc.dynamic_sizes, type)
        self._lives.store_in(part, whole, new, [*ops, alloc.next_op or call][0])
        _replace(alloc, ops, new, whole)
        self._strided.let_take(new, call)
        return None

    def _why_not_stored(self, call: func.CallOp, move: Move) -> str | None:
        """The reason why the source of a move cannot be stored in its target, or `None`."""
        part, whole = call.arguments[move.source], call.arguments[move.target]
        reason = _unlike(part, whole) or self._fixed(part) or self._why_not_apart(call, part, move)
        if reason is None and not isinstance(whole.owner, memref.AllocOp) and whole not in self._outputs:
            reason = f"{name_of(whole)} is not allocated here"
        reason = reason or self._lives.why_not_stored(call, part, whole)
        if reason is not None or isinstance(part.owner, Block):
            return reason
        values = (*self._target_offset(call, move).operands, *_open_extents(whole))
        if all(self._lives.is_before(value, part.owner) for value in values):
            return None
        return f"the extents of {name_of(whole)} are not known where {name_of(part)} is made"

    def _target_offset(self, call: func.CallOp, move: Move) -> ValueMap:
        """The linear index of the first element of the part in the target of a move."""
        return ValueMap.constant(0).plus(self._shift(call, move), -1).simplified()

    def _read_as_part(self, call: func.CallOp, move: Move) -> str | None:
        """Makes the target of a move a part of its source; returns the reason if that is not possible."""
        whole, part = call.arguments[move.source], call.arguments[move.target]
        reason = _unlike(part, whole) or self._fixed(part) or self._why_not_apart(call, part, move)
        reason = reason or self._lives.why_not_read(call, part, whole)
        alloc = part.owner
        if reason is not None or not isinstance(alloc, memref.AllocOp):
            return reason
        type = _at_strides(alloc.memref.type, move)
        ops, new = _part(whole, self._shift(call, move).simplified(), alloc.dynamic_sizes, type)
        self._lives.read_from(call, part, whole, new)
        alloc.detach()
        Rewriter.insert_op(alloc, InsertPoint.before(call))
        _replace(alloc, ops, new, whole)
        self._strided.let_take(new, call)
        return None

    def _why_not_apart(self, call: func.CallOp, part: SSAValue, move: Move) -> str | None:
        """The reason why a part cannot have the strides of a move, or `None`."""
        if move.strides is None:
            return None
        run = _run(SSAValue.get(part, type=MemRefType).type.get_shape(), move.strides)
        if run < LEAST_RUN:
            return f"{name_of(part)} would lie in runs of {run} elements, {LEAST_RUN} are the least that pay"
        if not self._strided.can_take(part, call):
            return f"not all that use {name_of(part)} are kernels of their own for it"
        return None

    def _fixed(self, part: SSAValue) -> str | None:
        """The reason why a buffer cannot be replaced by a part, or `None`."""
        if part in self._outputs:
            return f"{name_of(part)} is an output"
        if isinstance(part.owner, Block):
            return f"{name_of(part)} is an argument"
        if isinstance(part.owner, SubviewOp):
            return f"{name_of(part)} lies in {name_of(part.owner.source)} already"
        return None if isinstance(part.owner, memref.AllocOp) else f"{name_of(part)} is not allocated here"

    def _shift(self, call: func.CallOp, move: Move) -> ValueMap:
        """The shift of a move, in values of the caller."""
        return move.shift.substitute(
            {value: _number_or_value(_argument_for(call, value)) for value in move.shift.operands}
        )

    def _copy(self, call: func.CallOp, move: Move, reason: str) -> None:
        """Adds a call that copies the elements of one move of a call, if it has any."""
        source, target = call.arguments[move.source], call.arguments[move.target]
        kernel = self._functions[call.callee.string_value()]
        own = kernel.body.block.args[move.source if move.takes_source else move.target]
        sizes = [_argument_for(call, extent) for extent in extents_of(own) if isinstance(extent, SSAValue)]
        type = SSAValue.get(source if move.takes_source else target, type=MemRefType).type
        if 0 in type.get_shape():
            return
        if move.takes_source:
            ops, target = _part(target, self._target_offset(call, move), sizes, _at_strides(type, move))
        else:
            ops, source = _part(source, self._shift(call, move).simplified(), sizes, _at_strides(type, move))
        old, new = (SSAValue.get(each, type=MemRefType).type for each in (source, target))
        copy = func.CallOp(self._copies.symbol(old, new, kernel), [source, target, *sizes], [])
        copy.attributes[COPIED] = StringAttr(reason)
        for op in (*ops, copy):
            op.location = call.location
        Rewriter.insert_op([*ops, copy], InsertPoint.before(call))


def _argument_for(call: func.CallOp, argument: SSAValue) -> SSAValue:
    """The operand of a call for `argument` of its callee."""
    assert isinstance(argument, BlockArgument)
    return call.arguments[argument.index]


def _part(
    whole: SSAValue, offset: ValueMap, sizes: Sequence[SSAValue], type: MemRefType
) -> tuple[list[Operation], SSAValue]:
    """Builds the part of `whole` from `offset` on with this type and these extents; returns the ops and the part.

    The part is `whole` itself if type and extents are equal.
    """
    if whole.type == type and not (sizes and list(sizes) != list(_open_extents(whole))):
        return [], whole
    ops: list[Operation] = []

    def constant(value: int) -> SSAValue:
        ops.append(arith.ConstantOp(IntegerAttr(value, IndexType())))
        return ops[-1].results[0]

    place = IndexArith(ops.append, constant, lambda _: (0, MAX_EXTENT)).value(offset)
    part = SubviewOp(whole, place, sizes, type)
    return [*ops, part], part.result


def _at_strides(type: MemRefType, move: Move) -> MemRefType:
    """The type of the part that a move copies."""
    if move.strides is None:
        return type
    return MemRefType(type.element_type, type.get_shape(), StridedLayoutAttr(move.strides), type.memory_space)


def _run(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The number of contiguous elements at the end of a shape."""
    run = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent == DYNAMIC_INDEX or (extent > 1 and stride != run):
            break
        run *= extent
    return run


def _open_extents(buffer: SSAValue) -> Sequence[SSAValue]:
    """The dynamic extents of a buffer, if it is an allocation."""
    return buffer.owner.dynamic_sizes if isinstance(buffer.owner, memref.AllocOp) else ()


def _replace(alloc: memref.AllocOp, ops: Sequence[Operation], new: SSAValue, whole: SSAValue) -> None:
    """Replaces an allocation by `new`, the result of `ops`."""
    if new is not whole:
        new.name_hint = alloc.memref.name_hint
    for op in ops:
        op.location = alloc.location
    Rewriter.insert_op(ops, InsertPoint.before(alloc))
    Rewriter.replace_op(alloc, [], [new])


def _number_or_value(value: SSAValue) -> ValueMap:
    """An extent as a number if it is constant, else as a value."""
    owner = value.owner
    number = owner.value if isinstance(owner, arith.ConstantOp) else None
    return ValueMap.constant(number.value.data) if isinstance(number, IntegerAttr) else ValueMap.identity([value])


def _is_plain(value: SSAValue) -> bool:
    """Whether a value is no buffer, or a contiguous buffer."""
    return not isinstance(value.type, MemRefType) or isinstance(value.type.layout, NoneAttr)


def _unlike(part: SSAValue, whole: SSAValue) -> str | None:
    """The reason why the types do not allow `part` to be a part of `whole`, or `None`."""
    types = [SSAValue.get(each, type=MemRefType).type for each in (part, whole)]
    alike = len({(type.element_type, type.memory_space) for type in types}) == 1
    return None if alike else f"{types[0]} is no part of {types[1]}"
