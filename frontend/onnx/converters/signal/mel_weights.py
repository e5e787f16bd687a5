"""MelWeightMatrix: the weights of mel bands over the bins of a spectrum."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, Number, Numbers, converts, scalar_input, unless
from xrelay.frontend.onnx.converters.signal.windows import output_dtype
from xrelay.frontend.onnx.folding import evaluate_formula
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES

_NAMES = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
_DECADE = 2595 / np.log(10)
"""The mel scale is `_DECADE * log(1 + hertz / _BREAK)`."""

_BREAK = 700
"""The frequency in hertz about which the scale becomes logarithmic; it is undefined from `-_BREAK` down."""

_MAX_BANDS = 1 << 16
"""The maximum number of bands, which the importer computes one by one."""


@converts("MelWeightMatrix", since=17, attributes=("output_datatype",))
def convert_mel_weights(node: NodeView) -> SSAValue:
    """A matrix from the bins of a spectrum to mel bands: triangles between neighbouring edges."""
    for index, name in enumerate(_NAMES):
        if node.shape(index) not in ((), (1,)):
            raise node.error(f"{name} is {node.input(index).type}; it must be one number")
    if all(node.constant(index) is not None for index in range(len(_NAMES))):
        _check(node)
    return evaluate_formula(node, lambda: _weights(node), "weights")


def _check(node: NodeView) -> None:
    """Raises an error for constants that are out of range."""
    bands, length, rate = (node.required_int(at, _NAMES[at]) for at in range(3))
    low, high = (float(node.required_scalar(at, _NAMES[at])) for at in (3, 4))
    if not 0 <= bands <= _MAX_BANDS or length < 1 or rate <= 0:
        raise node.error(f"{bands} mel bins of a spectrum of length {length} at rate {rate}")
    if not -_BREAK < low < np.inf or not -_BREAK < high < np.inf:
        raise node.error(f"frequencies from {low} to {high} have no places on the mel scale")
    node.require_size((length // 2 + 1, bands), np.dtype(np.float64).itemsize, MAX_COMPUTED_BYTES)


def _weights(node: NodeView) -> SSAValue:
    """The matrix, computed in f64; a computed length or rate that is not positive is an error at run time."""
    numbers, one = Numbers(node), node.emit_ints(1)
    bands, length, rate = (numbers.scalar_input(index, _NAMES[index]) for index in range(3))
    if not (isinstance(bands, int) and isinstance(length, int) and isinstance(rate, int)):
        is_short, is_slow = (node.emit("less", numbers.value(number), one) for number in (length, rate))
        is_negative = node.emit("less", numbers.value(bands), numbers.value(0))
        fault = node.emit("logical_or", node.emit("logical_or", is_short, is_slow), is_negative)
        length = unless(node, numbers.value(length), fault)
    edges = _edges(node, bands, length, rate)
    lower, centre, upper = (
        node.emit("take", edges, node.emit("add", numbers.arange(0, bands), numbers.value(step)), axis=0, mode="fast")
        for step in range(3)
    )
    bins = numbers.of("add", numbers.of("floor_divide", length, 2), 1)
    places = node.emit("expand_dims", numbers.arange(0, bins), axis=1)
    rising, falling = (_share(node, places, outer, centre) for outer in (lower, upper))
    weights = node.emit("where", node.emit("less", places, centre), rising, falling)
    weights = node.emit("where", node.emit("equal", places, centre), node.scalar(1, weights), weights)
    return node.emit("cast", weights, dtype=output_dtype(node))


def _edges(node: NodeView, bands: Number, length: Number, rate: Number) -> SSAValue:
    """The bins of the band edges, equally spaced on the mel scale, as integers."""
    numbers = Numbers(node)
    count = numbers.of("add", bands, 2)
    low, high = (_mel(node, node.emit("cast", scalar_input(node, index), dtype="float64")) for index in (3, 4))
    number, wide, per = (
        node.emit("cast", numbers.value(each), dtype="float64") for each in (count, numbers.of("add", length, 1), rate)
    )
    step = node.emit("divide", node.emit("subtract", high, low), number)
    steps = node.emit("cast", numbers.arange(0, count), dtype="float64")
    mels = node.emit("add", low, node.emit("multiply", steps, step))
    factors = node.emit("exp", node.emit("divide", mels, node.scalar(_DECADE, mels)))
    hertz = node.emit("multiply", node.emit("subtract", factors, node.scalar(1, mels)), node.scalar(_BREAK, mels))
    scaled = node.emit("divide", node.emit("multiply", wide, hertz), per)
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
