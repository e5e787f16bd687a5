"""Kernels for subviews: copies of kernels in which an argument has strides, and kernels that copy subviews."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop import BlockOp, LoadOp, StoreOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.versions import version_of
from xrelay.dialects.shared.attribute_names import EXTENTS, LOOP_KERNEL, NUM_OUTPUTS, RESHAPE_ONLY, VERSION
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.loop.merge_kernels import add_sources
from xrelay.passes.loop.nest_edits import copy_nest
from xrelay.passes.loop.signature import set_argument_attrs


class CopyKernels:
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


class StridedKernels:
    """Copies each kernel at most once for each of its arguments and types."""

    def __init__(self, functions: dict[str, func.FuncOp], taken: set[str]):
        """`functions` maps the symbols of a module, which are `taken`, to functions; copies are added to both."""
        self._functions = functions
        self._known: dict[tuple[str, int, Attribute], str] = {}
        versions = [version_of(function) for function in functions.values() if VERSION in function.attributes]
        self._with_versions = {version.of for version in versions if version is not None}
        self._taken = taken
        self.retargeted: set[str] = set()
        """The kernels with a call that has been redirected to a copy."""

    def accepts_strides(self, buffer: SSAValue, excluded: func.CallOp) -> bool:
        """Whether all users of a buffer, except `excluded`, are calls of kernels that can take it with strides."""
        return all(
            use.operation is excluded
            or (isinstance(use.operation, func.CallOp) and self._accepts(use.operation.callee, use.index))
            for use in buffer.uses
        )

    def _accepts(self, callee: SymbolRefAttr, number: int) -> bool:
        name = callee.string_value()
        kernel = self._functions.get(name)
        if kernel is None or LOOP_KERNEL not in kernel.attributes or len(kernel.body.blocks) != 1:
            return False
        if (
            kernel.sym_visibility != StringAttr("private")
            or name in self._with_versions
            or VERSION in kernel.attributes
        ):
            return False
        users = [use.operation for use in kernel.body.block.args[number].uses]
        return all(isinstance(op, LoadOp | StoreOp | BlockOp) for op in users)

    def redirect_calls(self, buffer: SSAValue, excluded: func.CallOp) -> None:
        """Redirects all calls that use a buffer, except `excluded`, to kernels that are copied for its type."""
        type = memref_type(buffer)
        for use in list(buffer.uses):
            if use.operation is not excluded and isinstance(use.operation, func.CallOp):
                self._retarget(use.operation, use.index, type)

    def _retarget(self, call: func.CallOp, number: int, type: MemRefType) -> None:
        name = call.callee.string_value()
        kernel = self._functions.get(name)
        # A callee that is missing in `functions` copies a part and has the type already.
        if kernel is None or kernel.function_type.inputs.data[number] == type:
            return
        key = (name, number, type)
        if key not in self._known:
            self._known[key] = self._copy_kernel(kernel, number, type)
        call.callee = SymbolRefAttr(self._known[key])
        self.retargeted.add(name)

    def _copy_kernel(self, kernel: func.FuncOp, number: int, type: MemRefType) -> str:
        copy = kernel.clone()
        name = fresh_name(f"{kernel.sym_name.data}_apart", self._taken)
        copy.sym_name = StringAttr(name)
        copy.attributes.pop(RESHAPE_ONLY, None)
        argument = copy.body.block.args[number]
        assert isinstance(argument, BlockArgument), "arguments of a block are such"
        Rewriter.replace_value_with_new_type(argument, type)
        types = [each.type for each in copy.body.block.args]
        copy.function_type = FunctionType.from_lists(types, list(copy.function_type.outputs))
        Rewriter.insert_op(copy, InsertPoint.after(kernel))
        self._functions[name] = copy
        return name
