"""NonMaxSuppression."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts, shape_of


@converts("NonMaxSuppression", since=10, attributes=("center_point_box",))
def convert_non_max_suppression(node: NodeView) -> SSAValue:
    """`vision.all_class_non_max_suppression`, cut to the selected boxes.

    By default, the limit of boxes is 0 and the overlap threshold is 0. Without a score threshold all boxes are
    candidates, except those whose score is NaN.
    """
    from_center = node.attribute_flag("center_point_box")
    boxes, scores = _corners(node) if from_center else node.input(0), node.input(1)
    if node.optional_input(4) is None:
        # A score of -inf exceeds no threshold; the least finite score exceeds -inf.
        scores = node.emit("maximum", scores, node.emit_constant(np.array(np.finfo(np.float32).min), "least"))
    most = _scalar(node, 2, np.array(0, np.int64))
    thresholds = [_scalar(node, 3, np.array(0, np.float32)), _scalar(node, 4, np.array(-np.inf, np.float32))]
    both = node.emit("vision.all_class_non_max_suppression", boxes, scores, most, *thresholds)
    begin, step = (node.emit_ints([value], name) for value, name in ((0, "begin"), (1, "step")))
    return node.emit("dyn.strided_slice", node.tuple_field(both, 0), begin, node.tuple_field(both, 1), step)


def _scalar(node: NodeView, index: int, default: np.ndarray[tuple[()], np.dtype[np.generic]]) -> SSAValue:
    """Input `index`, of rank 0 or one element, as a tensor of rank 0."""
    value = node.optional_input(index)
    if value is None:
        return node.emit_constant(default, f"default{index}")
    return value if shape_of(value.type) == () else node.reshape(value, ())


def _corners(node: NodeView) -> SSAValue:
    """Converts boxes from centre, width and height to corners; a negative width or height is 0."""
    center, size = (
        node.emit("strided_slice", node.input(0), begin=(first,), end=(first + 2,), axes=(2,)) for first in (0, 2)
    )
    half = node.emit("divide", node.emit("nn.relu", size), node.scalar_like(2.0, 0))
    corners = [node.emit(name, center, half) for name in ("subtract", "add")]
    return node.emit("concatenate", node.make_tuple(corners), axis=2)
