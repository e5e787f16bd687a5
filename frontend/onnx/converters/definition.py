"""The names that converters use, in one import, as `dialects/relay/op_definition.py` has those of operators."""

from __future__ import annotations

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import element_type, is_half, numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_static, shape_of
from xrelay.frontend.onnx.bodies import Iteration, emit_loop
from xrelay.frontend.onnx.converters.shared.axes import (
    axes_are_computed,
    axis_count,
    extents_left,
    extents_of,
    named_axes,
    of_every_axis,
    reshaped,
)
from xrelay.frontend.onnx.converters.shared.channels import channels_first, channels_last
from xrelay.frontend.onnx.converters.shared.cut import END_OF_AXIS, Bounds, cut, cut_open, slice_between
from xrelay.frontend.onnx.converters.shared.dtypes import FLOAT32, INT32, as_input, converted, dtype_of_attribute
from xrelay.frontend.onnx.converters.shared.extents import (
    axis_attribute,
    extent_value,
    joined_axes,
    known_axes,
    known_axis,
    known_extent,
    merged_axes,
    static_shape,
)
from xrelay.frontend.onnx.converters.shared.half_precision import in_f32, rounded_once
from xrelay.frontend.onnx.converters.shared.numbers import Integers, Number, Numbers, padded, scalar_input, unless
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, TRADITIONAL, ConvertFunction, converts
from xrelay.index_algebra.dims import AnyDim, Dim, certainly_differ, certainly_equal, shape_text

__all__ = [
    "END_OF_AXIS",
    "FLOAT32",
    "INT32",
    "MICROSOFT",
    "TRADITIONAL",
    "AnyDim",
    "Array",
    "Bounds",
    "ConvertFunction",
    "Dim",
    "Integers",
    "Iteration",
    "NodeView",
    "Number",
    "Numbers",
    "as_input",
    "axes_are_computed",
    "axis_attribute",
    "axis_count",
    "certainly_differ",
    "certainly_equal",
    "channels_first",
    "channels_last",
    "converted",
    "converts",
    "cut",
    "cut_open",
    "dtype_of_attribute",
    "element_type",
    "element_type_of",
    "emit_loop",
    "extent_value",
    "extents_left",
    "extents_of",
    "in_f32",
    "is_half",
    "is_static",
    "joined_axes",
    "known_axes",
    "known_axis",
    "known_extent",
    "merged_axes",
    "named_axes",
    "numpy_dtype",
    "of_every_axis",
    "padded",
    "reshaped",
    "rounded_once",
    "scalar_input",
    "shape_of",
    "shape_text",
    "slice_between",
    "static_shape",
    "unless",
]
