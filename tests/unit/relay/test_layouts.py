"""What operators make of operands in other layouts, and layouts themselves."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64

from xrelay import relay
from xrelay.dialects.relay.layout_behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layouts import Layout, LayoutError, transform_shape
from xrelay.dialects.relay.op_base import RelayOp, ints

NCHW8C = Layout.parse("NCHW8c")


def op_of(expr) -> RelayOp:
    return expr.value.owner


def image(channels=16):
    return relay.var("x", shape=(1, channels, 6, 6))


def weight(out_channels, in_channels):
    return np.ones((out_channels, in_channels, 3, 3), np.float32)


def test_conv2d_follows_blocks_that_divide_its_channels():
    decision = op_of(relay.nn.conv2d(image(), weight(32, 16))).propagate_layouts([NCHW8C, None])
    assert isinstance(decision, LayoutDecision)
    assert decision.operands == (NCHW8C, Layout.parse("OIHW8i8o"))
    assert decision.result == NCHW8C
    assert decision.properties["kernel_layout"] == StringAttr("OIHW8i8o")


@pytest.mark.parametrize(
    ("expr", "layout", "reason"),
    [
        (lambda: relay.nn.conv2d(image(12), weight(32, 12)), "NCHW8c", "blocks of 8 do not divide the 12 in-channels"),
        (lambda: relay.nn.conv2d(image(), weight(12, 16)), "NCHW8c", "blocks of 8 do not divide the 12 out-channels"),
        (lambda: relay.nn.conv2d(image(), weight(32, 8), groups=2), "NCHW8c", "grouped"),
        (lambda: relay.nn.conv2d(image(), weight(32, 16)), "NCHW2h", "does not work in layout NCHW2h"),
        (lambda: relay.nn.softmax(image(), axis=1), "NCHW8c", "splits the axis along which softmax"),
        (lambda: relay.nn.max_pool2d(image(), (2, 2)), "NCHW2w", "pooling does not work in layout NCHW2w"),
        (lambda: relay.nn.bias_add(image(), np.ones(16, np.float32)), "NCHW8c", "the bias is added"),
        (lambda: relay.split(image(), 2, axis=1), "NCHW8c", "splits the axis that is cut"),
        (lambda: relay.concatenate([image(), image(4)], axis=1), "NCHW8c", "blocks of 8 do not divide a field"),
        (lambda: relay.mean(image(), (2, 3)), "NCHW8c", "drops axes"),
        (lambda: relay.mean(image(), (1,), keepdims=True), "NCHW8c", "splits an axis that is reduced"),
        (lambda: relay.reshape(image(), (1, -1)), "NCHW8c", "keeps the order of the elements"),
        (lambda: relay.transpose(image()), "NCHW8c", "orders the axes itself"),
        (lambda: relay.nn.pad(image(), ((0, 0), (1, 1), (0, 0), (0, 0))), "NCHW8c", "splits an axis that is padded"),
        (lambda: relay.add(image(), np.ones((16, 1, 1), np.float32)), "NCHW8c", "rank 3 is broadcast to rank 4"),
    ],
)
def test_refusals_say_why(expr, layout, reason):
    op = op_of(expr())
    answer = op.propagate_layouts([Layout.parse(layout), *[None] * (len(op.operands) - 1)])
    assert isinstance(answer, LayoutRefusal)
    assert reason in answer.reason


@pytest.mark.parametrize(
    "expr",
    [
        lambda: relay.nn.relu(image()),
        lambda: relay.nn.max_pool2d(image(), (2, 2)),
        lambda: relay.nn.global_avg_pool2d(image()),
        lambda: relay.add(image(), image()),
        lambda: relay.concatenate([image(), image(8)], axis=1),
        lambda: relay.split(image(), 2, axis=2),
        lambda: relay.nn.softmax(image(), axis=2),
        lambda: relay.mean(image(), (2, 3), keepdims=True),
        lambda: relay.nn.pad(image(), ((0, 0), (0, 0), (1, 1), (1, 1))),
        lambda: relay.cast(image(), "float16"),
    ],
)
def test_followers_keep_the_layout(expr):
    op = op_of(expr())
    answer = op.propagate_layouts([NCHW8C, *[None] * (len(op.operands) - 1)])
    assert isinstance(answer, LayoutDecision)
    assert answer.operands[0] == NCHW8C
    assert answer.result == NCHW8C


def test_axes_move_with_the_layout():
    channels_last = Layout.parse("NCHW8c")
    decision = op_of(relay.nn.softmax(image(), axis=-1)).propagate_layouts([channels_last])
    assert isinstance(decision, LayoutDecision)
    assert decision.properties == {"axis": IntegerAttr(3, i64)}
    padded = op_of(relay.nn.pad(image(), ((0, 0), (0, 0), (1, 1), (2, 2)))).propagate_layouts([channels_last, None])
    assert isinstance(padded, LayoutDecision)
    assert ints(padded.properties["pad_width"]) == (0, 0, 0, 0, 1, 1, 2, 2, 0, 0)


def test_shapes_between_layouts():
    assert transform_shape((1, 16, 6, 6), Layout.parse("NCHW"), NCHW8C) == (1, 2, 6, 6, 8)
    assert transform_shape((1, 2, 6, 6, 8), NCHW8C, Layout.parse("NHWC")) == (1, 6, 6, 16)
    assert transform_shape((1, 3, 6, 6), Layout.parse("NCHW"), NCHW8C) == (1, 1, 6, 6, 8)


@pytest.mark.parametrize("text", ["", "NCHx", "NCHWN", "N8cCHW", "NCHW0c", "NCHW8c4c"])
def test_ill_formed_layouts(text):
    with pytest.raises(LayoutError):
        Layout.parse(text)
