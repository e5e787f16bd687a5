"""RoiAlign: regions of images, resampled to one size."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, converts

_FIRST = ("mode", "output_height", "output_width", "sampling_ratio", "spatial_scale")


@converts("RoiAlign", since=10, until=15, attributes=_FIRST)
@converts("RoiAlign", since=16, attributes=(*_FIRST, "coordinate_transformation_mode"))
def convert_roi_align(node: NodeView) -> SSAValue:
    """`vision.roi_align`; from opset 16 on regions are shifted by half a pixel, which Relay's `aligned` does not do."""
    legal = ("half_pixel", "output_half_pixel")
    moved = node.attribute_string("coordinate_transformation_mode", legal[node.opset < 16], legal) == legal[0]
    mode = node.attribute_string("mode", "avg", ("avg", "max"))
    size = [node.attribute_int(name, 1, check=lambda value: value >= 1) for name in ("output_height", "output_width")]
    return node.emit(
        "vision.roi_align",
        node.input(0),
        _regions(node, 0.5 if moved else 0.0),
        pooled_size=size,
        spatial_scale=1.0,
        sample_ratio=node.attribute_int("sampling_ratio", 0, check=lambda value: value >= 0),
        # The maximum is over the terms of the interpolation, not over its results.
        mode="avg" if mode == "avg" else "max_of_terms",
        aligned=moved,
    )


def _regions(node: NodeView, offset: float) -> SSAValue:
    """For each region the index of its image, in a type that holds it, and its corners in pixels minus `offset`."""
    if (len(node.shape(1)), len(node.shape(2))) != (2, 1):
        raise node.error(f"regions {node.input(1).type} in images {node.input(2).type}; (regions, 4) is expected")
    wide = "float64" if str(node.element_type(1)) == "f64" else "float32"
    images = node.emit("cast", node.emit("expand_dims", node.input(2), axis=1), dtype=wide)
    corners = node.emit("cast", node.input(1), dtype=wide)
    scale = node.attribute_float("spatial_scale", 1.0)
    corners = node.emit("multiply", corners, node.scalar(scale, corners)) if scale != 1.0 else corners
    corners = node.emit("subtract", corners, node.scalar(offset, corners)) if offset else corners
    return node.emit("concatenate", node.make_tuple([images, corners]), axis=1)
