"""The layouts that operators infer from their operands' layouts, and layouts themselves."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64

from xrelay import relay
from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.broadcast import broadcast_layouts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal, LayoutRenaming
from xrelay.dialects.relay.layout.layout import Layout, LayoutError, transform_shape
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.layout.rank_changes import keeps_order
from xrelay.dialects.relay.meaning.layouts import contiguous
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.relay.registry import evaluate_op

NCHW8C = Layout.parse("NCHW8c")
PADDED = (0, 0, 1, 0, 1, 0, 0, 0, 0, 0)


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
        (lambda: relay.nn.conv2d(image(), weight(16, 4), groups=4), "NCHW8c", "the 4 in-channels of a group"),
        (lambda: relay.nn.conv2d(image(), weight(8, 8), groups=2), "NCHW8c", "the 4 out-channels of a group"),
        (lambda: relay.nn.conv2d(image(), weight(32, 16)), "NCHW2h", "layout NCHW2h"),
        (lambda: relay.nn.softmax(image(), axis=1), "NCHW8c", "splits the axis along which relay.nn.softmax"),
        (lambda: relay.nn.max_pool2d(image(), (2, 2)), "NCHW2w", "layout NCHW2w"),
        (lambda: relay.nn.bias_add(image(), np.ones(16, np.float32)), "NCHW8c", "the bias is added"),
        (lambda: relay.split(image(), 4, axis=1), "NCHW8c", "do not divide the parts cut at 0, 4, 8, 12, 16"),
        (lambda: relay.split(image(), (8, 12), axis=1), "NCHW8c", "do not divide the parts cut at 0, 8, 12, 16"),
        (lambda: relay.concatenate([image(), image(4)], axis=1), "NCHW8c", "blocks of 8 do not divide a field"),
        (lambda: relay.reshape(image(), (1, -1)), "NCHW8c", "order of the elements"),
        (lambda: relay.layout_transform(image(3), "NCHW", "NCHW8c"), "NHWC", "layout NHWC"),
        (lambda: relay.layout_transform(image(3), "NCHW", "NCHW8c"), "NCHW3c", "blocks of NCHW8c"),
        (lambda: relay.nn.pad(image(), ((0, 0), (1, 1), (0, 0), (0, 0))), "NCHW8c", "splits an axis"),
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
        lambda: relay.split(image(), 2, axis=1),
        lambda: relay.split(image(24), (8,), axis=1),
        lambda: relay.nn.pad(image(), ((0, 0), (8, 16), (0, 0), (0, 0))),
        lambda: relay.nn.conv2d(image(), weight(16, 1), groups=16),
        lambda: relay.nn.conv2d(image(), weight(16, 8), groups=2),
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


@pytest.mark.parametrize(
    ("before", "after", "widths"),
    [
        ("NCHW4c", "NCHW", (0, 0, 8, 16, 0, 0, 1, 1)),
        ("NCHW4c", "NCHW8c", (0, 0, 1, 2, 0, 0, 1, 1, 0, 0)),
        ("NCHW4c", "NCHW2c", (0, 0, 4, 8, 0, 0, 1, 1, 0, 0)),
        ("NCHW4c", "NHWC4c", (0, 0, 0, 0, 1, 1, 2, 4, 0, 0)),
        ("NCHW4c", "NCHW16c", None),
    ],
)
def test_whole_blocks_of_padding_are_as_many_elements_in_any_layout(
    before: str, after: str, widths: tuple[int, ...] | None
) -> None:
    x = relay.var("x", shape=(1, 4, 6, 6, 4))
    op = op_of(relay.nn.pad(x, ((0, 0), (2, 4), (0, 0), (1, 1), (0, 0))))
    answer = op.propagate_layouts([LayoutPermutation.of(Layout.parse(after), Layout.parse(before)), None])
    assert isinstance(answer, LayoutRefusal if widths is None else LayoutDecision)
    if isinstance(answer, LayoutDecision):
        assert ints(answer.properties["pad_width"]) == widths


def test_inner_parts_of_an_axis_that_are_padded_stay() -> None:
    x = relay.var("x", shape=(1, 4, 6, 6, 4))
    op = op_of(relay.nn.pad(x, ((0, 0), (0, 0), (0, 0), (0, 0), (1, 0))))
    for after in ("NCHW", "NCHW8c", "NHWC4c"):
        layout = LayoutPermutation.of(Layout.parse(after), Layout.parse("NCHW4c"))
        assert isinstance(op.propagate_layouts([layout, None]), LayoutRefusal)


@pytest.mark.parametrize(
    ("expr", "result", "properties"),
    [
        (lambda: relay.mean(image(), (2, 3)), "NC8c", {"axis": (2, 3)}),
        (lambda: relay.sum(image(), (1,), keepdims=True), "NCHW1c", {"axis": (1, 4)}),
        (lambda: relay.sum(image(), (1,)), "NHW", {"axis": (1, 4)}),
        (lambda: relay.squeeze(image(), axis=(0,)), "CHW8c", {"axis": (0,)}),
        (lambda: relay.split(image(24), (8, 16), axis=1), "NCHW8c", {"indices_or_sections": (1, 2)}),
        (lambda: relay.nn.pad(image(), ((0, 0), (8, 0), (1, 0), (0, 0))), "NCHW8c", {"pad_width": PADDED}),
    ],
)
def test_axes_that_are_split_reduced_or_left_out(expr, result, properties):
    op = op_of(expr())
    answer = op.propagate_layouts([NCHW8C, *[None] * (len(op.operands) - 1)])
    assert isinstance(answer, LayoutDecision)
    assert str(answer.result) == result
    assert {name: ints(answer.properties[name]) for name in properties} == properties


def test_a_flatten_takes_blocks_whose_elements_are_in_order():
    pooled = relay.nn.global_avg_pool2d(image())
    answer = op_of(relay.nn.batch_flatten(pooled)).propagate_layouts([NCHW8C])
    assert isinstance(answer, LayoutDecision)
    assert (answer.result, answer.op) == (None, ReshapeOp)
    assert isinstance(op_of(relay.nn.batch_flatten(image())).propagate_layouts([NCHW8C]), LayoutRefusal)


def test_a_transpose_only_renames_axes():
    answer = op_of(relay.transpose(image(), (0, 2, 3, 1))).propagate_layouts([NCHW8C])
    assert isinstance(answer, LayoutRenaming)
    assert (str(answer.result), str(answer.result.text)) == ("NCHW8c", "NHWC")


def test_an_operand_of_one_channel_is_split_by_one():
    answer = op_of(relay.add(image(), relay.var("m", shape=(1, 1, 6, 6)))).propagate_layouts([NCHW8C, None])
    assert isinstance(answer, LayoutDecision)
    assert [str(layout) for layout in answer.operands] == ["NCHW8c", "NCHW1c"]


def test_shapes_between_layouts():
    assert transform_shape((1, 16, 6, 6), Layout.parse("NCHW"), NCHW8C) == (1, 2, 6, 6, 8)
    assert transform_shape((1, 2, 6, 6, 8), NCHW8C, Layout.parse("NHWC")) == (1, 6, 6, 16)
    assert transform_shape((1, 3, 6, 6), Layout.parse("NCHW"), NCHW8C) == (1, 1, 6, 6, 8)


@pytest.mark.parametrize("text", ["", "NCHx", "NCHWN", "N8cCHW", "NCHW0c", "NCHW8c4c"])
def test_ill_formed_layouts(text):
    with pytest.raises(LayoutError):
        Layout.parse(text)


ORDERS = ["NCHW", "NHWC", "NCHW4c", "NCHW8c", "NHWC8c", "NCHW2c", "NC8cHW"]
SHAPES = [(1, 16, 6, 5), (1, 8, 6, 5), (2, 16, 1, 1), (1, 16, 6, 1), (1, 1, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_order_is_kept_where_a_transform_moves_no_element(shape: tuple[int, ...]) -> None:
    numbered = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    layouts = [layout for layout in map(Layout.parse, ORDERS) if shape[1] % (layout.factor("C") or 1) == 0]
    moved = {layout: run_transform(numbered, layout) for layout in layouts}
    for before, after in product(layouts, repeat=2):
        same = moved[before].tobytes() == moved[after].tobytes()
        assert keeps_order(LayoutPermutation.of(after, before), moved[before].shape) == same, f"{before} {after}"


def run_transform(values: np.ndarray, target: Layout) -> np.ndarray:
    x = relay.var("x", shape=values.shape)
    moved = relay.layout_transform(x, src_layout="NCHW", dst_layout=str(target))
    return run_relay(relay.Module.from_expr(relay.Function([x], moved)), [values])[0]


BLOCKED = Layout.parse("NCHW4c")
PLAIN_OF_BLOCKED = LayoutPermutation.of(Layout.parse("NCHW"), BLOCKED)
WIDER = LayoutPermutation.of(Layout.parse("NCHW16c"), BLOCKED)


def test_an_axis_that_the_text_splits_is_of_extent_1_where_all_its_parts_are():
    # Four channels, one block: a sum of four channels.
    shapes = [(1, 1, 6, 6, 4), (1, 1, 1, 1, 4)]
    assert broadcast_layouts([PLAIN_OF_BLOCKED, None], shapes) == LayoutDecision(
        (PLAIN_OF_BLOCKED, PLAIN_OF_BLOCKED), PLAIN_OF_BLOCKED
    )
    decision = broadcast_layouts([WIDER, None], [(1, 8, 6, 6, 4), (1, 8, 1, 1, 4)])
    assert decision == LayoutDecision((WIDER, WIDER), WIDER)


@pytest.mark.parametrize("layout", [PLAIN_OF_BLOCKED, WIDER], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1, 4), (1, 8, 1, 1, 1)], ids=str)
def test_an_operand_that_is_broadcast_along_one_part_of_an_axis_is_refused(layout, shape):
    answer = broadcast_layouts([layout, None], [(1, 8, 6, 6, 4), shape])
    assert answer == LayoutRefusal("an operand is broadcast along a part of the axis C")


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 1, 1, 1)], ids=str)
def test_an_operand_of_one_element_fits_every_layout(shape):
    assert broadcast_layouts([NCHW8C, None], [(1, 16, 6, 6), shape]) == LayoutDecision((NCHW8C, None), NCHW8C)


@pytest.mark.parametrize("move", [relay.transpose, lambda data: relay.layout_transform(data, "AB", "AB4a")])
def test_ops_that_move_elements_return_views_of_strided_arrays(move):
    array = np.arange(32, dtype=np.float32).reshape(8, 4).T
    assert np.shares_memory(evaluate_op(op_of(move(relay.var("x", shape=(4, 8)))), [array]), array)


@pytest.mark.parametrize("shape", [(6, 5, 1), (6, 5, 2), (6, 5, 3), (6, 5, 8), (6, 5, 0), (7,), ()])
@pytest.mark.parametrize("dtype", [np.uint8, ml_dtypes.bfloat16, np.float32, np.float64])
def test_contiguous_copies_are_equal(shape, dtype):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    views = (
        [array, array.T] if len(shape) < 2 else [array.T, array[::-1], array.swapaxes(0, 1), np.moveaxis(array, 2, 0)]
    )
    for moved in views:
        copy = contiguous(moved)
        assert copy.flags.c_contiguous
        assert copy.dtype == dtype
        np.testing.assert_array_equal(copy, moved)
