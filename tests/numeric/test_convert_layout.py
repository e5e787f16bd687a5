"""Operators on images that `ConvertLayout` brings to other layouts compute what they computed before."""

from __future__ import annotations

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
"""Operator → an expression with it, and the layouts that it is brought to."""


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
