"""DFT and STFT with axes, lengths and sizes known only at run time, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(12)


def number(name: str) -> Any:
    return value(name, (), TensorProto.INT64)


def transform(shape: Any, *, axis: bool, length: bool, **words: int) -> Any:
    names = ["x", "n" if length else "", "a" if axis else ""]
    inputs = [value("x", shape), *([number("n")] if length else []), *([number("a")] if axis else [])]
    return model([helper.make_node("DFT", names, ["y"], **words)], inputs, ["y"], opset=20)


def parts(array: NDArray[Any]) -> NDArray[Any]:
    return np.stack([array.real, array.imag], -1)


@pytest.mark.parametrize(
    ("words", "spectrum"),
    [({}, np.fft.fft), ({"inverse": 1}, np.fft.ifft), ({"onesided": 1}, np.fft.rfft)],
)
def test_an_axis_and_a_length_of_the_run(words: dict[str, int], spectrum: Any) -> None:
    x = RNG.standard_normal((3, 5, 4, 1 if "onesided" in words else 2)).astype(np.float32)
    signal = x[..., 0] if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1]
    module = import_onnx(transform(x.shape, axis=True, length=True, **words))
    for axis, length in ((0, 3), (-2, 4), (1, 1), (-3, 8), (2, 3)):
        (found,) = run_relay(module, [x, np.array(length), np.array(axis)])
        expected = spectrum(signal, length, axis=axis if axis >= 0 else axis + 1)
        np.testing.assert_allclose(found, parts(expected), rtol=1e-4, atol=1e-5)
    for axis, length in ((3, 4), (-1, 4), (4, 4), (-5, 4), (0, 0), (1, -2)):
        with pytest.raises(XRelayError):
            run_relay(module, [x, np.array(length), np.array(axis)])


def test_half_a_spectrum_of_open_length_goes_back_to_the_signal() -> None:
    words = {"inverse": 1, "onesided": 1}
    given = transform(("b", "h", 2), axis=False, length=True, **words)
    without = import_onnx(transform(("b", "h", 2), axis=False, length=False, **words))
    module, compiled = import_onnx(given), compile(given)
    for length in (6, 7):
        x = RNG.standard_normal((2, length)).astype(np.float32)
        half = parts(np.fft.rfft(x)).astype(np.float32)
        for found in (run_relay(module, [half, np.array(length)])[0], compiled(half, np.array(length))[0]):
            np.testing.assert_allclose(found[..., 0], x, rtol=1e-4, atol=1e-5)
        expected = np.fft.irfft(half[..., 0] + 1j * half[..., 1])
        np.testing.assert_allclose(run_relay(without, [half])[0][..., 0], expected, rtol=1e-4, atol=1e-5)


def test_what_is_cut_off_does_not_count() -> None:
    x = np.array([[1, 2, np.inf, np.nan]], np.float32)[..., None]
    (found,) = run_relay(import_onnx(transform((1, "n", 1), axis=False, length=True)), [x, np.array(2)])
    np.testing.assert_allclose(found, [[[3, 0], [-1, 0]]], atol=1e-6)


def test_native_code_takes_axis_and_extents_as_they_come() -> None:
    compiled = compile(transform(("a", "b", "c", 2), axis=True, length=False))
    for shape in ((2, 3, 5, 2), (4, 1, 2, 2), (0, 3, 2, 2)):
        x = RNG.standard_normal(shape).astype(np.float32)
        for axis in (-2, 1):
            expected = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=axis if axis >= 0 else axis + 1)
            np.testing.assert_allclose(compiled(x, np.array(axis))[0], parts(expected), rtol=1e-4, atol=1e-5)
    with pytest.raises(XRelayError):
        compiled(np.ones((1, 1, 1, 2), np.float32), np.array(3))


@pytest.mark.parametrize("windowed", [False, True])
def test_frames_of_the_run(windowed: bool) -> None:
    names = ["x", "step", "w" if windowed else "", "size"]
    inputs = [value("x", ("b", "n", 1)), number("step"), *([value("w", ("k",))] if windowed else []), number("size")]
    given = model([helper.make_node("STFT", names, ["y"])], inputs, ["y"], opset=17)
    module, compiled = import_onnx(given), compile(given)
    for count, step, size in ((20, 3, 8), (9, 1, 9), (12, 5, 5)):
        x, window = (RNG.standard_normal(shape).astype(np.float32) for shape in ((2, count, 1), (size,)))
        feed = [x, np.array(step), *([window] if windowed else []), np.array(size)]
        used = window if windowed else np.ones(size)
        frames = np.stack([x[:, at : at + size, 0] * used for at in range(0, count - size + 1, step)], 1)
        for found in (run_relay(module, feed)[0], compiled(*feed)[0]):
            np.testing.assert_allclose(found, parts(np.fft.rfft(frames)), rtol=1e-4, atol=1e-4)
    if windowed:
        feed = [np.ones((1, 9, 1), np.float32), np.array(1), np.ones(3, np.float32), np.array(4)]
        for run in (lambda: run_relay(module, feed), lambda: compiled(*feed)):
            with pytest.raises(XRelayError):
                run()
