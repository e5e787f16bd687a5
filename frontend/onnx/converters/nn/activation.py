"""Relu and Dropout; Dropout only at inference, since the elements it drops are random."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts
from xrelay.frontend.onnx.converters.shared.elementwise import converts_unary

converts_unary("Relu", "nn.relu")


@converts("Dropout", since=1, until=11, attributes=("ratio", "is_test", "consumed_inputs"), limits="inference")
@converts("Dropout", since=12, attributes=("seed",), limits="training, except with ratio 0")
def convert_dropout(node: NodeView) -> list[SSAValue]:
    """The data unchanged, as at inference or with a ratio of 0; the mask is all true."""
    trains = node.optional_input(2) is not None and node.required_scalar(2, "training_mode")
    if trains and (node.optional_input(1) is None or float(node.required_scalar(1, "ratio")) != 0):
        raise node.error("input 'training_mode' is true: random dropout is not supported")
    data = node.input(0)
    if not any(node.outputs[1:]):
        return [data]
    return [data, _true_mask(node)]


def _true_mask(node: NodeView) -> SSAValue:
    extents = node.shape(0)
    known = tuple(extent for extent in extents if isinstance(extent, int))
    if len(known) == len(extents):
        return node.emit_filled(np.ones((), np.bool_), known, "mask")
    return node.emit("cast", node.emit("ones_like", node.input(0)), dtype=np.dtype(np.bool_))
