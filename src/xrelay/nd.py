"""Arrays and devices by Relay's names: `nd.array(x)`, `nd.empty(shape)`, `cpu(0)`.

Arrays are numpy arrays, with `numpy()` besides; there is one device, the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from xrelay.api.tensor import Tensor
from xrelay.errors import InputError

NDArray = Tensor
"""The class of arrays, by Relay's name."""


@dataclass(frozen=True)
class Device:
    """A device: the CPU, whose number says nothing more."""

    device_id: int = 0
    device_type: str = "cpu"


def cpu(dev_id: int = 0) -> Device:
    """The CPU; `InputError` for another number than 0."""
    if dev_id != 0:
        raise InputError(f"there is no CPU number {dev_id}", help="the CPU is cpu(0)")
    return Device()


def array(arr: ArrayLike, device: Device | None = None) -> Tensor:
    """A copy of an array."""
    return np.array(arr).view(Tensor)


def empty(shape: Sequence[int], dtype: DTypeLike = "float32", device: Device | None = None) -> Tensor:
    """An array of zeros, to be written."""
    return np.zeros(tuple(shape), dtype).view(Tensor)
