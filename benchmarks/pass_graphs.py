"""Relay programs of any size, in shapes that are hard for graph passes: about `ops` untyped ops each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import INCOMPLETE, RelayOp
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.nn.norm import BatchNormOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor.unary import ExpOp, SigmoidOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import tensor_type

VECTOR = tensor_type([8], f32)
IMAGE = tensor_type([1, 8, 2, 2], f32)


class Graph:
    """A builder that appends ops to a block."""

    def __init__(self, *types: Attribute):
        self.block = Block(arg_types=types)

    def add(self, op: Operation) -> SSAValue:
        """Appends `op`; returns its result."""
        self.block.add_op(op)
        return op.results[0]

    def call(self, op: type[RelayOp], *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Appends an op whose type `relay-infer-type` infers."""
        properties = op.properties_from(attributes)
        return self.add(op.create(operands=operands, result_types=[INCOMPLETE], properties=properties))

    def constant(self, *values: float) -> SSAValue:
        """Appends a constant: a scalar, or a vector of several values."""
        return self.add(ConstantOp.of(np.array(values[0] if len(values) == 1 else values, np.float32)))

    def joined(self, values: Sequence[SSAValue]) -> SSAValue:
        """Appends the concatenation of `values`."""
        return self.call(ConcatenateOp, self.call(TupleOp, *values), axis=0)

    def function(self, name: str, result: SSAValue, visibility: str | None = None) -> FuncOp:
        """Returns the function that returns `result`."""
        self.block.add_op(ReturnOp(result))
        return FuncOp(name, (list(self.block.arg_types), [result.type]), Region(self.block), visibility)

    def module(self, result: SSAValue) -> ModuleOp:
        """Returns the module whose `@main` returns `result`."""
        return ModuleOp([self.function("main", result)])


def chain(ops: int) -> ModuleOp:
    """Returns a chain of unary ops."""
    graph = Graph(VECTOR)
    value: SSAValue = graph.block.args[0]
    for number in range(ops):
        value = graph.call((ReluOp, ExpOp, SigmoidOp)[number % 3], value)
    return graph.module(value)


def ladder(ops: int) -> ModuleOp:
    """Returns diamonds: two ops on one value, joined by a sum."""
    graph = Graph(VECTOR)
    value: SSAValue = graph.block.args[0]
    for _ in range(ops // 3):
        value = graph.call(AddOp, graph.call(ExpOp, value), graph.call(SigmoidOp, value))
    return graph.module(value)


def wide(ops: int) -> ModuleOp:
    """Returns `ops / 10` branches of one value, each of ten ops, joined by one concatenation."""
    graph = Graph(VECTOR)
    ends: list[SSAValue] = []
    for number in range(ops // 10):
        # The branches differ, so that common subexpression elimination keeps them.
        end = graph.call(AddOp, graph.block.args[0], graph.constant(number))
        for _ in range(4):
            end = graph.call(SigmoidOp, graph.call(ExpOp, end))
        ends.append(end)
    return graph.module(graph.joined(ends))


def network(ops: int) -> ModuleOp:
    """Returns repeated convolution, bias, batch norm, relu and residual sum on tiny images: every rewrite has work."""
    graph, random = Graph(IMAGE), np.random.default_rng(0)
    value: SSAValue = graph.block.args[0]
    for _ in range(ops // 12):
        before = value
        weight = graph.add(ConstantOp.of(random.standard_normal((8, 8, 1, 1)).astype(np.float32), "weight"))
        value = graph.call(Conv2DOp, value, weight, channels=8, kernel_size=[1, 1])
        value = graph.call(BiasAddOp, value, graph.constant(*random.standard_normal(8)))
        norm = [graph.constant(*random.uniform(0.5, 1.5, 8)) for _ in range(4)]
        value = graph.call(TupleGetItemOp, graph.call(BatchNormOp, value, *norm), index=0)
        value = graph.call(AddOp, graph.call(ReluOp, value), before)
    return graph.module(value)


GRAPHS: dict[str, Callable[[int], ModuleOp]] = {make.__name__: make for make in (chain, ladder, wide, network)}
