"""Every graph pass leaves the values of random programs as they are: exactly, or within rounding where it says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.annotation import StopFusionOp
from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.nn_activation import DropoutOp, ReluOp, SoftmaxOp
from xrelay.dialects.relay.nn_conv import Conv2DOp
from xrelay.dialects.relay.nn_dense import BiasAddOp, DenseOp
from xrelay.dialects.relay.nn_norm import BatchNormOp
from xrelay.dialects.relay.nn_pool import AvgPool2DOp, GlobalAvgPool2DOp, MaxPool2DOp
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.scope import LetOp
from xrelay.dialects.relay.tensor_elementwise import AddOp, MultiplyOp, SigmoidOp
from xrelay.dialects.relay.tensor_join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.tensor_shape import BatchFlattenOp
from xrelay.dialects.relay.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.types import shape_of, tensor_type
from xrelay.interpreters.relay import run_relay
from xrelay.lowering.registry import load_pass
from xrelay.passes.relay.pipelines import default_passes

T = TypeVar("T")

EXACT = [
    "relay-to-basic-block-normal-form",
    "relay-dead-code-elimination",
    "relay-to-a-normal-form",
    "relay-to-a-normal-form,relay-to-graph-normal-form",
    "relay-remove-unused-functions",
    "relay-eliminate-common-subexpr",
    "relay-fold-constant",
    "relay-canonicalize-ops",
    "relay-fuse-ops",
    "relay-fuse-ops{fuse-opt-level=0}",
    "relay-fuse-ops{max-depth=3}",
    "relay-fuse-ops{max-function-args=4}",
    "relay-fuse-ops{link-params=true}",
    "relay-fuse-ops,relay-defuse-ops",
    "relay-outline-fused",
    "relay-fuse-ops,relay-outline-fused",
]
ROUNDED = [
    "relay-simplify-inference",
    "relay-simplify-inference,relay-fold-constant,relay-fold-scale-axis,relay-fold-constant",
    "relay-alter-op-layout",
    'relay-convert-layout{desired-layouts="nn.conv2d:NHWC:HWIO","nn.max_pool2d:NHWC"}',
    'relay-canonicalize-ops,relay-convert-layout{desired-layouts="nn.conv2d:NCHW16c"}',
    'relay-convert-layout{desired-layouts="nn.conv2d:NHWC"},relay-convert-layout{desired-layouts="nn.conv2d:NCHW8c"},'
    'relay-convert-layout{desired-layouts="nn.conv2d:NCHW:default","nn.avg_pool2d:NCHW"}',
    "relay-simplify-inference,relay-canonicalize-ops,relay-alter-op-layout{vector-lanes=8}",
    *[
        ",".join([*default_passes(level), f"relay-fuse-ops{{fuse-opt-level={level}}}", "relay-outline-fused"])
        for level in range(4)
    ],
]


class Program:
    """A function of one image, built op by op; `images` are its values of rank 4."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        extent = self.pick([4, 5])
        self.type = tensor_type((1, self.pick([3, 16, 32]), extent, extent), f32)
        self.block = Block(arg_types=[self.type])
        self.images: list[SSAValue] = [self.block.args[0]]

    def pick(self, choices: Sequence[T]) -> T:
        return choices[int(self.random.integers(len(choices)))]

    def coin(self) -> bool:
        return self.pick([True, False])

    def call(self, op: type[RelayOp], *operands: SSAValue, **attributes: object) -> SSAValue:
        new = op.call(*operands, **attributes)
        self.block.add_op(new)
        return new.results[0]

    def constant(self, *shape: int, positive: bool = False) -> SSAValue:
        values = self.random.standard_normal(shape).astype(np.float32)
        op = ConstantOp.of(np.abs(values) + np.float32(0.1) if positive else values, f"w{len(list(self.block.ops))}")
        self.block.add_op(op)
        return op.result

    def field(self, tuple_value: SSAValue, index: int) -> SSAValue:
        return self.call(TupleGetItemOp, tuple_value, index=index)

    def finish(self, returned: list[SSAValue]) -> ModuleOp:
        self.block.add_op(ReturnOp(*returned))
        types = [value.type for value in returned]
        return ModuleOp([FuncOp("main", ([self.type], types), Region(self.block))])


def extents(value: SSAValue) -> tuple[int, ...]:
    return tuple(dim for dim in shape_of(value.type) if isinstance(dim, int))


def add_conv(p: Program, x: SSAValue) -> SSAValue:
    channels, extent = extents(x)[1:3]
    depthwise = p.coin()
    size = p.pick([1, 3]) if extent >= 3 else 1
    filters = channels if depthwise else p.pick([3, 4, 8, 16, 24, 32])
    weight = p.constant(filters, 1 if depthwise else channels, size, size)
    pad, stride = size // 2, p.pick([1, 2])
    return p.call(
        Conv2DOp, x, weight, groups=channels if depthwise else 1, padding=(pad,) * 4, strides=(stride, stride)
    )


def add_batch_norm(p: Program, x: SSAValue) -> SSAValue:
    channels = extents(x)[1]
    gamma, beta, mean = (p.constant(channels) for _ in range(3))
    normalised = p.call(BatchNormOp, x, gamma, beta, mean, p.constant(channels, positive=True), scale=p.coin())
    return p.field(normalised, 0)


def add_factor(p: Program, x: SSAValue) -> SSAValue:
    channels = extents(x)[1]
    shape = p.pick([(), (channels, 1, 1), (1, channels, 1, 1), (1, 1, 1, 1), extents(x)])
    return p.call(p.pick([AddOp, MultiplyOp]), x, p.constant(*shape, positive=p.coin()))


def add_residual(p: Program, x: SSAValue) -> SSAValue:
    same = [value for value in p.images if value.type == x.type]
    return p.call(p.pick([AddOp, MultiplyOp]), x, p.pick(same))


def add_join(p: Program, x: SSAValue) -> SSAValue:
    size = extents(x)[2:]
    # Joining a value with itself again and again would grow without limit.
    others = [value for value in p.images if extents(value)[2:] == size and extents(value)[1] <= 32]
    if not others or extents(x)[1] > 32:
        return x
    return p.call(ConcatenateOp, p.call(TupleOp, x, p.pick(others)), axis=1)


def add_split(p: Program, x: SSAValue) -> SSAValue:
    if extents(x)[1] % 2:
        return x
    parts = p.call(SplitOp, x, indices_or_sections=2, axis=1)
    p.images.append(p.field(parts, 0))
    return p.field(parts, 1)


def add_simple(p: Program, x: SSAValue) -> SSAValue:
    kind = p.pick(range(8))
    if kind == 0:
        return p.field(p.call(DropoutOp, x), p.pick([0, 1]))
    if kind == 1:
        return p.call(BiasAddOp, x, p.constant(extents(x)[1]))
    if kind == 2:
        return p.call(LetOp, x, variable="v")
    if kind in (3, 4) and extents(x)[2] >= 2:
        return p.call((MaxPool2DOp, AvgPool2DOp)[kind - 3], x, pool_size=(2, 2), strides=(2, 2))
    return p.call((ReluOp, SigmoidOp, StopFusionOp)[kind % 3], x)


def add_layer(p: Program, x: SSAValue) -> SSAValue:
    """Convolution, batch norm or bias, and relu, as networks have them."""
    x = add_conv(p, x)
    x = add_batch_norm(p, x) if p.coin() else p.call(BiasAddOp, x, p.constant(extents(x)[1]))
    return p.call(ReluOp, x) if p.coin() else x


STEPS = [
    add_layer,
    add_layer,
    add_conv,
    add_batch_norm,
    add_factor,
    add_factor,
    add_residual,
    add_residual,
    add_join,
    add_split,
    add_simple,
    add_simple,
]


def add_classifier(p: Program, x: SSAValue) -> SSAValue:
    pooled = p.call(BatchFlattenOp, p.call(GlobalAvgPool2DOp, x))
    units = p.pick([5, 8, 16])
    row = p.call(DenseOp, pooled, p.constant(units, extents(pooled)[1]))
    return p.call(SoftmaxOp, p.call(MultiplyOp, row, p.constant(units)))


def random_program(seed: int) -> ModuleOp:
    p = Program(seed)
    for _ in range(p.pick(range(3, 14))):
        x = p.pick(p.images[-3:])
        x = p.pick(STEPS)(p, x)
        p.images.append(x)
    last = p.images[-1]
    returned = [last, *(p.pick(p.images) for _ in range(p.pick(range(3))))]
    if p.coin():
        returned.append(add_classifier(p, last))
    if p.coin():
        returned = [p.call(TupleOp, *returned)]
    return p.finish(returned)


programs = st.integers(0, 10**6).map(random_program)


def apply(module: ModuleOp, pipeline: str) -> ModuleOp:
    from xdsl.utils.arg_spec import parse_pipeline

    changed = module.clone()
    for spec in parse_pipeline(pipeline):
        load_pass(spec.name).from_spec(spec).apply(Context(), changed)
    changed.verify()
    return changed


def run(module: ModuleOp) -> list[np.ndarray]:
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    image = np.random.default_rng(1).standard_normal(extents(main.args[0]))
    return run_relay(module, [image.astype(np.float32)])


FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("pipeline", EXACT)
@FEW
@given(module=programs)
def test_exact_passes_change_no_bit(pipeline: str, module: ModuleOp):
    before, after = run(module), run(apply(module, pipeline))
    assert len(before) == len(after)
    for left, right in zip(before, after, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("pipeline", ROUNDED, ids=lambda text: text[:60])
@FEW
@given(module=programs)
def test_other_passes_change_values_within_rounding(pipeline: str, module: ModuleOp):
    before, after = run(module), run(apply(module, pipeline))
    assert len(before) == len(after)
    for left, right in zip(before, after, strict=True):
        scale = float(np.abs(left).max()) if left.size else 0.0
        np.testing.assert_allclose(right, left, rtol=1e-4, atol=1e-5 * max(scale, 1.0))


@FEW
@given(module=programs)
def test_outlined_main_holds_constants_calls_and_a_return(module: ModuleOp):
    outlined = apply(module, "relay-fuse-ops,relay-outline-fused")
    functions = [op for op in outlined.ops if isinstance(op, FuncOp)]
    main = next(function for function in functions if function.sym_name.data == "main")
    assert all(isinstance(op, ConstantOp | CallOp | ReturnOp) for op in main.body.block.ops)
    assert all("relay.primitive" in function.attributes for function in functions if function is not main)
    end = main.body.block.last_op
    assert end is not None
    # Each output is the result of a call, and of one only.
    assert len(set(end.operands)) == len(end.operands)
    assert all(isinstance(value.owner, CallOp) for value in end.operands)


@FEW
@given(module=programs)
def test_fusing_twice_is_fusing_once(module: ModuleOp):
    once = apply(module, "relay-fuse-ops")
    assert str(apply(once, "relay-fuse-ops")) == str(once)
