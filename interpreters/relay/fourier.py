"""Fourier transforms, in double precision."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.in_double import in_double
from xrelay.dialects.relay.ops.tensor_fourier import DFTOp, STFTOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.interpreters.relay.registry import evaluates


@evaluates(DFTOp)
def evaluate_dft(op: DFTOp, re_data: Array, im_data: Array) -> tuple[Array, ...]:
    """Uses `np.fft`."""
    data = re_data.astype(np.float64) + 1j * im_data.astype(np.float64)
    if data.shape[-1]:
        data = np.fft.ifft(data) if op.inverse.value.data else np.fft.fft(data)
    return cast_once(data.real, re_data.dtype), cast_once(data.imag, re_data.dtype)


@evaluates(STFTOp)
@in_double
def evaluate_stft(op: STFTOp, data: Array, window: Array) -> Array:
    """Multiplies the frames by the matrix of the transform."""
    size, length = op.n_fft.value.data, op.win_length.value.data
    frames = np.lib.stride_tricks.sliding_window_view(data, size, -1)[..., :: op.hop_length.value.data, :length]
    count = size // 2 + 1 if op.onesided.value.data else size
    turns = np.outer(np.arange(count), np.arange(length)) % length
    table = np.exp(-2j * np.pi * turns / length)
    result = np.einsum("kj,...fj->...kf", table, frames * window)
    result = result / np.sqrt(size) if op.normalized.value.data else result
    return np.stack([result.real, result.imag], -1)
