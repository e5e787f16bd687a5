"""`loop-collapse-images`: makes one row of all rows of an image, if its own rows do not fill vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, MemRefType, ModuleOp, NoneAttr, StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop import BlockOp, ForOp, LoadOp, StoreOp, SubviewOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import index_arguments
from xrelay.dialects.shared.attribute_names import BLOCK_SOURCE, LOOP_KERNEL, SCHEDULE, VERSION
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi.named.conv import Conv2dNchwOp
from xrelay.dialects.topi.shapes import bit_width
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.nest_edits import take_body
from xrelay.passes.loop.nest_queries import blocks_inside, enclosing_loops, kernels_of

FLOAT_BITS: Final = 32
"""The width of the elements that the option `vector-lanes` counts."""


@dataclass(frozen=True)
class LoopCollapseImagesPass(XRelayPass):
    """Computes on the pixels of an image in one row, if its own rows do not fill vectors.

    Kernels that compute convolutions of one pixel, or that compute or move elements without a reduction, are rewritten.
    Before → after, for a kernel and its calls:

    ```
    func.call @k(%x, %w, %y) : …                        %a = loop.subview %x[%c0][] : … to memref<1x8x1x196xf32>
    func.func private @k(%p: memref<1x8x14x14xf32>,     %b = loop.subview %y[%c0][] : … to memref<1x16x1x196xf32>
        …, %q: memref<1x16x14x14xf32>) … {              func.call @k(%a, %w, %b) : …
      loop.for "c" %c to 16 {                           func.func private @k(%p: memref<1x8x1x196xf32>,
        loop.for "h" %h to 14 {                    →        …, %q: memref<1x16x1x196xf32>) … {
          loop.for "w" %w to 14 {                         loop.for "c" %c to 16 {
            loop.for "k" %k to 8 {                          loop.for "w" %w to 196 {
              loop.block … {                                  loop.for "k" %k to 8 {
                … loop.load %p[0, %vk, %vh, %vw] …              loop.block … {
                                                                  … loop.load %p[0, %vk, %vh, %vw] …   %vh is 0
    ```

    A row of 14 pixels leaves two of 16 lanes empty, and one of 7 pixels nine; 196 pixels fill 12 vectors and a quarter
    of one. Calls pass views of their buffers, without a copy. In a change of layout, an image may have rows and columns
    at other axes of a buffer: `memref<1x2x14x14x16xf32>` becomes `memref<1x2x1x196x16xf32>`.

    A kernel stays unchanged if it is public, has a schedule or dynamic extents, or is a version of another. So does one
    with a reduction other than one convolution on plain channels. Rows that are multiples of a vector, or the last two
    axes of no buffer, are kept. A block may use its row and column only as two neighbouring indices of a buffer with
    these extents, unlike windows, strides and padding, and has to write such buffers alone, unlike a scatter. Calls
    must not pass views with strides, nor buffers other than arguments, allocations and views.
    """

    name = "loop-collapse-images"
    numerics = EXACT

    vector_lanes: int = field(default=16, metadata={"help": "the number of f32 in a vector of the target"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the kernels of the module, and their calls, in place."""
        images = {kernel.sym_name.data: image for kernel in kernels_of(op) if (image := _image_of(kernel, self))}
        if not images:
            return
        calls: dict[str, list[func.CallOp]] = {name: [] for name in images}
        graphs = [each for each in op.ops if isinstance(each, func.FuncOp) and LOOP_KERNEL not in each.attributes]
        for call in (call for graph in graphs for call in ops_of(graph, func.CallOp)):
            if (name := call.callee.string_value()) in calls:
                calls[name].append(call)
        for name, image in images.items():
            arguments = image.kernel.body.block.args
            axes = {arg.index: image.buffers[arg] for arg in arguments if arg in image.buffers}
            if all(_has_views(call, axes) for call in calls[name]):
                image.collapse()
                for call in calls[name]:
                    _pass_views(call, axes, image)


class _Rows(NamedTuple):
    """The two loops of a block over an image, and the positions of their variables."""

    block: BlockOp
    loops: tuple[ForOp, ForOp]
    positions: tuple[int, int]

    @property
    def variables(self) -> list[tuple[SSAValue, SSAValue]]:
        """The row and the column in each region of the block."""
        block, (row, column) = self.block, self.positions
        found = [(block.variables[row], block.variables[column])]
        if block.has_init:
            own = dict(zip(block.spatial, block.init.block.args, strict=True))
            found.append((own[row], own[column]))
        return found


@dataclass(frozen=True)
class _Image:
    """A kernel whose blocks compute on images of `height` rows of `width` pixels."""

    kernel: func.FuncOp
    height: int
    width: int
    nests: Sequence[_Rows]
    buffers: Mapping[SSAValue, int]
    """The buffers of images, each with the axis of rows; that of columns is the next."""

    def type_of(self, buffer: SSAValue, axis: int) -> MemRefType:
        """Returns the type of a buffer whose rows are at an axis, with all pixels in one row."""
        type = memref_type(buffer)
        shape = [*type.get_shape()]
        shape[axis : axis + 2] = 1, self.height * self.width
        return MemRefType(type.element_type, shape, memory_space=type.memory_space)

    def collapse(self) -> None:
        """Makes the kernel compute one row."""
        for buffer, axis in self.buffers.items():
            if isinstance(buffer.owner, memref.AllocOp):
                Rewriter.replace_op(buffer.owner, memref.AllocOp([], [], self.type_of(buffer, axis)))
            else:
                Rewriter.replace_value_with_new_type(buffer, self.type_of(buffer, axis))
        for block, (rows, columns), (row, column) in self.nests:
            columns.extent_attr = IntegerAttr(self.height * self.width, IndexType())
            changed = {row: 1, column: self.height * self.width}
            block.set_extents([changed.get(position, extent) for position, extent in enumerate(block.extents)])
            Rewriter.insert_op(take_body(rows, ValueMap.constant(0)), InsertPoint.before(rows))
            Rewriter.erase_op(rows)
        types = self.kernel.body.block.arg_types
        self.kernel.function_type = FunctionType.from_lists(list(types), [])


def _image_of(kernel: func.FuncOp, settings: LoopCollapseImagesPass) -> _Image | None:
    """Returns the image of a kernel if all rows can be one row; None for other kernels."""
    blocks = blocks_inside(kernel)
    is_fixed = VERSION in kernel.attributes or SCHEDULE in kernel.attributes or index_arguments(kernel)
    if not blocks or not blocks[0].writes or is_fixed or kernel.sym_visibility != StringAttr("private"):
        return None
    lanes = settings.vector_lanes * FLOAT_BITS // bit_width(memref_type(blocks[0].writes[0]).element_type)
    for place in _places(blocks):
        height, width = (blocks[0].extents[position] for position in blocks[0].spatial[place : place + 2])
        if not isinstance(height, int) or not isinstance(width, int) or height < 2 or width % max(1, lanes) == 0:
            continue
        nests = [_rows_of(block, place, (height, width)) for block in blocks]
        found = [nest for nest in nests if nest is not None]
        buffers = _buffers_of(found, (height, width)) if len(found) == len(blocks) else {}
        if buffers and any(axis == len(memref_type(buffer).get_shape()) - 2 for buffer, axis in buffers.items()):
            return _Image(kernel, height, width, found, buffers)
    return None


def _places(blocks: Sequence[BlockOp]) -> Sequence[int]:
    """Returns the places in the spatial variables of all blocks at which rows and columns of an image may be.

    They are the last two of a convolution, and any two neighbours of blocks that only move or compute elements.
    """
    axes, sums = len(blocks[0].spatial), [block for block in blocks if block.is_reduction]
    if axes < 2 or any(len(block.spatial) != axes for block in blocks):
        return []
    if not sums:
        return range(axes - 2, -1, -1)
    is_convolution = [block.attributes.get(BLOCK_SOURCE) == StringAttr(Conv2dNchwOp.name) for block in sums]
    return [axes - 2] if is_convolution == [True] else []


def _rows_of(block: BlockOp, place: int, image: tuple[int, int]) -> _Rows | None:
    """Returns the loops of a block over an image; None unless two spatial variables are their indices."""
    row, column = block.spatial[place : place + 2]
    loops = enclosing_loops(block)
    found: list[ForOp] = []
    for position, extent in zip((row, column), image, strict=True):
        binding = block.bindings[position]
        own = [loop for loop in loops if ValueMap.identity([loop.index]) == binding and loop.extent == extent]
        if block.extents[position] != extent or len(own) != 1 or blocks_inside(own[0]) != [block]:
            return None
        if {use.operation for use in own[0].index.uses} != {block}:
            return None
        found.append(own[0])
    return _Rows(block, (found[0], found[1]), (row, column))


def _buffers_of(nests: Sequence[_Rows], image: tuple[int, int]) -> dict[SSAValue, int]:
    """Returns the buffers that are accessed at a row and a column, with the axis of the row.

    Returns none if a row or a column is used elsewhere than in two neighbouring indices of a buffer, always the same;
    or if a block writes another buffer, since its writes would change their order.
    """
    images: dict[SSAValue, int] = {}
    others: set[SSAValue] = set()
    for nest in nests:
        ones = [k for k, extent in enumerate(nest.block.extents) if extent == 1]
        zeros = {nest.block.variables[k]: ValueMap.constant(0) for k in ones}
        for pixel in nest.variables:
            for user in {use.operation for variable in pixel for use in variable.uses}:
                if not isinstance(user, LoadOp | StoreOp):
                    return {}
                axis = _axis_of(user, pixel, image, zeros)
                if axis is None or images.setdefault(user.memref, axis) != axis:
                    return {}
        accesses = ops_of(nest.block, LoadOp, StoreOp)
        inside = {variable for pixel in nest.variables for variable in pixel}
        others |= {access.memref for access in accesses if inside.isdisjoint(access.index_operands)}
    written = {buffer for nest in nests for buffer in nest.block.writes}
    is_accessed = all(isinstance(use.operation, LoadOp | StoreOp | BlockOp) for each in images for use in each.uses)
    return images if is_accessed and written <= images.keys() and others.isdisjoint(images) else {}


def _axis_of(
    op: LoadOp | StoreOp, pixel: tuple[SSAValue, SSAValue], image: tuple[int, int], zeros: Mapping[SSAValue, ValueMap]
) -> int | None:
    """Returns the axis of rows if an op accesses a contiguous buffer of images, at the `pixel` and nowhere else."""
    type, index = memref_type(op.memref), op.index.substitute(zeros).simplified()
    indices, found = [index[axis] for axis in range(len(index))], [ValueMap.identity([each]) for each in pixel]
    axis = next((k for k in range(len(indices) - 1) if indices[k : k + 2] == found), None)
    if axis is None or tuple(type.get_shape()[axis : axis + 2]) != image or not isinstance(type.layout, NoneAttr):
        return None
    others = [*indices[:axis], *indices[axis + 2 :]]
    return axis if all(set(pixel).isdisjoint(other.operands) for other in others) else None


def _has_views(call: func.CallOp, numbers: Iterable[int]) -> bool:
    """Whether each image that a call passes, its operands `numbers`, can be seen as one row."""
    return all(
        isinstance(memref_type(buffer).layout, NoneAttr)
        and isinstance(buffer.owner, Block | memref.AllocOp | SubviewOp)
        for buffer in (call.arguments[number] for number in numbers)
    )


def _pass_views(call: func.CallOp, axes: Mapping[int, int], image: _Image) -> None:
    """Makes operands of a call images of one row: their numbers, each with the axis of rows.

    A buffer that is passed twice stays one buffer.
    """
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    views: dict[tuple[SSAValue, int], SubviewOp] = {}
    for number, axis in axes.items():
        buffer = call.arguments[number]
        if (buffer, axis) not in views:
            views[buffer, axis] = _row_view(buffer, zero.result, image.type_of(buffer, axis))
        call.operands[number] = views[buffer, axis].result
    Rewriter.insert_op([zero, *views.values()], InsertPoint.before(call))


def _row_view(buffer: SSAValue, zero: SSAValue, type: MemRefType) -> SubviewOp:
    """Returns a view of a buffer as an image of one row; for a view, a view of its source."""
    if isinstance(buffer.owner, SubviewOp):
        return SubviewOp(buffer.owner.source, buffer.owner.offset, [], type)
    return SubviewOp(buffer, zero, [], type)
