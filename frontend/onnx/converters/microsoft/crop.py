"""CropAndResize."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, converts

_METHODS = {"bilinear": "bilinear", "nearest": "nearest_neighbor"}


@converts(
    "CropAndResize",
    domain=MICROSOFT,
    attributes=("extrapolation_value", "mode"),
    limits="a constant crop_size",
)
def convert_crop_and_resize(node: NodeView) -> SSAValue:
    """`image.crop_and_resize`."""
    return node.emit(
        "image.crop_and_resize",
        node.input(0),
        node.input(1),
        node.input(2),
        crop_size=node.required_ints(3, "crop_size"),
        method=_METHODS[node.attribute_string("mode", "bilinear", tuple(_METHODS))],
        extrapolation_value=node.attribute_float("extrapolation_value", 0.0),
    )
