"""Relay programs of any size, in shapes that are hard for graph passes: about `ops` untyped ops each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f32, i1
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import INCOMPLETE, RelayOp
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.nn.norm import BatchNormOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor.unary import ExpOp, SigmoidOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import tensor_type

VECTOR = tensor_type([8], f32)
IMAGE = tensor_type([1, 8, 2, 2], f32)
NESTED = 100
"""The nesting depth of the branches of `ifs`."""


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


def fan(ops: int) -> ModuleOp:
    """Returns a value with `ops / 2` users, all joined by one concatenation."""
    graph = Graph(VECTOR)
    shared = graph.call(ExpOp, graph.block.args[0])
    return graph.module(graph.joined([graph.call(AddOp, shared, graph.constant(number)) for number in range(ops // 2)]))


def tree(ops: int) -> ModuleOp:
    """Returns a layer of `ops / 3` products, summed by a tree of additions."""
    graph = Graph(VECTOR)
    layer = [graph.call(MultiplyOp, graph.block.args[0], graph.constant(number)) for number in range(ops // 3)]
    while len(layer) > 1:
        rest = layer[len(layer) & ~1 :]
        layer = [graph.call(AddOp, left, right) for left, right in zip(layer[::2], layer[1::2], strict=False)] + rest
    return graph.module(layer[0])


def first(ops: int) -> ModuleOp:
    """Returns a chain whose ops all read the first value too."""
    graph = Graph(VECTOR)
    value = start = graph.call(ExpOp, graph.block.args[0])
    for number in range(ops):
        value = graph.call((AddOp, MultiplyOp)[number % 2], value, start)
    return graph.module(value)


def skips(ops: int) -> ModuleOp:
    """Returns a chain whose ops each read a random earlier value too."""
    graph, random = Graph(VECTOR), Random(0)
    values: list[SSAValue] = [graph.block.args[0]]
    for number in range(ops):
        values.append(graph.call((AddOp, MultiplyOp)[number % 2], values[-1], random.choice(values)))
    return graph.module(values[-1])


def dense(ops: int) -> ModuleOp:
    """Returns ops that each read two random earlier values, some with many users; unused values are concatenated."""
    graph, random = Graph(VECTOR), Random(0)
    values: list[SSAValue] = [graph.block.args[0]]
    for number in range(ops):
        left = random.choice(values[-100:]) if number % 2 else random.choice(values)
        values.append(graph.call((AddOp, MultiplyOp)[number % 2], left, random.choice(values)))
    return graph.module(graph.joined([value for value in values if value.first_use is None]))


def functions(ops: int) -> ModuleOp:
    """Returns a chain of `ops / 10` private functions, each calling the next, that all call a small shared function."""
    shared = Graph(VECTOR)
    functions = [shared.function("shared", shared.call(ReluOp, shared.block.args[0]), "private")]
    count = max(ops // 10, 1)
    for number in range(count):
        graph = Graph(VECTOR)
        value: SSAValue = graph.block.args[0]
        for _ in range(3):
            value = graph.call(SigmoidOp, graph.call(ExpOp, value))
        value = graph.add(CallOp("shared", [value], [VECTOR]))
        if number + 1 < count:
            value = graph.add(CallOp(f"f{number + 1}", [value], [VECTOR]))
        functions.append(graph.function("main" if number == 0 else f"f{number}", value, "private" if number else None))
    return ModuleOp(list[Operation](functions))


def library(ops: int) -> ModuleOp:
    """Returns `ops / 10` private functions, all called by `@main`."""
    graph = Graph(VECTOR)
    value: SSAValue = graph.block.args[0]
    functions: list[Operation] = []
    for number in range(ops // 10):
        callee = Graph(VECTOR)
        end: SSAValue = callee.block.args[0]
        for _ in range(4):
            end = callee.call(SigmoidOp, callee.call(ExpOp, end))
        functions.append(callee.function(f"f{number}", end, "private"))
        value = graph.add(CallOp(f"f{number}", [value], [VECTOR]))
    return ModuleOp([graph.function("main", value), *functions])


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


def lets(ops: int) -> ModuleOp:
    """Returns `ops / 2` let bindings in sequence, which Relay would nest."""
    graph = Graph(VECTOR)
    value: SSAValue = graph.block.args[0]
    for number in range(ops // 2):
        value = graph.call((ReluOp, ExpOp, SigmoidOp)[number % 3], value)
        value = graph.call(LetOp, value, variable=f"v{number}")
    return graph.module(value)


def ifs(ops: int) -> ModuleOp:
    """Returns nested branches, with the ops distributed evenly over the levels, before the inner branch."""
    condition = tensor_type([], i1)
    outer = graph = Graph(condition, VECTOR)
    flag, value = outer.block.args
    levels: list[tuple[Graph, SSAValue]] = []
    for _ in range(NESTED):
        for number in range(max(ops // NESTED - 2, 1)):
            value = graph.call((ReluOp, ExpOp, SigmoidOp)[number % 3], value)
        levels.append((graph, value))
        graph = Graph()
    graph.block.add_op(YieldOp(value))
    for around, before in reversed(levels):
        other = Graph()
        other.block.add_op(YieldOp(before))
        result = around.add(IfOp(flag, VECTOR, Region(graph.block), Region(other.block)))
        if around is not outer:
            around.block.add_op(YieldOp(result))
        else:
            return outer.module(result)
        graph = around
    raise ValueError("there is no level")


GRAPHS: dict[str, Callable[[int], ModuleOp]] = {
    make.__name__: make
    for make in (chain, ladder, wide, fan, tree, first, skips, dense, functions, library, network, lets, ifs)
}
