"""Weights that a pass has folded are freed at once, not by the garbage collector: a network has gigabytes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from weakref import ReferenceType, ref

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.relay.ops.tensor.unary import ExpOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.lowering.registry import load_pass
from xrelay.passes.infra.source import full_context
from xrelay.runtime.arena import align

Weights = list[ReferenceType[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]]


@pytest.fixture(autouse=True)
def no_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


class Network:
    """Dense layers with weak references to their weights."""

    def __init__(self, *types: Attribute):
        self.block = Block(arg_types=types)
        self.seen: Weights = []

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def weight(self) -> SSAValue:
        array = np.arange(32, dtype=np.float32).reshape(8, 4)
        self.seen.append(ref(array))
        return self.add(ConstantOp.of(array, "w"))

    def scaled(self, value: SSAValue) -> SSAValue:
        return self.add(MultiplyOp.call(value, self.add(ConstantOp.of(np.arange(1, 9, dtype=np.float32)))))

    def module(self, *results: SSAValue) -> ModuleOp:
        self.block.add_op(ReturnOp(*results))
        types = (list(self.block.arg_types), [result.type for result in results])
        return ModuleOp([FuncOp("main", types, Region(self.block))])


DATA = tensor_type([2, 4], f32)


def scaled() -> tuple[ModuleOp, Weights]:
    """A dense layer, multiplied by a factor."""
    net = Network(DATA)
    dense = net.add(DenseOp.call(net.block.args[0], net.weight()))
    return net.module(net.scaled(dense)), net.seen


def computed() -> tuple[ModuleOp, Weights]:
    """A dense layer whose weights are computed from constants."""
    net = Network(DATA)
    exp = net.add(ExpOp.call(net.weight()))
    return net.module(net.add(DenseOp.call(net.block.args[0], exp))), net.seen


def used_twice() -> tuple[ModuleOp, Weights]:
    """As `scaled`, with weights that another layer uses too."""
    net = Network(DATA, DATA)
    shared = net.weight()
    first, second = (net.add(DenseOp.call(argument, shared)) for argument in net.block.args)
    return net.module(net.add(AddOp.call(net.scaled(first), second))), net.seen


@pytest.mark.parametrize(
    ("name", "make", "left"),
    [
        ("relay-fold-scale-axis", scaled, 0),
        ("relay-fold-constant", computed, 0),
        ("relay-fold-scale-axis", used_twice, 1),
    ],
)
def test_folded_weights_are_freed(name: str, make: Callable[[], tuple[ModuleOp, Weights]], left: int) -> None:
    (module, seen), context = make(), full_context()
    for each in ("relay-infer-type", name):
        load_pass(each)().apply(context, module)
    module.verify()
    kept = [op.array for op in module.walk() if isinstance(op, ConstantOp) and op.array.size == 32]
    assert len(kept) == 1 + left
    assert sum(each() is not None for each in seen) == left


def test_what_is_folded_goes_before_the_next_is_copied() -> None:
    (count, size), context = (16, 1 << 20), full_context()
    tracemalloc.start()
    net = Network()
    arrays = [np.full((64, 64, 8, 8), number, np.float32) for number in range(count)]
    weights = [net.add(ConstantOp.of(array, "w")) for array in arrays]
    del arrays
    packed = [net.add(LayoutTransformOp.call(each, src_layout="OIHW", dst_layout="OIHW16i16o")) for each in weights]
    module = net.module(*packed)
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    load_pass("relay-fold-constant")().apply(context, module)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert before > count * size
    assert peak - before < 3 * size
    found = [op.array for op in module.walk() if isinstance(op, ConstantOp)]
    assert [float(array.flat[0]) for array in found] == list(range(count))
    assert all(align(array) is array for array in found)


def test_results_are_freed_after_their_last_use_is_folded() -> None:
    (count, size), context = (20, 1 << 20), full_context()
    net = Network()
    value = net.add(ConstantOp.of(np.zeros(size // 4, np.float32)))
    for number in range(count):
        value = net.add(AddOp.call(value, net.add(ConstantOp.of(np.array(number, np.float32)))))
    module = net.module(value)
    tracemalloc.start()
    load_pass("relay-fold-constant")().apply(context, module)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * size
    (folded,) = [op.array for op in module.walk() if isinstance(op, ConstantOp)]
    assert (folded == sum(range(count))).all()
