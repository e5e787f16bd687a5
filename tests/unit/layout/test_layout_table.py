"""docs/layouts.md states the effect of layouts on every registered op: checked for each op."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import bf16, f32, i1, i8, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op, relay_ops
from xrelay.dialects.relay.core.sliding_window import ImageOp
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRenaming
from xrelay.dialects.relay.layout.layout import Layout, LayoutError
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.ops.image.resize import ResizeOp
from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.dialects.relay.ops.nn.pool import PoolOp, WindowPoolOp
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.passes.layout.alter_op_layout import SIMPLER

PAGE = Path(__file__).parents[3] / "docs" / "layouts.md"


OWN = [
    name
    for name, op in relay_ops().items()
    if op.__module__.startswith("xrelay.dialects.") and "propagate_layouts" in vars(op)
]
"""The ops that override layout propagation; the others behave as their base class, and may have a row."""


def value(*shape: int, of: Attribute = f32) -> SSAValue:
    return Block(arg_types=[tensor_type(shape, of)]).args[0]


def quantised(count: int) -> list[SSAValue]:
    """Scales and zero points."""
    return [value(of=element) for _ in range(count) for element in (f32, i32)]


def filters() -> list[SSAValue]:
    """A quantised image and filters."""
    return [value(1, 32, 4, 4, of=i8), value(32, 32, 1, 1, of=i8)]


def zeros_and_scales() -> list[SSAValue]:
    """Two zero points, two scales."""
    return [value(of=element) for element in (i32, i32, f32, f32)]


def image() -> SSAValue:
    return value(1, 32, 4, 4)


SPECIAL: dict[str, Callable[[type[RelayOp]], RelayOp]] = {
    **dict.fromkeys(
        ("annotation.compiler_begin", "annotation.compiler_end"), lambda op: op.call(image(), compiler="acme")
    ),
    "nn.bias_add": lambda op: op.call(image(), value(32)),
    "nn.batch_norm": lambda op: op.call(image(), *(value(32) for _ in range(4))),
    "nn.pad": lambda op: op.call(image(), value(), pad_width=(0, 0, 0, 0, 1, 1, 1, 1)),
    "variance": lambda op: op.call(image(), value(1, 32, 1, 1), axis=(2, 3)),
    "nn.softmax": lambda op: op.call(image(), axis=1),
    "nn.fast_softmax": lambda op: op.call(image(), axis=1),
    "nn.log_softmax": lambda op: op.call(image(), axis=1),
    "nn.layer_norm": lambda op: op.call(image(), value(4), value(4)),
    "nn.rms_norm": lambda op: op.call(image(), value(4)),
    "nn.instance_norm": lambda op: op.call(image(), value(32), value(32)),
    "nn.group_norm": lambda op: op.call(image(), value(32), value(32), num_groups=4),
    "nn.l2_normalize": lambda op: op.call(image(), eps=1e-5, axis=(1,)),
    "nn.contrib_conv2d_winograd_without_weight_transform": lambda op: op.call(image(), value(6, 6, 32, 32)),
    "nn.contrib_conv2d_split": lambda op: op.call(value(1, 32, 8, 8), value(32, 64, 3, 3, of=bf16)),
    "nn.contrib_dense_split": lambda op: op.call(value(2, 1, 32, of=bf16), value(2, 1, 16, 16, 2, of=bf16)),
    "nn.prelu": lambda op: op.call(image(), value(32)),
    "qnn.avg_pool2d": lambda op: op.call(value(1, 32, 4, 4, of=i8), *quantised(2), pool_size=2, layout="NCHW"),
    "qnn.conv2d": lambda op: op.call(*filters(), *zeros_and_scales()),
    "qnn.conv2d_transpose": lambda op: op.call(*filters(), *zeros_and_scales()),
    **dict.fromkeys(
        ("qnn.quantize", "qnn.dequantize"),
        lambda op: op.call(value(1, 32, 4, 4, of=f32 if op.relay_name() == "qnn.quantize" else i8), *quantised(1)),
    ),
    **dict.fromkeys(
        ("qnn.add", "qnn.subtract", "qnn.mul"), lambda op: op.call(*[value(1, 32, 4, 4, of=i8)] * 2, *quantised(3))
    ),
    "qnn.concatenate": lambda op: op.call(
        TupleOp.call(*[value(1, 32, 4, 4, of=i8)] * 2),
        *(TupleOp.call(*[each] * 2) for each in quantised(1)),
        *quantised(1),
        axis=1,
    ),
    "qnn.leaky_relu": lambda op: op.call(value(1, 32, 4, 4, of=i8), *quantised(2), alpha=0.1),
    "qnn.softmax": lambda op: op.call(value(1, 32, 4, 4, of=i8), *quantised(2), axis=1),
    **dict.fromkeys(
        (
            *("qnn.requantize", "qnn.abs", "qnn.exp", "qnn.erf", "qnn.log"),
            *("qnn.rsqrt", "qnn.sqrt", "qnn.sigmoid", "qnn.tanh", "qnn.hardswish"),
        ),
        lambda op: op.call(value(1, 32, 4, 4, of=i8), *quantised(2)),
    ),
    "nn.dense": lambda op: op.call(value(1, 32), value(16, 32)),
    "nn.matmul": lambda op: op.call(value(1, 32), value(32, 16)),
    "nn.batch_matmul": lambda op: op.call(value(1, 3, 32), value(1, 16, 32)),
    "nn.contrib_dense_pack": lambda op: op.call(value(1, 32), value(1, 32, 16), weight_layout="NC16n"),
    "cast": lambda op: op.call(image(), dtype="float64"),
    "reinterpret": lambda op: op.call(image(), dtype="int32"),
    "clip": lambda op: op.call(image(), a_min=0.0, a_max=6.0),
    "concatenate": lambda op: op.call(TupleOp.call(image(), image()), axis=1),
    "split": lambda op: op.call(image(), indices_or_sections=2, axis=1),
    "reshape": lambda op: op.call(image(), newshape=(1, -1)),
    "contrib_reverse_reshape": lambda op: op.call(image(), newshape=(1, -1)),
    "squeeze": lambda op: op.call(image(), axis=(0,)),
    "expand_dims": lambda op: op.call(image(), axis=1),
    "layout_transform": lambda op: op.call(image(), src_layout="NCHW", dst_layout="NCHW8c"),
    "dyn.topk": lambda op: op.call(image(), Block(arg_types=[tensor_type((1,), i64)]).args[0]),
    "unique": lambda op: op.call(value(8)),
    "vision.all_class_non_max_suppression": lambda op: op.call(
        value(1, 6, 4), value(1, 2, 6), Block(arg_types=[tensor_type((), i64)]).args[0], value(), value()
    ),
    "dyn.strided_slice": lambda op: op.call(image(), *[Block(arg_types=[tensor_type((1,), i64)]).args[0]] * 3),
    "strided_slice": lambda op: op.call(image(), begin=(1,), end=(3,)),
    "reverse_sequence": lambda op: op.call(image(), Block(arg_types=[tensor_type((1,), i64)]).args[0]),
    "tile": lambda op: op.call(image(), reps=(2, 1)),
    "repeat": lambda op: op.call(image(), repeats=2, axis=1),
    "broadcast_to": lambda op: op.call(image(), shape=(2, 1, 32, 4, 4)),
    "searchsorted": lambda op: op.call(value(8), image()),
    "full": lambda op: op.call(value(), shape=(1, 32, 4, 4)),
    "full_like": lambda op: op.call(image(), value()),
    "stack": lambda op: op.call(TupleOp.call(image(), image()), axis=1),
    "zeros": lambda op: op.call(shape=(1, 32, 4, 4)),
    "ones": lambda op: op.call(shape=(1, 32, 4, 4)),
    "cast_like": lambda op: op.call(image(), value(of=i64)),
    "broadcast_to_like": lambda op: op.call(image(), image()),
    "reshape_like": lambda op: op.call(image(), value(32, 16)),
    "slice_like": lambda op: op.call(image(), value(1, 32, 2, 2)),
    "collapse_sum_like": lambda op: op.call(image(), value(1, 32, 1, 1)),
    "sequence_mask": lambda op: op.call(image(), value(32), axis=0),
    "matrix_set_diag": lambda op: op.call(image(), value(1, 32, 4)),
    "meshgrid": lambda op: op.call(TupleOp.call(value(4), value(4))),
    "einsum": lambda op: op.call(TupleOp.call(image(), image()), equation="nchw,nchw->nc"),
    "nn.depth_to_space": lambda op: op.call(image(), block_size=2),
    "nn.space_to_depth": lambda op: op.call(image(), block_size=2),
    "nn.batch_to_space_nd": lambda op: op.call(image(), block_shape=(1,), crops=(0, 0)),
    "nn.space_to_batch_nd": lambda op: op.call(image(), block_shape=(2,), paddings=(0, 0)),
    "nn.dilate": lambda op: op.call(image(), strides=(1, 1, 2, 2)),
    "trilu": lambda op: op.call(image(), Block(arg_types=[tensor_type((), i64)]).args[0]),
    "take": lambda op: op.call(image(), value(3, of=i64), axis=1),
    "gather": lambda op: op.call(image(), value(1, 32, 4, 4, of=i64), axis=1),
    "gather_nd": lambda op: op.call(image(), value(2, 3, of=i64)),
    "scatter_elements": lambda op: op.call(image(), value(1, 3, 4, 4, of=i64), value(1, 3, 4, 4), axis=1),
    "scatter_nd": lambda op: op.call(image(), value(2, 3, of=i64), value(3, 4, 4)),
    "sparse_to_dense": lambda op: op.call(value(3, 4, of=i64), value(3), value(), output_shape=[1, 32, 4, 4]),
    "dyn.sparse_to_dense": lambda op: op.call(value(3, 4, of=i64), value(4, of=i64), value(3), value()),
    "sparse_reshape": lambda op: op.call(value(3, 4, of=i64), value(4, of=i64), value(2, of=i64)),
    "nn.sparse_conv2d": lambda op: op.call(image(), value(5, 8), value(5, of=i32), value(3, of=i32), layout="NCHW"),
    "one_hot": lambda op: op.call(value(1, 32, 4, 4, of=i64), value(), value(), depth=4),
    "where": lambda op: op.call(Block(arg_types=[tensor_type((1, 32, 4, 4), i1)]).args[0], image(), image()),
}


def table() -> dict[str, list[str]]:
    """Op → its behaviour in NHWC and in NCHW16c, as stated on the page."""
    rows = [line.split("|")[1:-1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {name: [cell.strip() for cell in row[1:3]] for row in rows for name in re.findall("`([^`]+)`", row[0])}


def answer(op: RelayOp, layout: Layout) -> str:
    try:
        found = op.propagate_layouts([layout, *[None] * (len(op.operands) - 1)])
    except LayoutError:
        return "stays"
    if isinstance(found, LayoutRenaming):
        return "renames"
    if isinstance(found, LayoutDecision):
        return "follows" if found.result is not None else "stays"
    return "elementwise" if type(op) in SIMPLER else "stays"


def example(name: str) -> RelayOp:
    op = get_relay_op(name)
    if name in SPECIAL:
        return SPECIAL[name](op)
    if issubclass(op, FilterOp | PoolOp):
        return windowed(op)
    if issubclass(op, ResizeOp):
        return op.call(value(1, 32, *[4] * len(op.AXES)), size=[6] * len(op.AXES))
    return op.call(image(), image()) if issubclass(op, BinaryBroadcastOp) else op.call(image(), **kept(op))


def windowed(op: type[FilterOp | PoolOp]) -> RelayOp:
    """A convolution or pool with its own number of spatial axes."""
    data = value(1, 32, *[4] * len(op.AXES))
    if issubclass(op, FilterOp):
        return op.call(data, value(32, 32, *[1] * len(op.AXES)))
    return op.call(data, pool_size=2) if issubclass(op, WindowPoolOp) else op.call(data)


def kept(op: type[RelayOp]) -> dict[str, tuple[int, int]]:
    """Attributes that make reductions keep axes, so that the result has a layout."""
    names = op.get_irdl_definition().properties
    return {"axis": (2, 3)} if "keepdims" in names else {}


def behaviour(name: str) -> list[str]:
    """The behaviour of the op in NHWC and in NCHW16c."""
    op = example(name)
    axes = op.AXES if isinstance(op, ImageOp) else "HW"
    channels_last = LayoutPermutation.of(Layout.parse(f"N{axes}C"), Layout.parse(f"NC{axes}"))
    return [answer(op, channels_last), answer(op, Layout.parse(f"NC{axes}16c"))]


def test_the_page_states_the_behaviour_of_each_op() -> None:
    rows = table()
    assert {name: behaviour(name) for name in {*OWN, *rows}} == rows
