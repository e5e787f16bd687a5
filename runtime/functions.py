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


class GivenFunction:
    """A closure with its type, and who may take it: the model that gave it, whichever function of it is called."""

    def __init__(self, function: FunctionObject, type: str, owner: object):
        """A closure of the type `type` that the model known as `owner` gave."""
        self.function, self.type, self.owner = function, type, owner


def objects_of(spec: TensorSpec, value: object) -> NDArray[np.int64]:
    """The objects of a value that is given for a function; `InputError` for what is none, or of another type."""
    if isinstance(value, FunctionObject):
        return value.objects
    if isinstance(value, GivenFunction) and value.type in spec.functions:
        return value.function.objects
    kind = "nothing" if value is None else type(value).__name__
    got = f"one of {value.type}" if isinstance(value, GivenFunction) else kind
    raise InputError(f"input '{spec.name}': expected a function {' or '.join(spec.functions)}, got {got}")
