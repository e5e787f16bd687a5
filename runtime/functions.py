"""Functions that a run returned: their captured values, as objects of native code (see `lists`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError
from xrelay.runtime.metadata import TensorSpec


class FunctionObject:
    """A closure outside of a run, which owns its memory."""

    def __init__(self, objects: NDArray[np.int64]):
        """Wraps the objects of a closure; the first is the closure itself."""
        self.objects = objects


class FunctionHandle:
    """A closure with its type and owner: the model that returned it and whose functions may take it."""

    def __init__(self, function: FunctionObject, type: str, owner: object):
        """Wraps a closure of the type `type` that the model `owner` returned."""
        self.function, self.type, self.owner = function, type, owner


def objects_of(spec: TensorSpec, value: object) -> NDArray[np.int64]:
    """Returns the objects of an input that is a function. Raises `InputError` for other values and other types."""
    if isinstance(value, FunctionObject):
        return value.objects
    if isinstance(value, FunctionHandle) and value.type in spec.functions:
        return value.function.objects
    kind = "nothing" if value is None else type(value).__name__
    got = f"one of {value.type}" if isinstance(value, FunctionHandle) else kind
    raise InputError(f"input '{spec.name}': expected a function {' or '.join(spec.functions)}, got {got}")
