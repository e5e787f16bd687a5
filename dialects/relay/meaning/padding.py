"""Padding of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np

from xrelay.dialects.relay.structure.weights import Array


def padded(data: Array, pairs: Sequence[Sequence[int]], mode: str, value: Array) -> Array:
    """Returns the data padded by the numbers (before, after) of each axis in a mode of `nn.pad`."""
    if not pairs:  # numpy rejects an empty list of widths
        return data
    if mode == "constant":
        return np.pad(data, pairs, constant_values=value.item())
    return np.pad(data, pairs, mode=cast(Literal["edge", "reflect"], mode))
