"""DFT and STFT in the interpreter against numpy and onnx's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper
from support.onnx_models import model, value
from support.onnx_reference import check, results

from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(11)


def normal(*shape: int) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.grid(2)
@pytest.mark.parametrize("words", [{}, {"onesided": 1}, {"inverse": 1}])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("length", [None, 1, 5, 9])
def test_transforms(words: dict[str, int], parts: int, length: int | None) -> None:
    if parts == 2 and "onesided" in words:
        return
    constants = {"_length": None} if length is None else {"length": np.array(length)}
    for axis in (1, -2, 2):
        check("DFT", {"x": normal(2, 6, 7, parts)}, {**constants, "axis": np.array(axis)}, **words)


@pytest.mark.parametrize("length", [8, 9])
def test_a_half_spectrum_goes_back_to_the_signal(length: int) -> None:
    signal = normal(2, length)
    half = np.fft.rfft(signal, axis=1)
    parts = np.stack([half.real, half.imag], -1).astype(np.float32)
    node = helper.make_node("DFT", ["x", "n", "a"], ["y"], inverse=1, onesided=1)
    proto = model(
        [node], [value("x", parts.shape)], ["y"], initializers={"n": np.array(length), "a": np.array(1)}, opset=20
    )
    (found,) = run_relay(import_onnx(proto), [parts])
    np.testing.assert_allclose(found[..., 0], signal, rtol=1e-4, atol=1e-5)


def test_extents_may_be_open_and_old_opsets_have_an_attribute() -> None:
    check("DFT", {"x": normal(3, 6, 1)}, {}, opset=17, dims=("n", 6, 1), axis=1)
    check("DFT", {"x": normal(3, 6, 1)}, {}, opset=17, dims=("n", "m", 1), axis=0)


@pytest.mark.parametrize("onesided", [0, 1])
def test_short_transforms(onesided: int) -> None:
    window = np.hanning(8).astype(np.float32)
    for constants in (
        {"step": np.array(3), "window": window, "_length": None},
        {"step": np.array(5), "_window": None, "length": np.array(7)},
        {"step": np.array(20), "window": window, "length": np.array(8)},
    ):
        check("STFT", {"x": normal(2, 20, 1)}, constants, opset=17, onesided=onesided)


def test_a_step_of_the_run() -> None:
    window = np.hanning(8).astype(np.float32)
    node = helper.make_node("STFT", ["x", "step", "window"], ["y"])
    inputs = [value("x", (2, 20, 1)), helper.make_tensor_value_info("step", 7, ())]
    module = import_onnx(model([node], inputs, ["y"], initializers={"window": window}, opset=17))
    signal = normal(2, 20, 1)
    for step in (1, 4, 13):
        (found,) = run_relay(module, [signal, np.array(step)])
        frames = np.stack([signal[:, at : at + 8, 0] * window for at in range(0, 13, step)], 1)
        spectrum = np.fft.rfft(frames)
        np.testing.assert_allclose(found, np.stack([spectrum.real, spectrum.imag], -1), rtol=1e-4, atol=1e-4)
    with pytest.raises(XRelayError):
        run_relay(module, [signal, np.array(0)])


@pytest.mark.parametrize(
    ("op", "shape", "constants", "words"),
    [
        ("DFT", (2, 6, 3), {}, "the last axis has one or two parts"),
        ("DFT", (2, 6, 1), {"n": np.array(0)}, "a transform of length 0"),
        ("DFT", (2, 6, 1), {"n": np.array(2**20)}, "would take"),
        ("DFT", (2, 6, 1), {"_n": None, "a": np.array(2)}, "the last axis has one or two parts"),
        ("STFT", (2, 6, 1), {"s": np.array(1), "_w": None, "n": np.array(7)}, "frames of 7 elements of a signal of 6"),
        ("STFT", (2, 6, 1), {"s": np.array(0), "_w": None, "n": np.array(3)}, "frames every 0 elements"),
        ("STFT", (2, 6, 1), {"s": np.array(1)}, r"window.*frame_length"),
        ("STFT", (2, 6, 1), {"s": np.array(1), "w": np.ones(3, np.float32), "n": np.array(4)}, "for frames of 4"),
    ],
)
def test_refusals(op: str, shape: tuple[int, ...], constants: dict[str, Any], words: str) -> None:
    with pytest.raises(XRelayError, match=words):
        results(op, {"x": np.zeros(shape, np.float32)}, constants)


def test_a_step_that_no_second_frame_takes() -> None:
    node = helper.make_node("STFT", ["x", "s", "", "n"], ["y"])
    arrays = {"s": np.array(2**64 - 1, np.uint64), "n": np.array(6)}
    signal = normal(1, 6, 1)
    (found,) = run_relay(import_onnx(model([node], [value("x", (1, 6, 1))], ["y"], initializers=arrays)), [signal])
    np.testing.assert_allclose(found[0, 0, :, 0], np.fft.rfft(signal[0, :, 0]).real, rtol=1e-4, atol=1e-5)
