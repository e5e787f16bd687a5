"""Images in other layouts: random graphs keep their values, and classic blocks are transformed only at their ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.levels import assert_same, outputs
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.arg_spec import parse_pipeline

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import InputError
from xrelay.interpreters.relay import run_relay
from xrelay.lowering.registry import load_pass
from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE, chosen_passes

Expr = relay.Expr
LAYOUTS = ("NCHW", "NHWC", "NCHW4c", "NCHW8c", "NCHW16c")
POOLS = ("nn.max_pool2d", "nn.avg_pool2d", "nn.global_avg_pool2d")


class Images:
    """A graph of NCHW images, drawn step by step; values are small integers, so that every sum is exact."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.random = np.random.default_rng(draw(st.integers(0, 2**16)))
        channels = draw(st.sampled_from([3, 8, 16, 32]))
        self.images = [relay.var("x", shape=(1, channels, 6, 5))]

    def shape(self, x: Expr) -> tuple[int, ...]:
        return tuple(dim for dim in shape_of(x.value.type) if isinstance(dim, int))

    def constant(self, *shape: int) -> np.ndarray:
        return self.random.integers(-1, 2, shape).astype(np.float32)

    def conv(self, x: Expr) -> Expr:
        channels = self.shape(x)[1]
        kind = self.draw(st.sampled_from(["plain", "plain", "depthwise", "grouped"]))
        groups = {"plain": 1, "depthwise": channels, "grouped": 2 if channels % 2 == 0 else 1}[kind]
        counts = [6, 8, 16, 24, 32] if groups > 1 else [6, 8, 13, 16, 24, 31, 32]
        filters = channels if kind == "depthwise" else self.draw(st.sampled_from(counts))
        size = self.draw(st.sampled_from([1, 3]))
        weight = self.constant(filters, channels // groups, size, size)
        stride = self.draw(st.sampled_from([1, 1, 2]))
        return relay.nn.conv2d(x, weight, strides=stride, groups=groups, padding=size // 2)

    def broadcast(self, x: Expr) -> Expr:
        _, c, h, w = self.shape(x)
        shapes = [(), (w,), (c, 1, 1), (1, c, 1, 1), (h, w), (1, 1, h, w), (1, c, h, w), (1, 1, 1, 1)]
        operation = self.draw(st.sampled_from([relay.add, relay.maximum, relay.subtract]))
        operands = [x, relay.const(self.constant(*self.draw(st.sampled_from(shapes))))]
        return operation(*self.draw(st.permutations(operands)))

    def join(self, x: Expr) -> Expr:
        axis = self.draw(st.sampled_from([1, 1, 2, -1]))
        fits = [y for y in self.images if self.same_but(self.shape(x), self.shape(y), axis % 4)]
        return relay.concatenate([x, self.draw(st.sampled_from([x, *fits]))], axis=axis)

    def same_but(self, left: tuple[int, ...], right: tuple[int, ...], axis: int) -> bool:
        return all(i == axis or a == b for i, (a, b) in enumerate(zip(left, right, strict=True)))

    def split(self, x: Expr) -> Expr:
        axis = self.draw(st.sampled_from([1, 1, 3]))
        extent = self.shape(x)[axis]
        cut = self.draw(st.sampled_from([at for at in (1, extent // 2, 4, 8, 16) if 0 < at < extent] or [0]))
        parts = relay.split(x, 1 if cut == 0 else (cut,), axis=axis)
        return parts[0]

    def reduce(self, x: Expr) -> Expr:
        axes = self.draw(st.sampled_from([(1,), (2, 3), (-1,), (1, 2)]))
        reduced = self.draw(st.sampled_from([relay.sum, relay.max]))(x, axes, keepdims=True)
        return relay.add(reduced, x) if self.draw(st.booleans()) else reduced

    def shuffle(self, x: Expr) -> Expr:
        _, c, h, w = self.shape(x)
        if c % 2:
            return x
        grouped = relay.reshape(x, (1, 2, c // 2, h, w))
        return relay.reshape(relay.transpose(grouped, (0, 2, 1, 3, 4)), (1, c, h, w))

    def turned(self, x: Expr) -> Expr:
        last = relay.nn.relu(relay.transpose(x, (0, 2, 3, 1)))
        return relay.transpose(last, (0, 3, 1, 2))

    def other(self, x: Expr) -> Expr:
        _, c, h, w = self.shape(x)
        choices: list[Callable[[], Expr]] = [
            lambda: relay.nn.relu(x),
            lambda: relay.nn.bias_add(x, self.constant(c), axis=1),
            lambda: relay.nn.bias_add(x, self.constant(w), axis=-1),
            lambda: relay.nn.prelu(x, self.constant(c), axis=1),
            lambda: relay.nn.max_pool2d(x, (3, 3), padding=1),
            lambda: relay.nn.pad(x, ((0, 0), (self.draw(st.sampled_from([0, 8])), 0), (1, 0), (0, 0))),
            lambda: relay.add(x, self.draw(st.sampled_from([y for y in self.images if self.shape(y) == (1, c, h, w)]))),
            lambda: relay.squeeze(relay.expand_dims(x, axis=2), axis=(2,)),
            lambda: relay.layout_transform(
                relay.nn.relu(relay.layout_transform(x, src_layout="NCHW", dst_layout="NHWC")),
                src_layout="NHWC",
                dst_layout="NCHW",
            ),
        ]
        return self.draw(st.sampled_from(choices))()

    def tail(self, x: Expr) -> Expr:
        c = self.shape(x)[1]
        pooled = relay.nn.global_max_pool2d(x)
        units = self.draw(st.sampled_from([5, 16, 19]))
        choices: list[Callable[[], Expr]] = [
            lambda: relay.nn.batch_flatten(x),
            lambda: relay.nn.dense(relay.nn.batch_flatten(pooled), self.constant(units, c)),
            lambda: relay.squeeze(pooled, axis=(2, 3)),
            lambda: relay.reshape(pooled, (-1, c)),
            lambda: relay.sum(x, (2, 3)),
            lambda: relay.sum(x, (1,)),
            lambda: relay.sum(x),
            lambda: relay.transpose(x),
        ]
        return self.draw(st.sampled_from(choices))()


@st.composite
def graphs(draw: st.DrawFn) -> ModuleOp:
    g = Images(draw)
    steps = [g.conv, g.conv, g.conv, g.broadcast, g.join, g.split, g.reduce, g.shuffle, g.turned, g.other, g.other]
    for _ in range(draw(st.integers(2, 9))):
        x = draw(st.sampled_from(g.images[-3:]))
        # Sums must stay below 2 ** 24, up to which every integer is an f32.
        g.images.append(relay.clip(draw(st.sampled_from(steps))(x), -3.0, 3.0))
    last = g.images[-1]
    outputs = [last, g.tail(last), draw(st.sampled_from(g.images))]
    result = relay.Tuple(outputs[: draw(st.integers(1, 3))])
    return relay.Module.from_expr(relay.Function(relay.analysis.free_vars(result), result))


def convert(layout: str) -> str:
    entries = ",".join(f'"{name}:{layout}"' for name in ("nn.conv2d", *POOLS))
    return f"relay-convert-layout{{desired-layouts={entries}}}"


def apply(module: ModuleOp, pipeline: str) -> ModuleOp:
    changed = module.clone()
    for spec in parse_pipeline(pipeline):
        load_pass(spec.name).from_spec(spec).apply(Context(), changed)
        changed.verify()
    return changed


def run(module: ModuleOp) -> list[np.ndarray]:
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    shape = [dim for dim in shape_of(main.args[0].type) if isinstance(dim, int)]
    return run_relay(module, [np.random.default_rng(1).integers(-2, 3, shape).astype(np.float32)])


PIPELINES = [
    *(convert(layout) for layout in LAYOUTS),
    *(f"{convert(layout)},{convert('NCHW')}" for layout in LAYOUTS[1:]),
    f"{convert('NHWC')},relay-alter-op-layout",
    f"{convert('NCHW8c')},{convert('NCHW4c')}",
    "relay-alter-op-layout",
    "relay-alter-op-layout{vector-lanes=8},relay-fold-constant",
]


@pytest.mark.grid(5)
@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda text: text.replace("relay-", "")[:60])
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(module=graphs())
def test_layouts_change_no_value(pipeline: str, module: ModuleOp) -> None:
    before, after = run(module), run(apply(module, pipeline))
    for left, right in zip(before, after, strict=True):
        np.testing.assert_array_equal(left, right)


def weight(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def conv(x: Expr, inputs: int, outputs: int, size: int = 1, groups: int = 1) -> Expr:
    kernel = weight(outputs, inputs // groups, size, size)
    biased = relay.nn.bias_add(relay.nn.conv2d(x, kernel, groups=groups, padding=size // 2), weight(outputs))
    return relay.nn.relu(biased)


def residual(x: Expr) -> Expr:
    first = relay.nn.max_pool2d(conv(x, 16, 32), (3, 3), padding=1)
    return relay.nn.relu(relay.add(conv(conv(first, 32, 32, 3, groups=32), 32, 32), first))


def inception(x: Expr) -> Expr:
    stem = conv(x, 16, 32)
    pooled = relay.nn.max_pool2d(stem, (3, 3), padding=1)
    branches = [conv(stem, 32, 16), conv(conv(stem, 32, 16), 16, 32, 3), conv(pooled, 32, 48)]
    return conv(relay.concatenate(branches, axis=1), 96, 32)


def dense_block(x: Expr) -> Expr:
    state, channels = conv(x, 16, 32), 32
    for _ in range(3):
        scaled = relay.nn.relu(relay.multiply(state, weight(channels, 1, 1)))
        state, channels = relay.concatenate([state, conv(scaled, channels, 16, 3)], axis=1), channels + 16
    return conv(state, channels, 32)


def gated(x: Expr) -> Expr:
    """Squeeze and excitation: a factor for each channel, and one for each position."""
    image = conv(x, 16, 32)
    channels = relay.sigmoid(conv(relay.mean(image, (2, 3), keepdims=True), 32, 32))
    places = relay.sigmoid(relay.mean(image, (1,), keepdims=True))
    return relay.multiply(relay.multiply(image, channels), places)


@pytest.mark.grid(4)
@pytest.mark.parametrize("block", [residual, inception, dense_block, gated])
@pytest.mark.parametrize("start", ["NCHW", "NHWC"])
@pytest.mark.parametrize("layout", ["", "NHWC", "NCHW8c", "NCHW16c"])
def test_classic_blocks_are_transformed_at_their_ends_only(
    block: Callable[[Expr], Expr], start: str, layout: str
) -> None:
    x = relay.var("x", shape=(1, 16, 6, 6))
    before = apply(relay.Module.from_expr(relay.Function([x], block(x))), f"relay-infer-type,{convert(start)}")
    pipeline = [*([convert(layout)] if layout else []), *chosen_passes(DEFAULT_PIPELINE, 2 if layout == "NHWC" else 3)]
    after = apply(before, ",".join(pipeline))
    transforms = [op for op in after.walk() if isinstance(op, LayoutTransformOp)]
    assert not any(isinstance(op.data.owner, ConstantOp) for op in transforms)
    assert len(transforms) == 2
    wanted = {"": "NCHW16c"}.get(layout, layout)
    assert {op.data_layout.data for op in after.walk() if isinstance(op, Conv2DOp)} == {wanted}
    for left, right in zip(run(before), run(after), strict=True):
        np.testing.assert_allclose(right, left, rtol=1e-4, atol=1e-4)


BLOCKED = {
    "max_pool2d": lambda x: relay.nn.max_pool2d(x, (2, 2), layout="NCHW8c"),
    "global_avg_pool2d": lambda x: relay.nn.global_avg_pool2d(x, layout="NCHW8c"),
    "resize2d": lambda x: relay.image.resize2d(x, (3, 4), layout="NCHW8c"),
    "layout_transform": lambda x: relay.layout_transform(x, "NCHW8c", "NCHW4c"),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_blocks_whose_extent_has_a_name(name: str) -> None:
    """The layout determines the block size: the input has this extent, and no kernel reads past shorter blocks."""
    data = relay.var("x", shape=(1, "m", 6, 5, "b"))
    module = relay.Module.from_expr(relay.Function([data], BLOCKED[name](data)))
    rng = np.random.default_rng(0)
    model = compile(module, threads=1, cache=False)
    whole = rng.standard_normal((1, 2, 6, 5, 8)).astype(np.float32)
    assert_same(model.run([whole]), outputs(module, [whole]), "native", 1e-5)
    assert model.inputs[0].shape[-1] == 8
    with pytest.raises(InputError, match="'x'"):
        model.run([whole[..., :4]])
