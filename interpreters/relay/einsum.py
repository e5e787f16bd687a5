"""`relay.einsum`."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.ops.einsum_equation import Equation
from xrelay.dialects.relay.ops.tensor_einsum import EinsumOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import evaluates

MAX_REPEATED = 1 << 24
"""The maximum number of elements of an operand that is repeated along summed axes."""


def _labels(equation: Equation) -> list[str]:
    """Returns all distinct labels."""
    return list(dict.fromkeys(label for labels in equation.operands for label in labels))


@evaluates(EinsumOp)
def evaluate_einsum(op: EinsumOp, data: tuple[Array, ...]) -> Array:
    """Uses `np.einsum` in the type of the accumulators."""
    equation = op.labelled([array.ndim for array in data])
    letters = dict(zip(_labels(equation), ascii_letters, strict=False))
    terms = ["".join(letters[label] for label in labels) for labels in (*equation.operands, equation.result)]
    wide = [array.astype(accumulator(array.dtype), copy=False) for array in data]
    terms[:-1], wide = _with_summed_labels(terms, wide)
    result = np.einsum(f"{','.join(terms[:-1])}->{terms[-1]}", *wide)
    return np.asarray(result).astype(data[0].dtype, copy=False)


def _with_summed_labels(terms: Sequence[str], arrays: Sequence[Array]) -> tuple[list[str], list[Array]]:
    """Repeats operands to have an axis of full extent for each summed label.

    Otherwise numpy factors operands without that label out of the sum, which changes the result if a product is
    infinite. Operands that would exceed `MAX_REPEATED` elements are not repeated.
    """
    *operands, result = terms
    extents: dict[str, int] = {}
    for labels, array in zip(operands, arrays, strict=True):
        for label, extent in zip(labels, array.shape, strict=True):
            extents[label] = extent if extents.get(label, 1) == 1 else extents[label]
    summed = [label for label in extents if label not in result]
    full: list[Array] = []
    for number, (labels, array) in enumerate(zip(operands, arrays, strict=True)):
        missing = [label for label in summed if label not in labels and extents[label] != 1]
        array = array.reshape(array.shape + (1,) * len(missing))
        operands[number] = labels + "".join(missing)
        for axis, label in enumerate(operands[number]):
            is_short = array.shape[axis] != extents[label] and operands[number].count(label) == 1
            if label in summed and is_short and array.size * extents[label] <= MAX_REPEATED:
                array = np.repeat(array, extents[label], axis)
        full.append(array)
    return operands, full
