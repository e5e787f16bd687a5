"""Meaning of `relay.einsum`."""

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
"""How many elements an operand may have that is repeated along what is summed over."""


def _labels(equation: Equation) -> list[str]:
    """All labels, each once."""
    return list(dict.fromkeys(label for labels in equation.operands for label in labels))


@evaluates(EinsumOp)
def evaluate_einsum(op: EinsumOp, data: tuple[Array, ...]) -> Array:
    """Numpy's einsum, in the type of the accumulators."""
    equation = op.labelled([array.ndim for array in data])
    letters = dict(zip(_labels(equation), ascii_letters, strict=False))
    terms = ["".join(letters[label] for label in labels) for labels in (*equation.operands, equation.result)]
    wide = [array.astype(accumulator(array.dtype), copy=False) for array in data]
    terms[:-1], wide = _with_summed_labels(terms, wide)
    result = np.einsum(f"{','.join(terms[:-1])}->{terms[-1]}", *wide)
    return np.asarray(result).astype(data[0].dtype, copy=False)


def _with_summed_labels(terms: Sequence[str], arrays: Sequence[Array]) -> tuple[list[str], list[Array]]:
    """Operands with an axis of full extent for each label that is summed over.

    Where one lacks it numpy takes it out of the sum, which is another number where a product is infinite. What would be
    larger than `MAX_REPEATED` stays as it is.
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
