"""Kernels that copy buffers that cannot be parts of a whole, one kernel for each pair of buffer types."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.shared.attribute_names import EXTENTS, LOOP_KERNEL, NUM_OUTPUTS
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.loop.copy_nest import copy_nest
from xrelay.passes.loop.merge_kernels import add_sources
from xrelay.passes.loop.signature import set_argument_attrs


class PartCopies:
    """Makes each kernel once: `@copy_part(%from: T, %to: U, %extent: index, …)`, with one extent for each `?` of `T`.

    The two types differ only in strides.
    """

    def __init__(self, taken: set[str]):
        """`taken` are the symbols of the module."""
        self._taken = taken
        self._kernels: dict[tuple[Attribute, Attribute], func.FuncOp] = {}

    @property
    def made(self) -> list[func.FuncOp]:
        """The kernels, in the order of their requests."""
        return list(self._kernels.values())

    def symbol(self, old: MemRefType, new: MemRefType, instead_of: func.FuncOp) -> str:
        """The symbol of the kernel that copies between the types; it also gets the sources of `instead_of`."""
        if (old, new) not in self._kernels:
            self._kernels[old, new] = _kernel(fresh_name("copy_part", self._taken), old, new)
        add_sources(self._kernels[old, new], instead_of)
        return self._kernels[old, new].sym_name.data


def _kernel(name: str, old: MemRefType, new: MemRefType) -> func.FuncOp:
    shape = old.get_shape()
    is_open = [extent == DYNAMIC_INDEX for extent in shape]
    block = Block(arg_types=[old, new, *[IndexType()] * sum(is_open)])
    source, target, *extents = block.args
    source.name_hint, target.name_hint = "from", "to"
    rest = iter(extents)
    bounds: list[int | SSAValue] = [next(rest) if each else size for each, size in zip(is_open, shape, strict=True)]
    nest = copy_nest("copy", [f"i{axis}" for axis in range(len(shape))], bounds, {source: target})
    block.add_ops(list[Operation]([nest, func.ReturnOp()]))
    kernel = func.FuncOp(name, (list(block.arg_types), []), Region(block), "private")
    kernel.attributes |= {LOOP_KERNEL: UnitAttr(), NUM_OUTPUTS: IntegerAttr(1, i64)}
    if extents:
        numbers = DenseArrayBase.from_list(i64, range(len(extents)))
        set_argument_attrs(kernel, [{EXTENTS: numbers}, {EXTENTS: numbers}, *({} for _ in extents)])
    return kernel
