"""BatchNormalization (inference) and Dropout (inference)."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts


def _training_refusal(node: NodeView) -> str | None:
    if node.attribute_int("training_mode", 0):
        return "attribute 'training_mode' = 1: only inference is supported"
    read = [output for output in node.outputs[1:] if output]
    if read:
        return f"output {read[0]!r} belongs to training, and the model reads it"
    return None


def _old_form_refusal(node: NodeView) -> str | None:
    if node.attribute_int("spatial", 1) != 1:
        return "attribute 'spatial' = 0: statistics per activation are not supported"
    return _training_refusal(node)


@converts(
    "BatchNormalization",
    since=7,
    until=8,
    attributes=("epsilon", "momentum", "spatial"),
    supports=_old_form_refusal,
    limits="inference, statistics per channel",
)
@converts(
    "BatchNormalization",
    since=9,
    attributes=("epsilon", "momentum", "training_mode"),
    supports=_training_refusal,
    limits="inference",
)
def convert_batch_normalization(node: NodeView) -> SSAValue:
    """`nn.batch_norm` over axis 1, field 0; `momentum` belongs to training."""
    statistics = [node.input(index) for index in range(1, 5)]
    epsilon = node.attribute_float("epsilon", 1e-5)
    result = node.emit("nn.batch_norm", node.input(0), *statistics, axis=1, epsilon=epsilon)
    return node.tuple_field(result, 0)


@converts("Dropout", since=1, until=11, attributes=("ratio", "is_test", "consumed_inputs"), limits="inference")
@converts("Dropout", since=12, attributes=("seed",), limits="inference")
def convert_dropout(node: NodeView) -> list[SSAValue]:
    """`nn.dropout`, which inference drops; the mask, where asked for, is all true."""
    ratio = node.attribute_float("ratio", 0.5)
    if node.optional_input(1) is not None:
        ratio = float(node.required_scalar(1, "ratio"))
    if node.optional_input(2) is not None and node.required_scalar(2, "training_mode"):
        raise node.error("input 'training_mode' is true: only inference is supported")
    result = node.tuple_field(node.emit("nn.dropout", node.input(0), rate=ratio), 0)
    if not any(node.outputs[1:]):
        return [result]
    return [result, _true_mask(node)]


def _true_mask(node: NodeView) -> SSAValue:
    extents = node.shape(0)
    known = tuple(extent for extent in extents if isinstance(extent, int))
    if len(known) != len(extents):
        raise node.error(f"the mask of an input of shape {extents} has no known shape")
    return node.emit_filled(np.ones((), np.bool_), known, "mask")
