"""Meaning of `relay.einsum`."""

from __future__ import annotations

from string import ascii_letters

import numpy as np

from xrelay.dialects.relay.ops.einsum_equation import Equation
from xrelay.dialects.relay.ops.tensor_einsum import EinsumOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.convolution import accumulator
from xrelay.interpreters.relay.registry import evaluates


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
    result = np.einsum(f"{','.join(terms[:-1])}->{terms[-1]}", *wide)
    return np.asarray(result).astype(data[0].dtype, copy=False)
