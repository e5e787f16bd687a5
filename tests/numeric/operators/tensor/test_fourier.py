"""Fourier transforms against numpy, at all levels."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import applied, check, program

RTOL = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}


@pytest.mark.grid(5)
@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 8), (7,), (1,), (0, 5), (3, 0)])
def test_dft(shape: tuple[int, ...], inverse: bool, dtype: str) -> None:
    rng = np.random.default_rng(len(shape))
    arrays = [rng.standard_normal(shape).astype(dtype) for _ in range(2)]
    tolerance = 4 * RTOL[dtype]
    module = program("dft", *arrays, inverse=inverse)
    re, im = check(module, arrays, rtol=tolerance, atol=tolerance)
    data = arrays[0].astype(np.float64) + 1j * arrays[1].astype(np.float64)
    wanted = data if not shape[-1] else np.fft.ifft(data) if inverse else np.fft.fft(data)
    for found, part in ((re, wanted.real), (im, wanted.imag)):
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_allclose(found, part, rtol=4 * tolerance, atol=4 * tolerance)


@pytest.mark.grid(2)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("onesided", [False, True])
@pytest.mark.parametrize(("size", "hop", "length"), [(4, 2, 4), (5, 1, 3), (6, 7, 6)])
def test_stft(size: int, hop: int, length: int, onesided: bool, normalized: bool) -> None:
    rng = np.random.default_rng(size)
    data, window = rng.standard_normal((2, 17)).astype(np.float32), rng.uniform(0, 1, length).astype(np.float32)
    found = applied(
        "stft", data, window, n_fft=size, hop_length=hop, win_length=length, onesided=onesided, normalized=normalized,
        rtol=1e-4, atol=1e-4,
    )  # fmt: skip
    count = size // 2 + 1 if onesided else size
    for batch, k, frame in np.ndindex(*found.shape[:-1]):
        part = data[batch, frame * hop : frame * hop + length] * window
        total = (part * np.exp(-2j * np.pi * k * np.arange(length) / length)).sum() / (size**0.5 if normalized else 1)
        np.testing.assert_allclose(found[batch, k, frame], [total.real, total.imag], rtol=1e-3, atol=1e-4)
    assert found.shape == (2, count, (17 - size) // hop + 1, 2)
