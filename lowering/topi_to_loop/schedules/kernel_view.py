"""A view of a kernel for schedules: its blocks, their origins, the axes of sums of products by role, expected extents.

An estimate of a dynamic extent affects performance (the size of a tile, the use of threads), never legality.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property, partial
from math import prod
from typing import Final

from xdsl.dialects import math
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, LoadOp, RowOp, SortOp, StoreOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.block_op import DYNAMIC, Extent
from xrelay.dialects.loop.extents import expression_of, extents_of
from xrelay.dialects.relay.core.size_hints import USUAL_EXTENT
from xrelay.dialects.shared.attribute_names import BLOCK_SOURCE
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.topi.named.base import NamedOp
from xrelay.dialects.topi.named.conv import (
    Conv1dNcwcOp,
    Conv1dNcwcTermsOp,
    Conv1dNcwOp,
    Conv2dNchwcOp,
    Conv2dNchwcTermsOp,
    Conv2dNchwOp,
    Conv3dNcdhwcOp,
    Conv3dNcdhwcTermsOp,
    Conv3dNcdhwOp,
    ConvBaseOp,
    ConvPlainOp,
    ConvTermsOp,
)
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.topi.named.split_products import Conv2dNchwcSplitOp, MatmulSplitOp
from xrelay.dialects.topi.named.winograd import Conv2dNchwcWinogradOp
from xrelay.dialects.topi.shapes import bit_width
from xrelay.index_algebra.affine_bounds import stride
from xrelay.lowering.size_hints import expected_size, size_hint
from xrelay.passes.loop.nest_queries import blocks_of, enclosing_loops, loops_of
from xrelay.target import Target


class Role(Enum):
    """The role of an axis in a sum of products."""

    BATCH = auto()
    """Index of independent problems."""
    CHANNELS = auto()
    """Filters, or blocks of filters: the axis that only a convolution's weight has."""
    PLANES = auto()
    """Planes of a volume."""
    ROWS = auto()
    """Rows of an image, or of a matrix product (m)."""
    COLUMNS = auto()
    """Columns of an image, or of a matrix product (n)."""
    LANE = auto()
    """The filter within a block of filters."""
    DEPTH = auto()
    """The first reduction axis: channels of the image, or k of a matrix product."""
    TERM = auto()
    """The products that one instruction adds up."""
    PAIR = auto()
    """The pair of parts of split floats."""
    GROUP = auto()
    """The group of terms within a block of channels."""
    POINT_ROWS = auto()
    """Rows of a tile that Winograd's algorithm has transformed."""
    POINT_COLUMNS = auto()
    """Columns of such a tile."""


IMAGE_ROLES: Mapping[str, tuple[Role, ...]] = {
    "W": (Role.COLUMNS,),
    "HW": (Role.ROWS, Role.COLUMNS),
    "DHW": (Role.PLANES, Role.ROWS, Role.COLUMNS),
}
"""Maps the spatial axes of a convolution to their roles."""


def _conv_roles(op: type[ConvBaseOp]) -> tuple[tuple[Role, ...], tuple[Role, ...]]:
    """Returns the roles of the axes of a convolution: spatial, and the first ones of the sum."""
    spatial = (Role.BATCH, Role.CHANNELS, *IMAGE_ROLES[op.AXES])
    blocked = spatial if issubclass(op, ConvPlainOp) else (*spatial, Role.LANE)
    if issubclass(op, Conv2dNchwcSplitOp):
        return blocked, (Role.PAIR, Role.DEPTH, Role.TERM, Role.GROUP)
    return blocked, (Role.DEPTH, Role.TERM, Role.GROUP) if issubclass(op, ConvTermsOp) else (Role.DEPTH,)


PLAIN_CONVOLUTIONS = (Conv1dNcwOp, Conv2dNchwOp, Conv3dNcdhwOp)
BLOCKED_CONVOLUTIONS = (
    *(Conv1dNcwcOp, Conv2dNchwcOp, Conv3dNcdhwcOp),
    *(Conv1dNcwcTermsOp, Conv2dNchwcTermsOp, Conv3dNcdhwcTermsOp),
    Conv2dNchwcSplitOp,
)

AXES: Mapping[str, tuple[tuple[Role, ...], tuple[Role, ...]]] = {
    **{op.name: _conv_roles(op) for op in (*PLAIN_CONVOLUTIONS, *BLOCKED_CONVOLUTIONS)},
    BatchMatmulOp.name: ((Role.ROWS, Role.COLUMNS), (Role.DEPTH,)),
    MatmulOp.name: ((Role.ROWS, Role.COLUMNS), (Role.DEPTH, Role.TERM)),
    MatmulSplitOp.name: ((Role.ROWS, Role.COLUMNS), (Role.PAIR, Role.DEPTH, Role.TERM)),
    Conv2dNchwcWinogradOp.name: (
        (
            *(Role.BATCH, Role.CHANNELS, Role.POINT_ROWS, Role.POINT_COLUMNS),
            *(Role.ROWS, Role.COLUMNS, Role.LANE),
        ),
        (Role.DEPTH,),
    ),
}
"""Maps a named op to the roles of the last spatial axes and of the first reduction axes of its sum, in order."""


@dataclass(frozen=True)
class ProductView:
    """A sum of products in a kernel, with its axes by role. A role without an axis counts as one iteration."""

    block: BlockOp
    positions: Mapping[Role, int]
    """The position of each role's variable in the block."""

    @staticmethod
    def only(blocks: Sequence[BlockOp], *ops: type[NamedOp]) -> ProductView | None:
        """Returns the only reduction that one of `ops` was expanded to; None unless there is exactly one."""
        found = ProductView.each(blocks, *ops)
        return found[0] if len(found) == 1 else None

    @staticmethod
    def each(blocks: Sequence[BlockOp], *ops: type[NamedOp]) -> list[ProductView]:
        """Returns all reductions that one of `ops` was expanded to, in the order of `blocks`."""
        reductions = [block for block in blocks if block.is_reduction]
        found = [(block, op) for block in reductions for op in ops if is_expanded_from(block, op)]
        views: list[ProductView] = []
        for block, op in found:
            spatial, reduction = AXES.get(op.name, ((), ()))
            sums = [position for position, kind in enumerate(block.kinds) if kind is IterKind.REDUCE]
            roles = zip(reversed(spatial), reversed(block.spatial), strict=False)
            views.append(ProductView(block, dict(roles) | dict(zip(reduction, sums, strict=False))))
        return views

    def of(self, view: KernelView) -> ProductView:
        """Returns the same sum in another copy of the kernel."""
        return ProductView(view.block(self.name), self.positions)

    @property
    def name(self) -> str:
        """Returns the name of the block."""
        return self.block.block_name

    def extent(self, role: Role) -> int:
        """Returns the expected number of iterations of the axis."""
        return expected_extent(self.block.extents[self.positions[role]]) if role in self.positions else 1

    def loop(self, role: Role, block: BlockOp | None = None) -> str | None:
        """Returns the loop of the axis around the sum, or around a `block` with the same points.

        None for one iteration.
        """
        if role not in self.positions:
            return None
        return loop_of_variable(self.block if block is None else block, self.positions[role])

    def factors(self) -> list[LoadOp]:
        """Returns the loads of the body, except those of the sum itself."""
        return loads_of(self.block)

    @property
    def sum_type(self) -> str:
        """The type of a sum, as its text."""
        return str(memref_type(self.block.writes[0]).element_type)

    @cached_property
    def factor_bytes(self) -> list[int]:
        """The expected sizes in bytes of the buffers that the factors read."""
        return [buffer_bytes(op) for op in self.factors()]

    def factors_along(self, role: Role) -> list[LoadOp]:
        """Returns the factors whose index depends on the axis."""
        variable = self.block.variables[self.positions[role]]
        return [op for op in self.factors() if variable in op.index_operands]

    @cached_property
    def is_depthwise(self) -> bool:
        """Whether every channel has its own filter: both factors depend on the lane."""
        return len({op.memref for op in self.factors_along(Role.LANE)}) > 1

    @property
    def filters_of_group(self) -> int:
        """The number of filters that read the same channels of a plain image: all, or those of one group."""
        filter_, filters = self.block.variables[self.positions[Role.CHANNELS]], self.extent(Role.CHANNELS)
        reads = (op.index[1] for op in self.factors_along(Role.COLUMNS))
        index = next((each for each in reads if filter_ in each.operands), None)
        return filters if index is None else bisect_left(range(1, filters), 1, key=partial(_change, index, filter_)) + 1

    @property
    def column_stride(self) -> int:
        """The greatest distance of the elements of the image that neighbouring columns of the result read."""
        column = self.block.variables[self.positions[Role.COLUMNS]]
        reads = [op.index for op in ops_of(self.block.body, LoadOp) if column in op.index_operands]
        strides = [stride(index.exprs[-1], index.operands.index(column)) for index in reads]
        return max((USUAL_EXTENT if found is None else abs(found) for found in strides), default=1)

    @property
    def row_taps(self) -> int | None:
        """The position of the axis of the sum that is added to the row of the image, so that rows share its elements.

        None if there is no such axis, or if neighbouring rows of the result do not read neighbouring rows.
        """
        row = self.block.variables[self.positions[Role.ROWS]] if Role.ROWS in self.positions else None
        for index in (each for op in self.factors() for each in op.index if row in each.operands):
            steps = {v: stride(index.exprs[0], k) for k, v in enumerate(index.operands)}
            taps = [k for k, v in enumerate(self.block.variables) if steps.get(v) == 1 and k not in self.block.spatial]
            return taps[0] if taps and row is not None and steps[row] == 1 else None
        return None

    @property
    def has_unit_stride(self) -> bool:
        """Whether neighbouring columns of the result read neighbouring elements of the image."""
        return self.column_stride == 1

    @property
    def terms(self) -> int:
        """The expected number of products in a sum."""
        kinds = zip(self.block.extents, self.block.kinds, strict=True)
        return expected_product(extent for extent, kind in kinds if kind is IterKind.REDUCE)

    @property
    def packed_columns(self) -> int | None:
        """The number of columns in a block of a packed weight, `B[j / 16, k, j mod 16]`; None for a plain matrix.

        The index may have the term after the column, `B[j / 16, k, j mod 16, t]`, and a part before the block; with a
        single block, the column is `j`. A matrix with a single block and without a term is plain.
        """
        packed = [op for op in self.factors() if len(op.index) == 3 and has_remainder(op.index.exprs[2])]
        if packed:
            return memref_type(packed[0].memref).get_shape()[2]
        if Role.TERM in self.positions and Role.COLUMNS in self.positions:
            packed = [op for op in self.factors_along(Role.COLUMNS) if len(op.index) >= 4]
        return memref_type(packed[0].memref).get_shape()[-2] if packed else None


def _change(index: ValueMap, variable: SSAValue, value: int) -> int:
    """Returns the difference between an index for a value of a variable and for 0, if all other operands are 0."""
    at = [value if operand == variable else 0 for operand in index.operands]
    return index.exprs[0].eval(at, []) - index.exprs[0].eval([0] * len(at), [])


def has_remainder(expr: AffineExpr) -> bool:
    """Whether an expression contains a remainder."""
    return any(isinstance(part, AffineBinaryOpExpr) and part.kind is AffineBinaryOpKind.Mod for part in expr.dfs())


def loads_of(block: BlockOp) -> list[LoadOp]:
    """Returns the loads of a block, except those of its own results."""
    written = block.writes
    return [op for op in ops_of(block.body, LoadOp) if op.memref not in written]


def element_bytes(load: LoadOp) -> int:
    """Returns the size in bytes of an element of the loaded buffer."""
    return -(-bit_width(load.buffer_type.element_type) // 8)


def buffer_bytes(load: LoadOp) -> int:
    """Returns the expected size in bytes of the loaded buffer."""
    return prod(expected_shape(load.memref)) * element_bytes(load)


def is_expanded_from(block: BlockOp, op: type[NamedOp]) -> bool:
    """Whether a block computes a result of the expansion of `op`."""
    source = block.attributes.get(BLOCK_SOURCE)
    return isinstance(source, StringAttr) and source.data == op.name


def is_row(block: BlockOp, position: int, *, alone: bool = True) -> bool:
    """Whether neighbouring values of a variable access neighbouring elements, or the same element, of all buffers.

    Unless `alone`, dimensions of size 1 after the variable's own do not count: the elements are neighbours in memory.
    """
    variable = block.variables[position]
    for op in ops_of(block.body, LoadOp, StoreOp):
        index = op.index
        if variable not in index.operands:
            continue
        uses = [variable in index[dimension].operands for dimension in range(len(index))]
        last = len(uses) - 1
        while not alone and not uses[last] and extents_of(op.memref)[last] == 1:
            last -= 1
        if any(uses[:last]) or (uses[last] and stride(index.exprs[last], index.operands.index(variable)) != 1):
            return False
    return True


def points(block: BlockOp) -> int:
    """Returns the expected number of executions of a block's body."""
    return expected_product(block.extents)


def steps_of(op: Operation) -> int:
    """Estimates the steps of an op: 1, or for an op on a row of length n, n if it reads the row once, else n log n."""
    if not isinstance(op, RowOp):
        return 1
    length = expected_extent(op.length)
    reads_once = isinstance(op, SortOp) and op.selects is not None
    return length if reads_once else length * length.bit_length()


LONG_FUNCTIONS: Final = (
    math.AcosOp, math.AcoshOp, math.AsinOp, math.AsinhOp, math.AtanOp, math.Atan2Op, math.AtanhOp, math.CbrtOp,
    math.CosOp, math.CoshOp, math.ErfOp, math.ExpOp, math.Exp2Op, math.ExpM1Op, math.LogOp, math.Log10Op, math.Log1pOp,
    math.Log2Op, math.PowFOp, math.SinOp, math.SinhOp, math.TanOp, math.TanhOp,
)  # fmt: skip
"""Functions that are lowered to polynomials of many terms, or to a call."""


def computes_long_function(block: BlockOp) -> bool:
    """Whether the body of a block computes one of the `LONG_FUNCTIONS`."""
    return any(isinstance(op, LONG_FUNCTIONS) for op in all_ops(block))


def loop_of_variable(block: BlockOp, position: int) -> str | None:
    """Returns the loop whose index is the value of a variable; None if it has one iteration or is split."""
    binding = block.bindings[position]
    if len(binding.operands) != 1 or binding != ValueMap.identity(binding.operands):
        return None
    loops = {loop.index: loop.loop_name for loop in enclosing_loops(block)}
    return loops.get(binding.operands[0])


def loops_of_kind(block: BlockOp, *kinds: IterKind) -> list[str]:
    """Returns the loops of the variables of these kinds, in their order, without loops of one iteration."""
    names = [loop_of_variable(block, k) for k, own in enumerate(block.kinds) if own in kinds]
    return [name for name in names if name is not None]


def reduction_loops(block: BlockOp) -> list[str]:
    """Returns the loops of the variables that are not spatial, in order, without loops of one iteration."""
    return loops_of_kind(block, IterKind.REDUCE, IterKind.ORDERED)


def readers_of(block: BlockOp, blocks: Sequence[BlockOp]) -> list[BlockOp]:
    """Returns the blocks that read a result of `block`."""
    return [other for other in blocks if other is not block and any(b in other.reads for b in block.writes)]


def reads_pointwise(reader: BlockOp, producer: BlockOp) -> bool:
    """Whether `reader` reads the results of the producer at its own point and at no other."""
    if reader.is_reduction or len(reader.kinds) != len(producer.spatial):
        return False
    loads = [op for op in ops_of(reader, LoadOp) if op.memref in producer.writes]
    return bool(loads) and all(_is_identity(op, reader) for op in loads)


def _is_identity(load: LoadOp, block: BlockOp) -> bool:
    """Whether index k is variable k; for a variable of extent 1, the index may be 0."""
    index = load.index
    if len(index) != len(block.variables):
        return False
    return all(
        index[k] == ValueMap.identity([variable]) or (extent == 1 and index[k] == ValueMap.constant(0))
        for k, (variable, extent) in enumerate(zip(block.variables, block.extents, strict=True))
    )


def expected_extent(extent: Extent | None) -> int:
    """Returns the expected value of an extent; static extents are exact, computed ones are evaluated.

    An argument has the typical value of its `loop.size`, if it has this attribute.
    """
    if isinstance(extent, int):
        return USUAL_EXTENT if extent == DYNAMIC else extent
    return USUAL_EXTENT if extent is None else _with_arguments(extent, expected_size)


def least(extent: Extent) -> int:
    """Returns an extent with every argument at its known minimum, or at 1 if that is less or unknown."""
    return _with_arguments(extent, lambda argument: max(1, size_hint(argument)[0]))


def expected_product(extents: Iterable[Extent | None]) -> int:
    """Returns the expected number of points of an index space."""
    return prod(map(expected_extent, extents))


def expected_shape(buffer: SSAValue) -> list[int]:
    """Returns the expected sizes of a buffer."""
    return [expected_extent(extent) for extent in extents_of(buffer)]


def _with_arguments(extent: Extent, size_of: Callable[[SSAValue], int]) -> int:
    if isinstance(extent, int):
        return extent
    expression = expression_of(extent)
    return expression.exprs[0].eval([size_of(operand) for operand in expression.operands], [])


class KernelView:
    """A kernel and the target that it is scheduled for: its blocks, and the expected extents of its loops.

    Blocks and loops are remembered; whoever changes the kernel calls `forget`.
    """

    def __init__(self, kernel: FuncOp, target: Target):
        self.kernel, self.target = kernel, target
        self._blocks: dict[str, BlockOp] | None = None
        self._loops: dict[str, ForOp] | None = None

    def forget(self) -> None:
        """Forgets the blocks and loops of the kernel."""
        self._blocks = self._loops = None

    def blocks(self) -> list[BlockOp]:
        """Returns the blocks in the order of the text."""
        return list(self._named_blocks().values())

    def block(self, name: str) -> BlockOp:
        """Returns the block called `name`."""
        return self._named_blocks()[name]

    def _named_blocks(self) -> dict[str, BlockOp]:
        if self._blocks is None:
            self._blocks = blocks_of(self.kernel)
        return self._blocks

    def loop(self, name: str) -> ForOp | None:
        """Returns the loop called `name`, or None."""
        if self._loops is None:
            self._loops = loops_of(self.kernel)
        return self._loops.get(name)

    def extent(self, loop: str) -> int:
        """Returns the extent of a loop, its expected value if it is dynamic; 1 if there is no such loop."""
        found = self.loop(loop)
        return 1 if found is None else expected_extent(found.bound)

    def least(self, loop: str) -> int:
        """Returns the extent of a loop with all dynamic values at their known minimum; 1 if there is no such loop."""
        found = self.loop(loop)
        return 1 if found is None else least(found.bound)

    def is_dynamic(self, loop: str) -> bool:
        """Whether the extent of a loop is dynamic."""
        found = self.loop(loop)
        return found is not None and found.extent is None

    def is_longer(self, loop: str, size: int) -> bool:
        """Whether a loop has, or may have, more iterations than `size`, so that it must be split."""
        return self.is_dynamic(loop) or self.extent(loop) > size

    def lanes(self, block: BlockOp) -> int:
        """Returns the number of elements of the widest type in `block` that fit into a vector register.

        Buffers of indices do not count: they address other elements and are mostly the same for all lanes.
        """
        types = [memref_type(buffer).element_type for buffer in (*block.reads, *block.writes)]
        widths = [bit_width(type) for type in types if not isinstance(type, IndexType)]
        return self.target.lanes(max([8, *widths] if widths else [64]))
