"""A shape rule is written once: for named extents it agrees with all values of the names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from xdsl.dialects.builtin import TensorType, TupleType, f32
from xdsl.ir import Block

from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.shared.types import shape_of, tensor_type
from xrelay.errors import ConstraintError
from xrelay.index_algebra.dims import substitute, symbol

n, h, w, c = (symbol(name) for name in "nhwc")

CASES = {
    "conv2d": ("nn.conv2d", [(n, 8, h, w), (4, 8, 3, 3)], {"strides": (2, 1), "padding": (1, 0, 1, 2)}),
    "conv2d_grouped": ("nn.conv2d", [(n, 2 * c, h, w), (2 * c, c, 1, 1)], {"groups": 2}),
    "conv2d_nhwc": ("nn.conv2d", [(n, h, w, 3), (2, 2, 3, c)], {"data_layout": "NHWC", "kernel_layout": "HWIO"}),
    "max_pool2d": ("nn.max_pool2d", [(n, c, h, w)], {"pool_size": 3, "strides": 2, "ceil_mode": True}),
    "global_avg_pool2d": ("nn.global_avg_pool2d", [(n, c, h, w)], {}),
    "dense": ("nn.dense", [(n, c), (h, c)], {}),
    "bias_add": ("nn.bias_add", [(n, c, h), (c,)], {}),
    "batch_norm": ("nn.batch_norm", [(n, c, h), (c,), (c,), (c,), (c,)], {}),
    "lrn": ("nn.lrn", [(n, c, h)], {}),
    "batch_flatten": ("nn.batch_flatten", [(n, c, h, w)], {}),
    "reshape": ("reshape", [(n, 4, 2 * h)], {"newshape": (-3, -4, 2, -1)}),
    "reshape_rest": ("reshape", [(n, c, 6)], {"newshape": (0, -1, 3)}),
    "transpose": ("transpose", [(n, c, h)], {"axes": (2, 0, 1)}),
    "pad": ("nn.pad", [(h, w), ()], {"pad_width": (1, 2, 0, 3)}),
    "split": ("split", [(h, 6 * n)], {"indices_or_sections": 3, "axis": 1}),
    "split_at": ("split", [(n + 7, c)], {"indices_or_sections": (2, 5)}),
    "layout_transform": ("layout_transform", [(n, c, h, w)], {"src_layout": "NCHW", "dst_layout": "NHWC4c"}),
    "sum": ("sum", [(n, c, h)], {"axis": (0, 2)}),
    "add": ("add", [(n, 1, h), (c, 1)], {}),
    "expand_dims": ("expand_dims", [(n, c)], {"axis": 1}),
    "layer_norm": ("nn.layer_norm", [(n, h, c), (c,), (c,)], {}),
    "group_norm": ("nn.group_norm", [(n, 4 * c, h), (4 * c,), (4 * c,)], {"num_groups": 4}),
    "prelu": ("nn.prelu", [(n, c, h), (c,)], {}),
    "softmax": ("nn.softmax", [(n, c)], {}),
}


def result_shapes(name, shapes, attributes):
    """The shapes of the result's tensors."""
    block = Block(arg_types=[tensor_type(shape, f32) for shape in shapes])
    type = get_relay_op(name).call(*block.args, **attributes).results[0].type
    fields = type.types.data if isinstance(type, TupleType) else [type]
    assert all(isinstance(field, TensorType) for field in fields)
    return [shape_of(field) for field in fields]


@pytest.mark.parametrize("case", CASES)
@given(numbers=st.tuples(*[st.integers(3, 12)] * 4))
@settings(max_examples=examples(15), deadline=None)
def test_names_stand_for_every_number(case, numbers):
    name, shapes, attributes = CASES[case]
    values = dict(zip("nhwc", numbers, strict=True))
    named = result_shapes(name, shapes, attributes)
    static = result_shapes(name, [substitute(shape, values) for shape in shapes], attributes)
    assert [substitute(shape, values) for shape in named] == static


def test_names_that_certainly_differ_are_refused():
    with pytest.raises(ConstraintError, match="C2"):
        result_shapes("nn.dense", [(n, c), (4, c + 1)], {})
