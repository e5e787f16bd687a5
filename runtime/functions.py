"""Functions that a run gave: what they captured, as the objects that native code has for it (see `lists`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError
from xrelay.runtime.metadata import TensorSpec


class FunctionObject:
    """A closure outside of a run, in memory of its own, which is freed with it."""

    def __init__(self, objects: NDArray[np.int64]):
        """A closure of these objects, the first of which is its own."""
        self.objects = objects


def objects_of(spec: TensorSpec, value: object) -> NDArray[np.int64]:
    """The objects of a value that is given for a function; `InputError` for what is none."""
    if not isinstance(value, FunctionObject):
        kind = "nothing" if value is None else type(value).__name__
        raise InputError(f"input '{spec.name}': expected a function that a run gave, got {kind}")
    return value.objects
