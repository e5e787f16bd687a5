"""Buffers of the graph function: allocated with the extents of what they hold, copied by kernels, handed on.

A buffer that is allocated in a block belongs to that block, as does what a branch, a loop or a call in it gives. A
block may hand what belongs to it to who is around it, once; `loop-plan-memory` frees what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from math import prod

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.extent_subjects import extent_subjects
from xrelay.dialects.shared.attribute_names import SOURCES
from xrelay.dialects.shared.locations import sources_of, sources_or_place
from xrelay.dialects.shared.types import dims_in
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.index_algebra.dims import Dim, DimExpr
from xrelay.index_algebra.requirement import Requirement
from xrelay.lowering.topi_to_loop.function_lowering import FunctionLowering, is_container, memref_of
from xrelay.lowering.topi_to_loop.graph_sizes import GraphSizes, assertion_of

CopyKernel = Callable[[MemRefType, MemRefType | None], func.FuncOp]
"""The kernel that fills a buffer of a type with the first elements of one of another type, or of the same."""

ALIASES = (memref.CastOp, memref.ReinterpretCastOp)
"""The ops by which the lowering gives a buffer another type."""


class BufferLowering(FunctionLowering):
    """Allocates, copies and hands on the buffers of a graph function."""

    def __init__(self, function: func.FuncOp, copy_kernel: CopyKernel):
        """Prepare the rewriting of `function`; `copy_kernel` gives the kernels that copy buffers."""
        super().__init__(function)
        self._copy_kernel = copy_kernel
        self._sizes, self._outermost = GraphSizes(self._new, extent_subjects(function)), self._new
        self._dims: dict[SSAValue, Sequence[DimExpr]] = {}
        """The open extents of each buffer."""

    # --- allocations and copies --------------------------------------------------------------------------------------

    def copy(self, value: SSAValue, output: SSAValue, place: Operation) -> None:
        """Adds a copy of the buffer of `value` to `output`."""
        self.copy_buffer(self._buffers[value], output, place)

    def copy_buffer(self, source: SSAValue, target: SSAValue, place: Operation) -> None:
        """Adds the call of a kernel that copies one buffer to another."""
        dims = self._dims.get(source if source.type == target.type else target, ())
        self._call_copy(source, target, self._sizes.extents(dims, place), place)

    def buffer_like(self, buffer: SSAValue, place: Operation) -> SSAValue:
        """Adds the allocation of a buffer of the type and the extents of another."""
        dims = self._dims.get(buffer, ())
        alloc = memref.AllocOp(self._sizes.extents(dims, place), [], buffer.type)
        return self._noted(self._add(alloc, place).results[0], dims)

    def _call_copy(self, source: SSAValue, target: SSAValue, extents: Iterable[SSAValue], place: Operation) -> None:
        """Adds a copy of `source`, as a buffer of the type of `target`, which has the open extents `extents`."""
        type = SSAValue.get(target, type=MemRefType).type
        operands = [self._cast(source, type, place), target, *extents]
        self._add(func.CallOp(self._copy_kernel(type, None).sym_name.data, operands, []), place)

    def _new_buffer(self, type: Attribute, op: Operation) -> memref.AllocOp:
        """The allocation of a buffer for a tensor of a type, wanted at `op`."""
        dims = list(dims_in(type))
        alloc = memref.AllocOp(self._sizes.extents(dims, op), [], memref_of(type, op))
        self._noted(alloc.memref, dims)
        return alloc

    def _alloc(self, value: SSAValue, op: Operation) -> memref.AllocOp:
        return self._new_buffer(value.type, op)

    def _allocate(self, type: Attribute, op: Operation, name: str | None) -> SSAValue:
        result = self._add(self._new_buffer(type, op), op).results[0]
        result.name_hint = name
        return result

    def _noted(self, buffer: SSAValue, dims: Sequence[DimExpr]) -> SSAValue:
        if dims:
            self._dims[buffer] = dims
        return buffer

    # --- the same memory under another type --------------------------------------------------------------------------

    def _cast(self, buffer: SSAValue, type: MemRefType, place: Operation) -> SSAValue:
        """`buffer` as one of `type`, whose extents are open or the same."""
        return buffer if buffer.type == type else self._add(memref.CastOp.get(buffer, type), place).results[0]

    def _beginning(
        self, buffer: SSAValue, sizes: Sequence[Dim | SSAValue], type: MemRefType, place: Operation
    ) -> SSAValue:
        """The beginning of the memory of a buffer, as one of `type` with the extents `sizes`.

        Only the first of these may be a value.
        """
        rest = [size for size in sizes[1:] if not isinstance(size, SSAValue)]
        strides = self._sizes.sizes([prod(rest[axis:]) for axis in range(len(sizes))], place)
        extents = [size if isinstance(size, SSAValue) else self._sizes.sizes([size], place)[0] for size in sizes]
        cast = memref.ReinterpretCastOp.from_dynamic(buffer, [0], extents, strides, type)
        return self._add(cast, place).results[0]

    # --- whose a buffer is -------------------------------------------------------------------------------------------

    def _hand_over(self, values: Sequence[SSAValue], types: Sequence[Attribute], place: Operation) -> list[SSAValue]:
        """The buffers of `values` as buffers of `types`, for who is around the block: others' are copied.

        Lists are values, which belong to nobody.
        """
        handed: list[SSAValue] = []
        given: set[SSAValue] = set()
        for value, type in zip(values, types, strict=True):
            buffer = self._buffers[value]
            if is_container(type):
                handed.append(buffer)
                continue
            if not self._is_own(_root(buffer)) or _root(buffer) in given:
                source, buffer = buffer, self._allocate(value.type, place, value.name_hint)
                self._move(source, buffer, place)
            given.add(_root(buffer))
            handed.append(self._cast(buffer, memref_of(type, place), place))
        return handed

    def _is_own(self, buffer: SSAValue) -> bool:
        """Whether a buffer belongs to the block that code is added to."""
        owner = buffer.owner
        if isinstance(owner, Block):
            return owner is self._new and owner is not self._outermost
        return owner.parent is self._new and isinstance(owner, memref.AllocOp | scf.IfOp | scf.WhileOp | func.CallOp)

    # --- ops ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def _inside(
        self, block: Block, names: Mapping[str, SSAValue] | None = None, *, is_branch: bool = False
    ) -> Generator[Block]:
        """Adds to `block` for a while, where `names` are known as well."""
        outer, self._new = self._new, block
        self._sizes.enter(block, names, is_branch=is_branch)
        yield block
        self._sizes.leave(block)
        self._new = outer

    def _demand(self, op: Operation) -> None:
        """Asserts what `op` requires."""
        self._sizes.demand(op)

    def _assert(self, holds: SSAValue, requirement: Requirement, op: Operation) -> None:
        """Asserts that `requirement` of `op` holds, as the value tells."""
        self._add(assertion_of(holds, op.name, requirement, sources_of(op), op, self._sizes.subjects), op)

    def _assert_text(self, holds: SSAValue, text: str, op: Operation) -> None:
        """Asserts what no requirement says."""
        assertion = cf.AssertOp(holds, f"shape mismatch: {text}")
        if (sources := sources_or_place(op)) is not None:
            assertion.attributes[SOURCES] = sources
        self._add(assertion, op)

    def _move(self, source: SSAValue, target: SSAValue, op: Operation) -> None:
        """Copies one buffer to another; a number is not worth a kernel."""
        if SSAValue.get(target, type=MemRefType).type.get_num_dims() == 0:
            self._store(self._load(source, (), op), target, (), op)
        else:
            self.copy_buffer(source, target, op)

    def _constant(self, value: int, op: Operation) -> SSAValue:
        return self._add(arith.ConstantOp.from_int_and_width(value, IndexType()), op).results[0]

    def _load(self, buffer: SSAValue, indices: Sequence[SSAValue], op: Operation) -> SSAValue:
        return self._add(memref.LoadOp.get(buffer, indices), op).results[0]

    def _store(self, value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue], op: Operation) -> None:
        self._add(memref.StoreOp.get(value, buffer, indices), op)

    def _index(self, number: SSAValue, op: Operation) -> SSAValue:
        return self._add(IndexCastOp(number, IndexType()), op).results[0]


def _root(buffer: SSAValue) -> SSAValue:
    """The buffer that one of another type is the beginning of."""
    while isinstance(buffer.owner, ALIASES):
        buffer = buffer.owner.source
    return buffer
