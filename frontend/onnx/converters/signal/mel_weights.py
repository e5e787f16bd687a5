"""MelWeightMatrix: the weights of mel bands over the bins of a spectrum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.converters.shared.numbers import Numbers, scalar_input, unless
from xrelay.frontend.onnx.converters.signal.windows import output_dtype
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES

_NAMES = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
_DECADE = 2595 / np.log(10)
"""The mel scale is `_DECADE * log(1 + hertz / _BREAK)`."""

_BREAK = 700
"""The frequency in hertz about which the scale becomes logarithmic; it is undefined from `-_BREAK` down."""

_FAR = 2.0**53
"""The upper limit of frequencies in hertz, above any spectrum."""

_MOST_BANDS = 1 << 16
"""The maximum number of bands, which the importer computes one by one."""


@converts("MelWeightMatrix", since=17, attributes=("output_datatype",))
def convert_mel_weights(node: NodeView) -> SSAValue:
    """A matrix from the bins of a spectrum to mel bands: triangles between neighbouring edges."""
    for index, name in enumerate(_NAMES):
        if node.shape(index) not in ((), (1,)):
            raise node.error(f"{name} is {node.input(index).type}; it must be one number")
    if any(node.constant(index) is None for index in range(len(_NAMES))):
        return node.emit("cast", _computed(node), dtype=output_dtype(node))
    bands, length, rate = (node.required_int(at, _NAMES[at]) for at in range(3))
    low, high = (float(node.required_scalar(at, _NAMES[at])) for at in (3, 4))
    if not 0 <= bands <= _MOST_BANDS or length < 1 or rate <= 0:
        raise node.error(f"{bands} mel bins of a spectrum of length {length} at rate {rate}")
    if not -_BREAK < low < np.inf or not -_BREAK < high < np.inf:
        raise node.error(f"frequencies from {low} to {high} have no places on the mel scale")
    shape = (length // 2 + 1, bands)
    node.require_size(shape, np.dtype(np.float64).itemsize, MAX_COMPUTED_BYTES)
    edges = _edges(bands + 2, length, rate, low, high)
    return node.emit_constant(_triangles(edges, shape).astype(output_dtype(node)), "weights")


def _edges(count: int, length: int, rate: int, low: float, high: float) -> Sequence[int]:
    """The bins of `count` band edges, equally spaced on the mel scale."""
    low_mel, high_mel = (_DECADE * np.log1p(hertz / _BREAK) for hertz in (low, high))
    mels = low_mel + np.arange(count) * ((high_mel - low_mel) / count)
    hertz = _BREAK * np.expm1(mels / _DECADE)
    return [int(edge) for edge in (length + 1) * np.minimum(hertz, _FAR) // rate]


def _triangles(edges: Sequence[int], shape: tuple[int, int]) -> Array:
    """For each band, weights that rise from its lower edge to its centre and fall to its upper edge."""
    weights = np.zeros(shape)
    for band in range(shape[1]):
        lower, centre, upper = edges[band : band + 3]
        weights[:, band] = np.interp(np.arange(shape[0]), [lower, centre, upper], [0.0, 1.0, 0.0])
        if 0 <= centre < shape[0]:
            weights[centre, band] = 1.0
    return weights


def _computed(node: NodeView) -> SSAValue:
    """The same in f64 for inputs known only at run time; a length or rate that is not positive fails there."""
    bands, length, rate = (_number(node, index, "int64") for index in range(3))
    one, zero = node.emit_ints(1), node.emit_ints(0)
    wrong = node.emit("logical_or", node.emit("less", length, one), node.emit("less", rate, one))
    length = unless(node, length, node.emit("logical_or", wrong, node.emit("less", bands, zero)))
    edges = _computed_edges(node, bands, length, rate)
    lower, centre, upper = (
        node.emit(
            "take", edges, node.emit("add", Numbers(node).arange(0, bands), node.emit_ints(step)), axis=0, mode="fast"
        )
        for step in range(3)
    )
    bins = node.emit("add", node.emit("floor_divide", length, node.emit_ints(2)), one)
    places = node.emit("expand_dims", Numbers(node).arange(0, bins), axis=1)
    rising, falling = (_share(node, places, outer, centre) for outer in (lower, upper))
    weights = node.emit("where", node.emit("less", places, centre), rising, falling)
    return node.emit("where", node.emit("equal", places, centre), node.scalar(1, weights), weights)


def _computed_edges(node: NodeView, bands: SSAValue, length: SSAValue, rate: SSAValue) -> SSAValue:
    """The bins of the band edges, as integers."""
    count = node.emit("add", bands, node.emit_ints(2))
    low, high = (_mel(node, _number(node, index, "float64")) for index in (3, 4))
    number = node.emit("cast", count, dtype="float64")
    step = node.emit("divide", node.emit("subtract", high, low), number)
    steps = node.emit("cast", Numbers(node).arange(0, count), dtype="float64")
    mels = node.emit("add", low, node.emit("multiply", steps, step))
    factors = node.emit("exp", node.emit("divide", mels, node.scalar(_DECADE, mels)))
    hertz = node.emit("multiply", node.emit("subtract", factors, node.scalar(1, mels)), node.scalar(_BREAK, mels))
    wide = node.emit("cast", node.emit("add", length, node.emit_ints(1)), dtype="float64")
    scaled = node.emit("divide", node.emit("multiply", wide, hertz), node.emit("cast", rate, dtype="float64"))
    return node.emit("cast", node.emit("floor", scaled), dtype="int64")


def _mel(node: NodeView, hertz: SSAValue) -> SSAValue:
    """The mel value of a frequency."""
    factor = node.emit("add", node.emit("divide", hertz, node.scalar(_BREAK, hertz)), node.scalar(1, hertz))
    return node.emit("multiply", node.emit("log", factor), node.scalar(_DECADE, hertz))


def _share(node: NodeView, places: SSAValue, outer: SSAValue, centre: SSAValue) -> SSAValue:
    """The position of each place between the outer edge, 0, and the centre, 1; at least 0, and 0 if they coincide."""
    way = node.emit("subtract", centre, outer)
    done = node.emit("multiply", node.emit("subtract", places, outer), node.emit("sign", way))
    way = node.emit("cast", node.emit("maximum", node.emit("abs", way), node.emit_ints(1)), dtype="float64")
    share = node.emit("divide", node.emit("cast", done, dtype="float64"), way)
    return node.emit("maximum", share, node.scalar(0, share))


def _number(node: NodeView, index: int, dtype: str) -> SSAValue:
    """Input `index` as a value of rank 0."""
    return node.emit("cast", scalar_input(node, index), dtype=dtype)
