"""The values of the outputs that an ONNX model declares, from those that its compiled model returns.

A compiled model returns the elements of a sequence of static length as separate outputs under the sequence's name.
"""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.runtime.lists import Listed
from xrelay.runtime.metadata import TensorSpec


def declared_values(is_sequence: Sequence[bool], specs: Sequence[TensorSpec], values: Sequence[Listed]) -> list[Listed]:
    """Returns the values of the declared outputs, in order; `is_sequence` is whether each is a sequence.

    `specs` and `values` are those of the compiled model.
    """
    found: list[Listed] = []
    rest = list(zip(specs, values, strict=True))[::-1]
    for is_list in is_sequence:
        spec, value = rest.pop()
        if spec.containers or not is_list:
            found.append(value)
            continue
        held = [value]
        while rest and rest[-1][0].name == spec.name:
            held.append(rest.pop()[1])
        found.append(held)
    return found
