"""The signature of a function at the loop level: which of its arguments are inputs, outputs, arena and scratch."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from xrelay.dialects.attribute_names import ARENA, NUM_OUTPUTS, NUM_SCRATCH


def input_arguments(function: FuncOp) -> Sequence[SSAValue]:
    """The arguments that a caller gives: not the outputs, nor the arena and scratch after them, of the loop level."""
    outputs = function.attributes.get(NUM_OUTPUTS)
    count = outputs.value.data if isinstance(outputs, IntegerAttr) else 0
    args = function.body.block.args
    return args[: len(args) - scratch_count(function) - count]


def scratch_count(function: FuncOp) -> int:
    """How many trailing arguments are neither inputs nor outputs: the arena, or a kernel's scratch buffers."""
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    scratch = function.attributes.get(NUM_SCRATCH)
    count = scratch.value.data if isinstance(scratch, IntegerAttr) else 0
    return count + sum(ARENA in entry.data for entry in attributes)
