"""MelWeightMatrix of numbers that are constant or inputs, against onnx's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from support.onnx_models import model, value
from support.onnx_reference import check, results

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay


@pytest.mark.parametrize(("bands", "length"), [(8, 16), (20, 512), (5, 30)])
def test_mel_weights(bands: int, length: int) -> None:
    numbers = {"m": np.array(bands), "n": np.array(length), "r": np.array(16000)}
    hertz = {"l": np.array(20, np.float32), "h": np.array(7600, np.float32)}
    check("MelWeightMatrix", {}, {**numbers, **hertz}, opset=17)


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        ("m", np.float32(np.nan), r"input #0 \(num_mel_bins\) .* nan"),
        ("n", np.uint64(2**64 - 1), "must be a signed 64-bit integer"),
        ("r", np.float32(np.inf), r"input #2 \(sample_rate\)"),
        ("l", np.float32(-700), r"frequencies from -700.0 to 7600..* places"),
        ("h", np.float32(np.nan), "frequencies from 20.0 to nan have no places"),
    ],
)
def test_mel_weights_of_what_is_none(name: str, number: Any, words: str) -> None:
    numbers = {"m": np.array(8), "n": np.array(16), "r": np.array(16000)}
    hertz = {"l": np.array(20, np.float32), "h": np.array(7600, np.float32)}
    with pytest.raises(XRelayError, match=words):
        results("MelWeightMatrix", {}, {**numbers, **hertz, name: np.asarray(number)}, opset=17)


def test_mel_weights_of_frequencies_without_end() -> None:
    numbers = {"m": np.array(4), "n": np.array(16), "r": np.array(16000), "l": np.array(0.0), "h": np.array(1e308)}
    node = helper.make_node("MelWeightMatrix", list(numbers), ["y"])
    (found,) = run_relay(import_onnx(model([node], [], ["y"], initializers=numbers)), [])
    assert np.isfinite(found).all()


def test_mel_weights_of_the_run() -> None:
    names = ["m", "n", "r", "l", "h"]
    inputs = [*(value(name, (), TensorProto.INT64) for name in names[:3]), *(value(name, ()) for name in names[3:])]
    proto = model([helper.make_node("MelWeightMatrix", names, ["y"])], inputs, ["y"], opset=17)
    compiled, reference = compile(proto), ReferenceEvaluator(proto)
    for bands, length, low, high in ((8, 16, 20, 7600), (20, 512, 0, 8000), (5, 30, 20, 7600), (3, 1, 20, 7600)):
        feed = [np.array(bands), np.array(length), np.array(16000), np.float32(low), np.float32(high)]
        expected: Any = reference.run(None, dict(zip(names, feed, strict=True)))
        np.testing.assert_allclose(compiled(*map(np.asarray, feed))[0], expected[0], rtol=1e-4, atol=1e-6)
    for bad in ((-1, 16, 16000), (3, 0, 16000), (3, 16, 0)):
        with pytest.raises(XRelayError):
            compiled(*map(np.array, bad), np.array(0, np.float32), np.array(10, np.float32))
