"""The code of a graph function while it is lowered: its buffers, its sizes, and the block that ops are added to.

A function lowers one kind of op:

    @lowers(SequenceEraseOp)
    def lower_sequence_erase(op: SequenceEraseOp, code: HostCode) -> None: …

A buffer belongs to the block in which it is allocated; so does a buffer that a branch, a loop or a call in the block
returns. A block may pass each of its buffers to the block around it once; `loop-plan-memory` frees the others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeAlias

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import FunctionType, IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.relay.structure.extents import extent_origins
from xrelay.dialects.shared.attribute_names import SOURCES
from xrelay.dialects.shared.locations import sources_of, sources_or_location
from xrelay.dialects.shared.requirements import all_requirements
from xrelay.dialects.shared.types import dims_in
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp
from xrelay.index_algebra.dims import Dim, DimExpr, names_of
from xrelay.index_algebra.requirement import Equal, Requirement
from xrelay.lowering.host.signature import FunctionRewriting, conversion_error, is_container, memref_of
from xrelay.lowering.host.sizes import HostSizes, assertion_of
from xrelay.passes.types.dim_names import single_name

Number: TypeAlias = int | SSAValue
"""A scalar: a known number, or a value."""


@dataclass(frozen=True)
class HostModule:
    """The functions that a graph function may call."""

    kernels: Mapping[str, func.FuncOp]
    """The kernels, at the loop level."""
    graphs: Mapping[str, FunctionType]
    """The types of the graph functions, on tensors."""
    small_kernels: Mapping[str, func.FuncOp]
    """The kernels that may become scalar code, at the topi level."""
    copy_kernel: Callable[[MemRefType, MemRefType | None], func.FuncOp]
    """Returns the kernel that fills a buffer of the first type with the first elements of a buffer of the second type.
    Without a second type, both have the first."""


class HostCode:
    """The state of the lowering of one graph function."""

    def __init__(self, rewriting: FunctionRewriting, module: HostModule):
        """Starts in the block of `rewriting`, with its buffers."""
        self.module = module
        self.block = self._outermost = rewriting.block
        """The block that ops are added to."""
        self.source: Operation = rewriting.last
        """The op that is lowered. New ops have its location, and errors refer to it."""
        self.buffers = rewriting.buffers
        """The buffer or list that holds each value."""
        self.fields: dict[SSAValue, Sequence[SSAValue]] = {}
        """The buffers of the fields of the tuples that branches and loops return."""
        self.numbers: dict[SSAValue, Sequence[Number]] = {}
        """The elements of values that scalar code computes."""
        self.dims: dict[SSAValue, Sequence[DimExpr]] = {}
        """The dynamic extents of each buffer."""
        self.inlined: set[str] = set()
        """The small kernels with a call that became scalar code."""
        self.sizes = HostSizes(rewriting.block, extent_origins(rewriting.function))

    # --- ops ---------------------------------------------------------------------------------------------------------

    def lower(self, op: Operation) -> None:
        """Adds the lowering of an op by its rule. Raises `LoweringError` for an op without a rule."""
        rule = _RULES.get(type(op))
        if rule is None:
            raise conversion_error(op)
        outer, self.source = self.source, op
        rule.lower(op, self)
        self.source = outer

    def takes_destination(self, value: SSAValue) -> bool:
        """Whether the lowering of the op that computes `value` can write it into any buffer."""
        owner = value.owner
        rule = None if isinstance(owner, Block) else _RULES.get(type(owner))
        return rule is not None and rule.takes_destination(value, self)

    def add(self, op: Operation) -> Operation:
        """Adds an op with the location of the source."""
        op.location = self.source.location
        self.block.add_op(op)
        return op

    def value(self, op: Operation) -> SSAValue:
        """Adds an op, and returns its first result."""
        return self.add(op).results[0]

    @contextmanager
    def inside(
        self, block: Block, names: Mapping[str, SSAValue] | None = None, *, is_branch: bool = False
    ) -> Generator[Block]:
        """Adds ops to `block`, where `names` are known as well."""
        outer, self.block = self.block, block
        self.sizes.enter(block, names, is_branch=is_branch)
        yield block
        self.sizes.leave(block)
        self.block = outer

    def constant(self, value: int) -> SSAValue:
        """Returns a constant index."""
        return self.value(arith.ConstantOp.from_int_and_width(value, IndexType()))

    def index_of(self, size: Number) -> SSAValue:
        """Returns a size as a value."""
        return self.constant(size) if isinstance(size, int) else size

    def to_index(self, number: SSAValue) -> SSAValue:
        """Converts an integer to an index."""
        return self.value(IndexCastOp(number, IndexType()))

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Compares two integers."""
        return self.value(CmpiOp(lhs, rhs, predicate))

    def load(self, buffer: SSAValue, *indices: SSAValue) -> SSAValue:
        """Loads an element of a buffer."""
        return self.value(memref.LoadOp.get(buffer, indices))

    def store(self, value: SSAValue, buffer: SSAValue, *indices: SSAValue) -> None:
        """Stores an element of a buffer."""
        self.add(memref.StoreOp.get(value, buffer, indices))

    # --- extents and requirements ------------------------------------------------------------------------------------

    def extents(self, dims: Iterable[Dim]) -> list[SSAValue]:
        """Returns the values of extents; `LoweringError` for an extent that does not follow from the known names."""
        return self.sizes.extents(dims, self.source)

    def extents_of(self, type: Attribute) -> list[SSAValue]:
        """Returns the values of the dynamic extents in a type."""
        return self.extents(dims_in(type))

    def bind(self, op: Operation, names: Mapping[str, SSAValue], values: Mapping[Dim, SSAValue] | None = None) -> None:
        """Makes `names`, and the `values` of dimensions over them, known after `op`, the last op of its block."""
        self.sizes.bind_after(op, names, values)

    def require(self) -> None:
        """Asserts the requirements of the source, or assigns a value to a name without a value.

        A requirement that the name equals a known extent determines the value. So the type of a branch's result may
        contain a name that is bound only when the branch ends.
        """
        for requirement in (each for _, found, _ in all_requirements(self.source) for each in found):
            if isinstance(requirement, Equal):
                self._define(requirement.lhs, requirement.rhs)
                self._define(requirement.rhs, requirement.lhs)
        self.sizes.require(self.source)

    def _define(self, dim: Dim, other: Dim) -> None:
        """Defines `dim` as `other` if it is a name without a value, and `other` is known."""
        name = single_name(dim)
        if name is not None and not self.sizes.is_known(name) and all(map(self.sizes.is_known, names_of(other))):
            value = self.index_of(self.sizes.sizes([other], self.source)[0])
            last = self.block.last_op or self.add(arith.ConstantOp.from_int_and_width(0, IndexType()))
            self.bind(last, {name: value})

    def check(self, holds: SSAValue, requirement: Requirement) -> None:
        """Asserts that `holds`, which is the value of a requirement of the source."""
        source = self.source
        self.add(assertion_of(holds, source.name, requirement, sources_of(source), source, self.sizes.origins))

    def check_that(self, holds: SSAValue, text: str) -> None:
        """Asserts that `holds`; otherwise the message is `text`."""
        assertion = cf.AssertOp(holds, text)
        if (sources := sources_or_location(self.source)) is not None:
            assertion.attributes[SOURCES] = sources
        self.add(assertion)

    # --- buffers -----------------------------------------------------------------------------------------------------

    def buffer(self, result: SSAValue) -> SSAValue:
        """Returns the destination of a result: an output of the function, or a new buffer."""
        if result not in self.buffers:
            self.buffers[result] = self.allocate(result.type, result.name_hint)
        return self.buffers[result]

    def allocate(self, type: Attribute, name: str | None = None) -> SSAValue:
        """Allocates a buffer for a tensor of `type`."""
        dims = list(dims_in(type))
        buffer = self.value(memref.AllocOp(self.extents(dims), [], memref_of(type, self.source)))
        buffer.name_hint = name
        return self.with_dims(buffer, dims)

    def allocate_like(self, buffer: SSAValue) -> SSAValue:
        """Allocates a buffer with the type and the extents of another."""
        dims = self.dims.get(buffer, ())
        return self.with_dims(self.value(memref.AllocOp(self.extents(dims), [], buffer.type)), dims)

    def with_dims(self, buffer: SSAValue, dims: Sequence[DimExpr]) -> SSAValue:
        """Records the dynamic extents of a buffer; returns the buffer."""
        if dims:
            self.dims[buffer] = dims
        return buffer

    def move(self, source: SSAValue, target: SSAValue) -> None:
        """Copies a buffer to another; a single element without a kernel."""
        if memref_type(target).get_num_dims() == 0:
            self.store(self.load(source), target)
        else:
            self.copy(source, target)

    def copy(self, source: SSAValue, target: SSAValue) -> None:
        """Copies a buffer to another by a kernel."""
        dims = self.dims.get(source if source.type == target.type else target, ())
        self.copy_elements(source, target, self.extents(dims))

    def copy_elements(self, source: SSAValue, target: SSAValue, extents: Iterable[SSAValue]) -> None:
        """Copies a buffer to another, with the dynamic extents `extents`, by a kernel."""
        type = memref_type(target)
        operands = [self.cast(source, type), target, *extents]
        self.add(func.CallOp(self.module.copy_kernel(type, None).sym_name.data, operands, []))

    def cast(self, buffer: SSAValue, type: MemRefType) -> SSAValue:
        """Returns a buffer with another type, whose extents are the same or dynamic."""
        return buffer if buffer.type == type else self.value(memref.CastOp.get(buffer, type))

    def cast_to_hold(self, buffer: SSAValue, type: Attribute) -> SSAValue:
        """Casts a buffer to the buffer type of a tensor of `type`; returns a list unchanged."""
        return buffer if is_container(type) else self.cast(buffer, memref_of(type, self.source))

    def prefix(self, buffer: SSAValue, sizes: Sequence[Dim | SSAValue], type: MemRefType) -> SSAValue:
        """Returns the first elements of a buffer as a buffer of `type` with the extents `sizes`.

        Only the first of these may be a value.
        """
        rest = [size for size in sizes[1:] if not isinstance(size, SSAValue)]
        strides = self.sizes.sizes([prod(rest[axis:]) for axis in range(len(sizes))], self.source)
        extents: list[Number] = []
        for size in sizes:
            extents += [size] if isinstance(size, SSAValue) else self.sizes.sizes([size], self.source)
        return self.value(memref.ReinterpretCastOp.from_dynamic(buffer, [0], extents, strides, type))

    def pass_outward(self, values: Sequence[SSAValue], types: Sequence[Attribute]) -> list[SSAValue]:
        """Returns the buffers of `values`, as buffers of `types`, for the block around this one.

        A buffer that belongs to another block, or is passed already, is copied. Lists are values and have no owner.
        """
        passed: list[SSAValue] = []
        roots: set[SSAValue] = set()
        for value, type in zip(values, types, strict=True):
            buffer = self.buffers[value]
            if is_container(type):
                passed.append(buffer)
                continue
            if not self._owns(_root(buffer)) or _root(buffer) in roots:
                source, buffer = buffer, self.allocate(value.type, value.name_hint)
                self.move(source, buffer)
            roots.add(_root(buffer))
            passed.append(self.cast_to_hold(buffer, type))
        return passed

    def _owns(self, buffer: SSAValue) -> bool:
        """Whether a buffer belongs to the block that ops are added to."""
        owner = buffer.owner
        if isinstance(owner, Block):
            return owner is self.block and owner is not self._outermost
        return owner.parent is self.block and isinstance(owner, memref.AllocOp | scf.IfOp | scf.WhileOp | func.CallOp)


_Lowering: TypeAlias = Callable[[Any, "HostCode"], None]
_Test: TypeAlias = Callable[[SSAValue, "HostCode"], bool]


class _Rule(NamedTuple):
    """The lowering of a class of ops, and whether a result can be written into any buffer of its type."""

    lower: _Lowering
    takes_destination: _Test


_RULES: dict[type[Operation], _Rule] = {}


def _never(result: SSAValue, code: HostCode) -> bool:
    return False


def lowers(*ops: type[Operation], takes_destination: _Test = _never) -> Callable[[_Lowering], _Lowering]:
    """Registers the lowering of ops of these classes: it adds ops, and records the buffers of the results.

    `takes_destination` is whether a result can be written into any buffer of its type.
    """

    def register(lower: _Lowering) -> _Lowering:
        _RULES.update(dict.fromkeys(ops, _Rule(lower, takes_destination)))
        return lower

    return register


def _root(buffer: SSAValue) -> SSAValue:
    """Returns the buffer that another is a cast or a prefix of."""
    while isinstance(buffer.owner, memref.CastOp | memref.ReinterpretCastOp):
        buffer = buffer.owner.source
    return buffer
