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
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import MAX_EXTENT, extents_of
from xrelay.dialects.loop.signature import output_arguments
from xrelay.dialects.loop.versions import versions_by_kernel
from xrelay.dialects.shared.attribute_names import COPIED, LOOP_KERNEL, VERSION
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.index_arith import IndexArith
from xrelay.passes.loop.memory.copy_analysis import SliceCopy, slice_copies_of
from xrelay.passes.loop.memory.subview_kernels import CopyKernels, StridedKernels
from xrelay.passes.loop.memory.subview_lifetimes import SubviewLifetimes, name_of
from xrelay.passes.loop.nest_queries import kernels_of

LEAST_RUN: Final = 16
"""The smallest number of consecutive elements of a strided subview: those of a vector."""


@dataclass(frozen=True)
class LoopElideCopiesPass(XRelayPass):
    """Makes buffers subviews of others, so that the kernels that would copy them are removed.

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

    A buffer that cannot be a subview is copied by a separate kernel; the attribute `loop.copied` of the call states the
    reason.

    A buffer does not become a subview if it is an argument, a constant, an output or a subview of another buffer, or is
    transferred or written again later; if it would have strides and less than 16 consecutive elements, or users other
    than private kernels without versions; if the whole buffer is used before, has extents that are computed later, or
    changes during the lifetime of the slice; or if the peak memory of the function would increase by more than an
    eighth, for example if a small buffer is computed long before the others. Kernels that do more than copy, or have
    versions, are left unchanged.
    """

    name = "loop-elide-copies"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the graph functions of the module in place."""
        copies = _copies_of_kernels(op)
        if not copies:
            return
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, func.FuncOp)}
        taken, removed = set(functions), set[str]()
        kernels, strided = CopyKernels(taken), StridedKernels(functions, taken)
        for function in list(functions.values()):
            if LOOP_KERNEL not in function.attributes and len(function.body.blocks) == 1:
                removed |= _Elision(function, functions, kernels, strided).run(copies)
        removed |= strided.retargeted
        op.body.block.add_ops(kernels.made)
        _erase_uncalled(op, [kernel for name, kernel in functions.items() if name in removed])


def _copies_of_kernels(module: ModuleOp) -> dict[str, Sequence[SliceCopy]]:
    """The slice copies of the kernels that only copy."""
    versions = versions_by_kernel(kernels_of(module))
    alone = [kernel for kernel in kernels_of(module) if VERSION not in kernel.attributes]
    found = {kernel.sym_name.data: slice_copies_of(kernel) for kernel in alone if kernel.sym_name.data not in versions}
    return {name: copies for name, copies in found.items() if copies}


def _erase_uncalled(module: ModuleOp, kernels: Iterable[func.FuncOp]) -> None:
    """Erases the private `kernels` that are no longer called."""
    called = {each.callee.string_value() for each in ops_of(module, func.CallOp)}
    for kernel in kernels:
        if kernel.sym_name.data not in called and kernel.sym_visibility == StringAttr("private"):
            Rewriter.erase_op(kernel)


@dataclass(frozen=True)
class _Candidate:
    """A slice copy at a call: either its source becomes a subview of the target, or its target one of the source."""

    call: func.CallOp
    copy: SliceCopy
    is_stored: bool

    @property
    def number(self) -> int:
        """The number of the operand `view`."""
        return self.copy.source if self.is_stored else self.copy.target

    @property
    def view(self) -> SSAValue:
        """The buffer that becomes a subview."""
        return self.call.arguments[self.number]

    @property
    def whole(self) -> SSAValue:
        """The buffer that has the elements of the subview."""
        return self.call.arguments[self.copy.target if self.is_stored else self.copy.source]

    @property
    def type(self) -> MemRefType:
        """The type of the subview."""
        type = memref_type(self.view)
        if self.copy.strides is None:
            return type
        return MemRefType(type.element_type, type.get_shape(), StridedLayoutAttr(self.copy.strides), type.memory_space)

    @property
    def offset(self) -> ValueMap:
        """The linear index of the first element of the subview, in values of the caller."""
        arguments = {value: _number_or_value(_argument_for(self.call, value)) for value in self.copy.shift.operands}
        shift = self.copy.shift.substitute(arguments)
        return (ValueMap.constant(0).plus(shift, -1) if self.is_stored else shift).simplified()


class _Elision:
    """Elides copies in one graph function."""

    def __init__(
        self,
        function: func.FuncOp,
        functions: Mapping[str, func.FuncOp],
        kernels: CopyKernels,
        strided: StridedKernels,
    ):
        self._function, self._functions = function, functions
        self._kernels, self._strided = kernels, strided
        self._outputs = set[SSAValue](output_arguments(function))
        self._lives = SubviewLifetimes(function, functions)

    def run(self, copies: Mapping[str, Sequence[SliceCopy]]) -> set[str]:
        """Visits the calls of kernels that only copy; returns the names of kernels with removed calls."""
        removed: set[str] = set()
        for call in ops_of(self._function, func.CallOp):
            name = call.callee.string_value()
            if name not in copies or not all(map(_is_plain, call.arguments)):
                continue
            expensive = self._expensive(call, copies[name])
            reasons = [self._elide(call, copy, expensive, copies) for copy in copies[name]]
            stated = [reason for reason in reasons if reason is not None]
            if len(stated) == len(reasons):
                call.attributes[COPIED] = StringAttr("; ".join(dict.fromkeys(stated)))
                continue
            for copy, reason in zip(copies[name], reasons, strict=True):
                if reason is not None:
                    self._keep(_Candidate(call, copy, copy.takes_source), reason)
            Rewriter.erase_op(call)
            removed.add(name)
        return removed

    def _expensive(self, call: func.CallOp, copies: Sequence[SliceCopy]) -> set[SSAValue]:
        """The sources that could be stored in their target but would raise the peak memory."""
        found: set[SSAValue] = set()
        stored = [_Candidate(call, copy, is_stored=True) for copy in copies if copy.takes_source]
        for target in dict.fromkeys(each.whole for each in stored):
            views = [each.view for each in stored if each.whole is target and self._why_not(each) is None]
            if views:
                found |= set(views) - self._lives.affordable(views, target)
        return found

    def _elide(
        self, call: func.CallOp, copy: SliceCopy, expensive: Collection[SSAValue], copies: Collection[str]
    ) -> str | None:
        """Makes the source of a copy a subview of the target, or vice versa; returns the reason if that fails.

        A reshape whose result is not copied reads its source, which then may become a subview of a third buffer.
        """
        if copy.takes_source and copy.fills_target and not _is_copied(call, call.arguments[copy.target], copies):
            read = _Candidate(call, copy, is_stored=False)
            if self._make_subview(read, ()) is None:
                return None
        reason = self._make_subview(_Candidate(call, copy, is_stored=True), expensive) if copy.takes_source else None
        if copy.takes_source and (reason is None or not copy.fills_target):
            return reason
        other = self._make_subview(_Candidate(call, copy, is_stored=False), ())
        return other if reason is None or other is None else reason

    def _make_subview(self, each: _Candidate, expensive: Collection[SSAValue]) -> str | None:
        """Makes a buffer a subview of another; returns the reason if that is not possible."""
        call, whole, alloc = each.call, each.whole, each.view.owner
        reason = self._why_not(each)
        if reason is None and each.view in expensive:
            reason = f"{name_of(whole)} would be allocated as early as {name_of(each.view)}, which takes more memory"
        if reason is not None or not isinstance(alloc, memref.AllocOp):
            return reason
        if each.is_stored:
            self._lives.move_before(whole, alloc)
        ops, new = _subview(each, alloc.dynamic_sizes)
        if each.is_stored:
            self._lives.store_in(each.view, whole, new, [*ops, alloc.next_op or call][0])
        else:
            self._lives.read_from(call, each.view, whole, new)
            alloc.detach()
            Rewriter.insert_op(alloc, InsertPoint.before(call))
        _replace(alloc, ops, new, whole)
        self._strided.redirect_calls(new, call)
        return None

    def _why_not(self, each: _Candidate) -> str | None:
        """The reason why a buffer cannot be a subview of another, or `None`."""
        call, view, whole = each.call, each.view, each.whole
        reason = _unlike(view, whole) or self._fixed(view) or self._why_not_strided(each)
        if not each.is_stored:
            return reason or self._lives.why_not_read(call, view, whole)
        if reason is None and not isinstance(whole.owner, memref.AllocOp) and whole not in self._outputs:
            reason = f"{name_of(whole)} is not allocated here"
        reason = reason or self._lives.why_not_stored(call, view, whole)
        if reason is not None or isinstance(view.owner, Block):
            return reason
        values = (*each.offset.operands, *_dynamic_extents(whole))
        if all(self._lives.is_before(value, view.owner) for value in values):
            return None
        return f"the extents of {name_of(whole)} are unknown at the allocation of {name_of(view)}"

    def _why_not_strided(self, each: _Candidate) -> str | None:
        """The reason why a subview cannot have the strides of a copy, or `None`."""
        if each.copy.strides is None:
            return None
        run = _run(each.type.get_shape(), each.copy.strides)
        if run < LEAST_RUN:
            return f"{name_of(each.view)} would have {run} consecutive elements, at least {LEAST_RUN} are required"
        if not self._strided.accepts_strides(each.view, each.call):
            return f"not all users of {name_of(each.view)} are kernels that can be specialised"
        return None

    def _fixed(self, view: SSAValue) -> str | None:
        """The reason why a buffer cannot be replaced by a subview, or `None`."""
        if view in self._outputs:
            return f"{name_of(view)} is an output"
        if isinstance(view.owner, Block):
            return f"{name_of(view)} is an argument"
        if isinstance(view.owner, SubviewOp):
            return f"{name_of(view)} is a view of {name_of(view.owner.source)} already"
        return None if isinstance(view.owner, memref.AllocOp) else f"{name_of(view)} is not allocated here"

    def _keep(self, each: _Candidate, reason: str) -> None:
        """Adds a call that copies the elements of one slice, unless it is empty."""
        call, kernel = each.call, self._functions[each.call.callee.string_value()]
        own = kernel.body.block.args[each.number]
        sizes = [_argument_for(call, extent) for extent in extents_of(own) if isinstance(extent, SSAValue)]
        if 0 in each.type.get_shape():
            return
        ops, place = _subview(each, sizes)
        buffers = (each.view, place) if each.is_stored else (place, each.view)
        old, new = (memref_type(buffer) for buffer in buffers)
        copy = func.CallOp(self._kernels.symbol(old, new, kernel), [*buffers, *sizes], [])
        copy.attributes[COPIED] = StringAttr(reason)
        for op in (*ops, copy):
            op.location = call.location
        Rewriter.insert_op([*ops, copy], InsertPoint.before(call))


def _is_copied(call: func.CallOp, target: SSAValue, copies: Collection[str]) -> bool:
    """Whether a kernel of `copies` reads the target of a call."""
    calls = [use.operation for use in target.uses if isinstance(use.operation, func.CallOp)]
    return any(each is not call and each.callee.string_value() in copies for each in calls)


def _argument_for(call: func.CallOp, argument: SSAValue) -> SSAValue:
    """The operand of a call for `argument` of its callee."""
    assert isinstance(argument, BlockArgument)
    return call.arguments[argument.index]


def _subview(each: _Candidate, sizes: Sequence[SSAValue]) -> tuple[list[Operation], SSAValue]:
    """Builds a subview with these dynamic extents; returns the ops and the value.

    The value is the whole buffer itself if type and extents are equal.
    """
    whole = each.whole
    if whole.type == each.type and not (sizes and list(sizes) != list(_dynamic_extents(whole))):
        return [], whole
    ops: list[Operation] = []

    def constant(value: int) -> SSAValue:
        ops.append(arith.ConstantOp(IntegerAttr(value, IndexType())))
        return ops[-1].results[0]

    offset = IndexArith(ops.append, constant, lambda _: (0, MAX_EXTENT)).value(each.offset)
    view = SubviewOp(whole, offset, sizes, each.type)
    return [*ops, view], view.result


def _run(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The number of contiguous elements at the end of a shape."""
    run = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent == DYNAMIC_INDEX or (extent > 1 and stride != run):
            break
        run *= extent
    return run


def _dynamic_extents(buffer: SSAValue) -> Sequence[SSAValue]:
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
    """Whether a value is a contiguous buffer, or not a buffer."""
    return not isinstance(value.type, MemRefType) or isinstance(value.type.layout, NoneAttr)


def _unlike(view: SSAValue, whole: SSAValue) -> str | None:
    """The reason why the types do not allow `view` to be a subview of `whole`, or `None`."""
    types = [memref_type(each) for each in (view, whole)]
    alike = len({(type.element_type, type.memory_space) for type in types}) == 1
    return None if alike else f"{types[0]} cannot be a view of {types[1]}"
