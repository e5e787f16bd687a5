"""NonMaxSuppression in the interpreter, against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

NAMES = ["boxes", "scores", "most", "iou", "score"]
NUMBERS = {"most": np.array([3]), "iou": np.array([0.4], np.float32), "score": np.array([0.3], np.float32)}


def nms(given: list[str], center_point_box: int) -> onnx.ModelProto:
    """A model of one node that takes the inputs `given` of two images, three classes and seven boxes."""
    shapes = {"boxes": (2, 7, 4), "scores": (2, 3, 7)}
    dtypes = {"most": TensorProto.INT64}
    node = helper.make_node(
        "NonMaxSuppression", [n if n in given else "" for n in NAMES], ["y"], center_point_box=center_point_box
    )
    inputs = [value(n, shapes.get(n, (1,)), dtypes.get(n, TensorProto.FLOAT)) for n in given]
    proto = model([node], inputs, ["y"], opset=11)
    proto.ir_version = 8
    return proto


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("given", [NAMES, NAMES[:2], NAMES[:3], NAMES[:4], [*NAMES[:3], "score"]])
def test_as_onnxruntime_does(given: list[str], center: int) -> None:
    proto = nms(given, center)
    module, session = import_onnx(proto), onnxruntime.InferenceSession(proto.SerializeToString())
    for seed in range(8):
        rng = np.random.default_rng(seed)
        on_grid = rng.integers(-2, 4, (2, 7, 4)), rng.integers(0, 4, (2, 3, 7)) / 4
        boxes, scores = on_grid if seed % 2 else (rng.random((2, 7, 4)), rng.random((2, 3, 7)))
        inputs = {"boxes": boxes.astype(np.float32), "scores": scores.astype(np.float32)}
        inputs["scores"][0, 1, seed % 7] = -np.inf
        inputs |= {name: NUMBERS[name] for name in given[2:]}
        (wanted,) = session.run(None, inputs)
        np.testing.assert_array_equal(run_relay(module, list(inputs.values()))[0], wanted, strict=True)


def test_a_format_of_boxes_that_is_not_known() -> None:
    with pytest.raises(ModelImportError, match="center_point_box"):
        import_onnx(nms(NAMES, 2))
