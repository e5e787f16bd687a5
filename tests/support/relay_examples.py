"""The ```mlir example of a relay operator as a program; values that it does not define become inputs."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.infra.locating_parser import LocatingParser
from xrelay.passes.infra.source import full_context

EXAMPLE = re.compile(r"```mlir\n(.*?)```", re.DOTALL)


def example_module(op: type[RelayOp]) -> ModuleOp:
    """Returns `@main` with the ops of the example; it returns the last op's tensors."""
    found = EXAMPLE.search(inspect.cleandoc(op.__doc__ or ""))
    assert found is not None, f"{op.name} has no example"
    parser = LocatingParser(full_context(), found[1], f"{op.name} example")
    ops: list[Operation] = []
    while (each := parser.parse_optional_operation()) is not None:
        ops.append(each)
    free = [value for values in parser.forward_ssa_references.values() for value in values.values()]
    block = Block(arg_types=[value.type for value in free])
    for value, argument in zip(free, block.args, strict=True):
        value.replace_all_uses_with(argument)
    block.add_ops(ops)
    results: list[SSAValue] = list(ops[-1].results)
    if isinstance(results[0].type, TupleType):
        fields = [TupleGetItemOp.call(results[0], index=index) for index in range(len(results[0].type.types))]
        block.add_ops(fields)
        results = [field.results[0] for field in fields]
    block.add_op(ReturnOp(*results))
    signature = (list(block.arg_types), [value.type for value in results])
    return ModuleOp([FuncOp("main", signature, Region(block))])


def example_op(op: type[RelayOp]) -> RelayOp:
    """The first op of this class in its example."""
    return next(each for each in example_module(op).walk() if isinstance(each, op))


ROWS = {"relay.nn.sparse_add": (1, 3), "relay.nn.sparse_transpose": (0, 2)}
"""Ops that fail if a value belongs to no row → the indices of the operands with the values and the row starts."""


def example_inputs(module: ModuleOp, seed: int = 0) -> list[NDArray[Any]]:
    """Seeded inputs in every op's domain: floats in [0.5, 2), integers 0 and 1, truth values."""
    rng = np.random.default_rng(seed)
    (function,) = (each for each in module.ops if isinstance(each, FuncOp))
    arrays: list[NDArray[Any]] = []
    for type in function.function_type.inputs:
        assert isinstance(type, TensorType), f"an input of type {type}"
        shape = [extent if isinstance(extent, int) else 3 for extent in shape_of(type)]
        dtype = numpy_dtype(type.element_type)
        whole = isinstance(type.element_type, IntegerType)
        arrays.append((rng.integers(0, 2, shape) if whole else rng.uniform(0.5, 2, shape)).astype(dtype))
    for op in function.body.block.ops:
        if op.name in ROWS:
            values, starts = (function.args.index(op.operands[number]) for number in ROWS[op.name])
            count, dtype = len(arrays[starts]), arrays[starts].dtype
            arrays[starts] = np.linspace(0, len(arrays[values]), count).astype(dtype)
    return arrays
