"""HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
import onnx
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import TypeInferenceError
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import check_size

_COEFFICIENTS = {
    "HannWindow": (0.5, -0.5),
    "HammingWindow": (25 / 46, -21 / 46),
    "BlackmanWindow": (0.42, -0.5, 0.08),
}
"""What the cosines of 0, 1 and 2 turns are multiplied by."""


@converts("HannWindow", since=17, attributes=("output_datatype", "periodic"))
@converts("HammingWindow", since=17, attributes=("output_datatype", "periodic"))
@converts("BlackmanWindow", since=17, attributes=("output_datatype", "periodic"))
def convert_window(node: NodeView) -> SSAValue:
    """A sum of cosines over one turn, in f64 until it is complete; a window of one element is that of angle 0."""
    if node.shape(0) not in ((), (1,)):
        raise node.error(f"the size of a window must be one number, found {node.input(0).type}")
    size = node.emit("cast", node.reshape(node.input(0), ()) if node.shape(0) else node.input(0), dtype="int64")
    steps = node.emit("arange", node.scalar(0, size), size, node.scalar(1, size))
    turn = size if node.attribute_int("periodic", 1) else node.emit("subtract", size, node.scalar(1, size))
    turn = node.emit("cast", node.emit("maximum", turn, node.scalar(1, turn)), dtype="float64")
    angles = node.emit("cast", steps, dtype="float64")
    angles = node.emit("divide", node.emit("multiply", angles, node.scalar(2 * pi, angles)), turn)
    constant, *factors = _COEFFICIENTS[node.proto.op_type]
    total = node.emit("multiply", node.emit("cos", angles), node.scalar(factors[0], angles))
    for number, factor in enumerate(factors[1:], 2):
        more = node.emit("cos", node.emit("multiply", angles, node.scalar(number, angles)))
        total = node.emit("add", total, node.emit("multiply", more, node.scalar(factor, angles)))
    return node.emit("cast", node.emit("add", total, node.scalar(constant, total)), dtype=_output_dtype(node))


def _output_dtype(node: NodeView) -> np.dtype:
    """The dtype that `output_datatype` asks for."""
    target = node.attribute_int("output_datatype", onnx.TensorProto.FLOAT)
    try:
        return onnx.helper.tensor_dtype_to_np_dtype(target)
    except (KeyError, TypeInferenceError) as error:
        raise node.illegal("output_datatype", target) from error


@converts("MelWeightMatrix", since=17, attributes=("output_datatype",), limits="constant inputs")
def convert_mel_weights(node: NodeView) -> SSAValue:
    """A matrix that takes the bins of a spectrum to bands of the mel scale: triangles between neighbouring edges."""
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    bands, length, rate, low, high = (float(node.required_scalar(at, name)) for at, name in enumerate(names))
    if bands < 0 or length < 1 or rate <= 0:
        raise node.error(f"{bands:.0f} mel bins of a spectrum of length {length:.0f} at rate {rate:.0f}")
    shape = (int(length) // 2 + 1, int(bands))
    problem = check_size(shape, 8)
    if problem is not None:
        raise node.error(problem)
    edges = _edges(int(bands) + 2, length, rate, low, high)
    return node.emit_constant(_triangles(edges, shape).astype(_output_dtype(node)), "weights")


def _edges(count: int, length: float, rate: float, low: float, high: float) -> Sequence[int]:
    """The bins of the spectrum at so many edges of bands, equally far apart on the mel scale."""
    low_mel, high_mel = (2595 / np.log(10) * np.log1p(hertz / 700) for hertz in (low, high))
    mels = low_mel + np.arange(count) * ((high_mel - low_mel) / count)
    hertz = 700 * np.expm1(mels / 2595 * np.log(10))
    return [int(edge) for edge in (length + 1) * hertz // rate]


def _triangles(edges: Sequence[int], shape: tuple[int, int]) -> Array:
    """For each band the weights that rise from its lower edge to its centre and fall to its upper edge."""
    weights = np.zeros(shape)
    for band in range(shape[1]):
        lower, centre, upper = edges[band : band + 3]
        weights[:, band] = np.interp(np.arange(shape[0]), [lower, centre, upper], [0.0, 1.0, 0.0])
        if 0 <= centre < shape[0]:
            weights[centre, band] = 1.0
    return weights
