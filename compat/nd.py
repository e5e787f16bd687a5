"""Arrays and devices under Relay's names: `nd.array(x)`, `nd.empty(shape)`, `cpu(0)`.

Arrays are numpy arrays with a `numpy()` method. The only device is the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from xrelay.api.arrays import Tensor
from xrelay.errors import InputError

NDArray = Tensor
"""Relay's name for the array class."""


@dataclass(frozen=True)
class Device:
    """A device. The only one is the CPU; `device_id` has no effect."""

    device_id: int = 0
    device_type: str = "cpu"


def cpu(dev_id: int = 0) -> Device:
    """Returns the CPU device. Raises `InputError` if `dev_id` is not 0."""
    if dev_id != 0:
        raise InputError(f"there is no CPU device {dev_id}", help="use cpu(0)")
    return Device()


def array(arr: ArrayLike, device: Device | None = None) -> Tensor:
    """Returns a copy of an array."""
    return np.array(arr).view(Tensor)


def empty(shape: Sequence[int], dtype: DTypeLike = "float32", device: Device | None = None) -> Tensor:
    """Returns a writable array of zeros."""
    return np.zeros(tuple(shape), dtype).view(Tensor)
