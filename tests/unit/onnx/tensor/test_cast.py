"""BitCast against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from support.one_node import both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (np.float32, np.uint32),
        (np.int64, np.float64),
        (np.float16, ml_dtypes.bfloat16),
        (np.int16, np.float16),
        (np.uint8, np.int8),
        (bool, np.int8),
        (np.uint8, bool),
    ],
)
def test_bits_are_kept(source: type[Any], target: type[Any]) -> None:
    width = np.dtype(source).itemsize
    x = RNG.integers(0, 2 if source is bool else 256, 6 * width).astype(np.uint8).view(source).reshape(2, 3)
    expected = x != 0 if target is bool else x.view(target)
    proto = node_model("BitCast", [x], 26, to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
    proto.ir_version = 13
    for (found,) in both(proto, [x]):
        np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8), strict=True)


@pytest.mark.parametrize(
    ("to", "message"),
    [(TensorProto.INT16, "f32 and i16 have different widths"), (TensorProto.STRING, "is STRING"), (99, "illegal")],
)
def test_types_that_are_refused(to: int, message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model("BitCast", [np.zeros(3, np.float32)], 26, to=to))
