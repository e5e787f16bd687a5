"""The demo runs to its end and reports that native code equals the interpreter (on a small model, to save time)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from xrelay.frontend.onnx import light_models
from xrelay.tools import demo


def small_model(name: str) -> onnx.ModelProto:
    """Returns a small model instead of that of the demo: an image as input, scores as output, and a few kernels."""
    assert name == "resnet50"
    rng = np.random.default_rng(0)
    shapes = {"w": (16, 3, 3, 3), "b": (16,), "v": (16, 10)}
    weights = [
        numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), key) for key, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["data", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("MatMul", ["f", "v"], ["m"], "dense"),
        helper.make_node("Softmax", ["m"], ["y"], "softmax"),
    ]
    ends = [("data", [1, 3, 16, 16]), ("y", [1, 10])]
    inputs, outputs = ([helper.make_tensor_value_info(key, TensorProto.FLOAT, shape)] for key, shape in ends)
    return helper.make_model(helper.make_graph(nodes, "small", inputs, outputs, weights), ir_version=8)


def test_the_demo_checks_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(light_models, "light_model", small_model)
    monkeypatch.setattr(sys, "argv", ["demo", "--output", str(tmp_path / "demo")])
    monkeypatch.setenv("XRELAY_CACHE_DIR", "set by the demo, and set back by pytest")
    assert demo.main() == 0
    said = capsys.readouterr().out
    assert "checked   equals the interpreter" in said
    stages = sorted(path.name for path in (tmp_path / "demo" / "stages").iterdir())
    assert all(name in said for name in stages if name[0].isdigit())
    assert "from the cache" in said
    assert said.count(" s  kernels ") == 1
    assert "None" not in said
