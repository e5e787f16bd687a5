"""Image operators compute the same after `ConvertLayout` converts them to other layouts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

X, SMALL = relay.var("x", shape=(2, 4, 6, 5)), relay.var("v", shape=(3, 4, 3, 3))
SIGNAL, VOLUME = relay.var("x", shape=(2, 4, 7)), relay.var("x", shape=(1, 2, 3, 2, 3))
OFFSETS = relay.var("o", shape=(2, 18, 4, 3))
ROIS = relay.const(np.array([[0, 0, 0, 3, 4], [1, 1, 1, 4, 5]], np.float32))

CASES: dict[str, tuple[relay.Expr, list[str]]] = {
    "nn.conv1d_transpose": (
        relay.nn.conv1d_transpose(SIGNAL, relay.var("v", shape=(4, 2, 3)), strides=2, groups=2),
        ["NWC"],
    ),
    "nn.conv2d_transpose": (
        relay.nn.conv2d_transpose(X, relay.var("v", shape=(4, 3, 3, 2)), strides=2),
        ["NHWC", "HWIO"],
    ),
    "nn.conv3d_transpose": (
        relay.nn.conv3d_transpose(VOLUME, relay.var("v", shape=(2, 3, 2, 2, 2))),
        ["NDHWC"],
    ),
    "nn.deformable_conv2d": (relay.nn.deformable_conv2d(X, OFFSETS, SMALL), ["NHWC", "default"]),
    "image.resize1d": (relay.image.resize1d(SIGNAL, [8]), ["NCW2c"]),
    "image.resize2d": (relay.image.resize2d(X, (9, 4)), ["NHWC"]),
    "image.resize3d": (relay.image.resize3d(VOLUME, (2, 3, 4)), ["NDHWC"]),
    "vision.roi_align": (relay.vision.roi_align(X, ROIS, (2, 3), 1.0, 2), ["NHWC", "default"]),
}
"""Operator → an expression with it, and the layouts to which it is converted."""


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", CASES)
def test_there_and_back(op: str) -> None:
    expr, layouts = CASES[op]
    variables = relay.analysis.free_vars(expr)
    module = relay.IRModule.from_expr(relay.Function(variables, relay.nn.relu(expr)))
    changed = transform.ConvertLayout({op: layouts})(module)
    assert layouts[0] in str(changed)
    rng = np.random.default_rng(4)
    inputs = [rng.standard_normal([int(extent) for extent in each.shape]).astype(np.float32) for each in variables]
    (expected,) = run_relay(module, inputs)
    for found in (run_relay(changed, inputs), xrelay.compile(changed, cache=False, threads=1).run(inputs)):
        np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-5)
    back = {"nn.conv2d_transpose": ["NCHW", "IOHW"], "nn.deformable_conv2d": ["NCHW"]}.get(op)
    if back is not None:
        (again,) = run_relay(transform.ConvertLayout({op: back})(changed), inputs)
        np.testing.assert_allclose(again, expected, rtol=1e-4, atol=1e-5)


FOLLOWERS: dict[str, Callable[[relay.Expr], relay.Expr]] = {
    "argmax": lambda y: relay.argmax(y, axis=[2, 3]),
    "argmin": lambda y: relay.argmin(y, axis=1, keepdims=True),
    "argmax in another order": lambda y: relay.argmax(y, axis=[1, 2]),
    "argmin of all": lambda y: relay.argmin(y),
    "strided_slice": lambda y: relay.strided_slice(y, begin=[0, 1, -2], end=[2, 7, -9], strides=[1, 2, -1]),
    "strided_slice of axes": lambda y: relay.strided_slice(y, begin=[1, 0], end=[2, 3], axes=[3, 0], slice_mode="size"),
    "slice_like": lambda y: relay.slice_like(y, relay.nn.avg_pool2d(y, pool_size=(3, 2)), axes=[2, 3]),
    "slice_like of all": lambda y: relay.slice_like(y, relay.nn.avg_pool2d(y, pool_size=(3, 2))),
    "slice_like of channels": lambda y: relay.slice_like(y, relay.split(y, 2, axis=1)[0], axes=[1]),
    "sort": lambda y: relay.sort(y, axis=2, is_ascend=False),
    "argsort": lambda y: relay.argsort(y, axis=1),
    "topk": lambda y: relay.topk(y, k=2, axis=3),
    "topk of channels": lambda y: relay.topk(y, k=3, axis=1, ret_type="indices"),
    "layer_norm": lambda y: relay.nn.layer_norm(y, *vectors(5), axis=3),
    "layer_norm of channels": lambda y: relay.nn.layer_norm(y, *vectors(8), axis=1, center=False),
    "rms_norm": lambda y: relay.nn.rms_norm(y, vectors(6)[0], axis=2),
    "instance_norm": lambda y: relay.nn.instance_norm(y, *vectors(8)),
    "group_norm": lambda y: relay.nn.group_norm(y, *vectors(8), num_groups=4),
    "l2_normalize": lambda y: relay.nn.l2_normalize(y, eps=1e-5, axis=[3, 1]),
}
"""Ops that take the layout of their data, on images of shape (2, 8, 6, 5)."""


def vectors(count: int) -> tuple[relay.Expr, relay.Expr]:
    """A factor and a summand for each of `count` elements."""
    rng = np.random.default_rng(count)
    first, second = (relay.const(rng.uniform(0.5, 2, count).astype(np.float32)) for _ in range(2))
    return first, second


@pytest.mark.grid(3)
@pytest.mark.parametrize("layout", ["NHWC", "NCHW4c", "HWNC"])
@pytest.mark.parametrize("name", FOLLOWERS)
def test_what_follows_a_convolution(name: str, layout: str) -> None:
    rng = np.random.default_rng(7)
    conv = relay.nn.conv2d(X, relay.const(rng.standard_normal((8, 4, 1, 1)).astype(np.float32)))
    module = relay.IRModule.from_expr(relay.Function([X], FOLLOWERS[name](conv)))
    changed = transform.ConvertLayout({"nn.conv2d": [layout, "default"]})(module)
    assert f'data_layout = "{layout}"' in str(changed)
    inputs = [rng.standard_normal((2, 4, 6, 5)).astype(np.float32)]
    for expected, found in zip(run_relay(module, inputs), run_relay(changed, inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", ["argmax", "strided_slice", "topk", "layer_norm", "l2_normalize"])
def test_what_follows_blocks_natively(name: str) -> None:
    rng = np.random.default_rng(8)
    first = relay.nn.conv2d(X, relay.const(rng.standard_normal((8, 4, 1, 1)).astype(np.float32)))
    module = relay.IRModule.from_expr(relay.Function([X], FOLLOWERS[name](relay.nn.relu(first))))
    inputs = [rng.standard_normal((2, 4, 6, 5)).astype(np.float32)]
    with transform.PassContext(opt_level=3):
        results = xrelay.compile(module, cache=False, threads=1).run(inputs)
    for expected, found in zip(run_relay(module, inputs), results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_quantised_transposed_convolution() -> None:
    x, weight = relay.var("x", shape=(1, 4, 5, 5), dtype="int8"), relay.var("w", shape=(4, 2, 3, 3), dtype="int8")
    y = relay.qnn.op.conv2d_transpose(x, weight, 1, 2, 0.5, 0.25, kernel_size=(3, 3), channels=2)
    module = relay.IRModule.from_expr(relay.Function([x, weight], y))
    changed = transform.ConvertLayout({"qnn.conv2d_transpose": ["NHWC", "default"]})(module)
    assert 'kernel_layout = "HWIO"' in str(changed)
    rng = np.random.default_rng(5)
    inputs = [rng.integers(-9, 9, shape).astype(np.int8) for shape in ((1, 4, 5, 5), (4, 2, 3, 3))]
    (expected,) = run_relay(module, inputs)
    for found in (run_relay(changed, inputs), xrelay.compile(changed, cache=False, threads=1).run(inputs)):
        np.testing.assert_array_equal(found[0], expected)
