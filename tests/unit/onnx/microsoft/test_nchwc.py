"""Models that onnxruntime saved with blocked channels: interpreter and native code against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from fuzz.onnx_oracles import RUNTIME, onnxruntime_outputs
from onnx import helper
from support.one_node import Array, both
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(4)
NCHWC = "com.microsoft.nchwc"
node = helper.make_node


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def saved(proto: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """The model as onnxruntime saves it, with all optimisations for this processor."""
    options = RUNTIME.SessionOptions()
    options.optimized_model_filepath = str(folder / "saved.onnx")
    RUNTIME.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    made = onnx.ModelProto.FromString((folder / "saved.onnx").read_bytes())
    if not any(each.domain == NCHWC for each in made.graph.node):
        pytest.skip("onnxruntime has no blocks on this processor")
    return made


def network(mode: str, places: str) -> onnx.ModelProto:
    """Convolutions of all kinds, pools, sums, and a result with channels last."""
    nodes = [
        node("Conv", ["i0", "w0", "b0"], ["a"], pads=[1, 1, 1, 1]),
        node("MaxPool", ["a"], ["pooled"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Conv", ["pooled", "w1", "b0"], ["apart"], group=24, pads=[1, 1, 1, 1]),
        node("Conv", ["apart", "w2"], ["b"]),
        node("Conv", ["pooled", "w2"], ["c"]),
        node("Add", ["b", "c"], ["sum"]),
        node("Relu", ["sum"], ["bent"]),
        node("AveragePool", ["bent"], ["means"], kernel_shape=[2, 2], pads=[0, 0, 1, 1]),
        node("Concat", ["bent", "means"], ["both"], axis=1),
        node("Resize", ["both", "", "scales"], ["large"], mode=mode, coordinate_transformation_mode=places,
             nearest_mode="floor"),
        node("Conv", ["large", "w3"], ["d"], strides=[2, 1], dilations=[2, 2], group=2),
        node("GlobalAveragePool", ["d"], ["mean"]),
        node("Mul", ["d", "mean"], ["weighed"]),
        node("GlobalMaxPool", ["weighed"], ["greatest"]),
        node("Transpose", ["weighed"], ["last"], perm=[0, 2, 3, 1]),
    ]  # fmt: skip
    weights = {"w0": normal(24, 3, 3, 3), "b0": normal(24), "w1": normal(24, 1, 3, 3), "w2": normal(32, 24, 1, 1)}
    weights |= {"w3": normal(32, 32, 2, 2), "scales": np.array([1, 1, 2, 2], np.float32)}
    made = model(nodes, [value("i0", ("n", 3, 8, "w"))], ["last", "greatest"], initializers=weights, opset=13)
    made.ir_version = 8
    return made


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("mode", "places"), [("nearest", "asymmetric"), ("linear", "half_pixel"), ("linear", "align_corners")]
)
def test_saved_networks(mode: str, places: str, tmp_path: Path) -> None:
    proto, x = saved(network(mode, places), tmp_path), normal(2, 3, 8, 9)
    expected = onnxruntime_outputs(proto, {"i0": x})
    assert expected is not None
    for found in both(proto, [x]):
        for ours, theirs in zip(found, expected, strict=True):
            # Terms of 6e5 cancel: the rounding of a term exceeds 1e-3 of some results.
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-7 * np.abs(theirs).max(), strict=True)


def stored(filters: Array, block: int) -> Array:
    """Filters in whole blocks, as onnxruntime stores them."""
    count, channels, height, width = filters.shape
    if channels % block:
        parts = filters.reshape(count // block, block, channels, height, width)
        return parts.transpose(0, 2, 3, 4, 1).reshape(filters.shape)
    parts = filters.reshape(count // block, block, channels // block, block, height, width)
    return parts.transpose(0, 2, 4, 5, 3, 1).reshape(filters.shape)


def blocked(filters: Array, block: int, **words: Any) -> onnx.ModelProto:
    """A convolution with few channels, then one with these filters, whose number determines the block if it is odd."""
    first = normal(filters.shape[1], 3, 1, 1)
    nodes = [
        node("Conv", ["i0", "first"], ["a"], domain=NCHWC),
        node("Conv", ["a", "filters"], ["b"], domain=NCHWC),
        node("ReorderOutput", ["b"], ["y"], domain=NCHWC, **words),
    ]
    weights = {"first": stored(first, block), "filters": stored(filters, block)}
    made = model(nodes, [value("i0", (1, 3, 4, 5))], ["y"], initializers=weights)
    made.opset_import.append(helper.make_opsetid(NCHWC, 1))
    return made


@pytest.mark.parametrize(
    ("block", "filters", "channels"),
    [(8, normal(24, 16, 2, 2), 21), (8, normal(40, 8, 1, 1), 40), (16, normal(32, 16, 2, 1), 20)],
)
def test_padding_tells_how_many_channels_a_block_has(block: int, filters: Array, channels: int) -> None:
    proto, x = blocked(filters, block, channels=channels, channels_last=1), normal(1, 3, 4, 5)
    first = (
        onnx.numpy_helper.to_array(proto.graph.initializer[0]).reshape(-1, 3, block).transpose(0, 2, 1).reshape(-1, 3)
    )
    plain = model(
        [node("Conv", ["i0", "a"], ["b"]), node("Conv", ["b", "c"], ["y"])],
        [value("i0", (1, 3, 4, 5))],
        ["y"],
        initializers={"a": np.ascontiguousarray(first)[:, :, None, None], "c": filters},
    )
    (expected,) = both(plain, [x])[0]
    for found in both(proto, [x]):
        np.testing.assert_allclose(found[0], expected[:, :channels].transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-4)


def test_a_model_that_does_not_tell_is_read_as_for_this_machine(caplog: pytest.LogCaptureFixture) -> None:
    import_onnx(blocked(normal(32, 16, 1, 1), 16, channels=32))
    assert "in blocks of" in caplog.text


def test_what_is_refused() -> None:
    with pytest.raises(ModelImportError, match="the image has 24"):
        import_onnx(blocked(normal(24, 16, 1, 1), 8, channels=25))
    proto = blocked(normal(24, 16, 1, 1), 8, channels=20)
    proto.graph.input.append(value("filters", (24, 16, 1, 1)))
    del proto.graph.initializer[1]
    with pytest.raises(ModelImportError, match=r"input #1 \(filters\) must be a constant"):
        import_onnx(proto)
