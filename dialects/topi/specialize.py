"""Specializes a function with named dimensions to given sizes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.extents import with_sizes as extents_with_sizes
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import dims_in, with_dims
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.index_map import stored
from xrelay.dialects.topi.index_map import with_sizes as index_with_sizes
from xrelay.dialects.topi.index_space import BodyOp
from xrelay.dialects.topi.read import CheckedIndexOp, InBoundsOp, IndexOp, ReadOp
from xrelay.errors import DimensionError


def has_named_dimensions(function: FuncOp) -> bool:
    """Whether a type or an extent in a function has a named dimension."""
    types = [argument.type for argument in function.body.block.args]
    types += [result.type for op in function.walk() for result in op.results]
    return any(map(dims_in, types)) or any(
        isinstance(value, DimsAttr) for op in function.walk() for value in op.properties.values()
    )


def specialized(function: FuncOp, sizes: Mapping[str, int], stay: Collection[str] = ()) -> FuncOp:
    """Returns a copy of `function`, not inserted, in which each named dimension is replaced by its size.

    Three kinds of names are kept: those in `stay`, and those that ops or region arguments of the function bind. Calls
    keep their callees. Raises `DimensionError` if another name has no size, or an extent has no value.
    """
    copy = function.clone()
    left = {extent.name for op in function.walk() for extent in new_extents(op)}.union(
        _names_of_regions(function), stay
    )

    def known(type: Attribute) -> Attribute:
        made = with_dims(type, lambda dim: dim.substitute(sizes))
        if missing := [dim for dim in dims_in(made) if not dim.names <= left]:
            raise DimensionError(f"{missing[0]} has no value in @{function.sym_name.data}")
        return made

    for op in copy.walk():
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    Rewriter.replace_value_with_new_type(argument, known(argument.type))
        for result in op.results:
            Rewriter.replace_value_with_new_type(result, known(result.type))
        _specialize(op, sizes)
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    copy.function_type = FunctionType.from_lists([known(type) for type in inputs], [known(type) for type in outputs])
    return copy


def _names_of_regions(function: FuncOp) -> set[str]:
    """The names in the types of region arguments, such as the values carried by a loop."""
    blocks = (block for op in function.body.block.walk() for region in op.regions for block in region.blocks)
    return {name for block in blocks for argument in block.args for dim in dims_in(argument.type) for name in dim.names}


def _specialize(op: Operation, sizes: Mapping[str, int]) -> None:
    if isinstance(op, BodyOp):
        op.extents = extents_with_sizes(op.extents, sizes)
    match op:
        case ComputeOp():
            op.reduce_extents = extents_with_sizes(op.reduce_extents, sizes)
        case ReadOp() if op.symbols is not None:
            op.access, indices, op.symbols = stored(index_with_sizes(op.index, sizes))
            op.operands = (op.tensor, *indices)
        case IndexOp() if op.symbols is not None:
            op.access, op.operands, op.symbols = stored(index_with_sizes(op.index, sizes))
        case InBoundsOp():
            op.sizes = extents_with_sizes(op.sizes, sizes)
            if op.symbols is not None:
                op.access, op.operands, op.symbols = stored(index_with_sizes(op.index, sizes))
        case CheckedIndexOp():
            op.set_sizes(sizes)
        case _:
            pass
