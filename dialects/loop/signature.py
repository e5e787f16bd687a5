"""The signature of a function at the loop level: inputs, outputs, scratch buffers or the arena, extents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from xrelay.dialects.shared.attribute_names import ARENA, DIM, LOOP_DIMS, NUM_OUTPUTS, NUM_SCRATCH
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.index_algebra.dims import DimExpr

PLAN: Final = "main_plan"
"""The name of the function that computes the memory needs of `@main`."""


def input_arguments(function: FuncOp) -> Sequence[SSAValue]:
    """The input buffers, which precede the outputs."""
    return function.body.block.args[: _end_of_outputs(function) - _output_count(function)]


def output_arguments(function: FuncOp) -> Sequence[SSAValue]:
    """The output buffers."""
    end = _end_of_outputs(function)
    return function.body.block.args[end - _output_count(function) : end]


def _end_of_outputs(function: FuncOp) -> int:
    return len(function.body.block.args) - len(dim_arguments(function)) - scratch_count(function)


def _output_count(function: FuncOp) -> int:
    outputs = function.attributes.get(NUM_OUTPUTS)
    return outputs.value.data if isinstance(outputs, IntegerAttr) else 0


def scratch_count(function: FuncOp) -> int:
    """The number of arguments between outputs and extents: the arena, or a kernel's scratch buffers."""
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    scratch = function.attributes.get(NUM_SCRATCH)
    count = scratch.value.data if isinstance(scratch, IntegerAttr) else 0
    return count + sum(ARENA in entry.data for entry in attributes)


def dim_arguments(function: FuncOp) -> Sequence[SSAValue]:
    """The trailing arguments that are extents: those of a kernel's `kernel_dims`, or the names that `@main` binds."""
    args = function.body.block.args
    count = sum(1 for _ in takewhile(lambda argument: isinstance(argument.type, IndexType), reversed(args)))
    return args[len(args) - count :]


def dim_names(function: FuncOp) -> list[str]:
    """The names whose sizes are a function's trailing arguments; empty if an argument has no name."""
    types = function.function_type.inputs.data
    count = sum(1 for _ in takewhile(lambda type: isinstance(type, IndexType), reversed(types)))
    attributes = function.arg_attrs.data[len(types) - count :] if function.arg_attrs is not None else ()
    names = [name.data for entry in attributes if isinstance(name := entry.data.get(DIM), StringAttr)]
    return names if len(names) == count else []


def kernel_dims(function: FuncOp) -> tuple[DimExpr, ...]:
    """The extents of a kernel's index arguments, in order, in terms of the names of its own tensors."""
    dims = function.attributes.get(LOOP_DIMS)
    return dims.data if isinstance(dims, DimsAttr) else ()
