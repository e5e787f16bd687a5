"""`build` of a schedule: native code as a function on arrays, as in Relay's API.

add = xrelay.build(s, [A, B, C], "llvm")
add(a, b, c)  # c is written
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.errors import InputError, with_article
from xrelay.target.target import Target
from xrelay.te.lower import lower
from xrelay.te.schedule import Schedule
from xrelay.te.tensor import PlaceholderOp, Tensor


class BuiltFunction:
    """A compiled schedule. Called with one array per tensor, it writes the arrays of the outputs."""

    def __init__(self, model: CompiledModel, args: Sequence[Tensor], name: str):
        self.model, self.entry_name = model, name
        self._args = list(args)

    def __call__(self, *arrays: NDArray[Any]) -> None:
        """Runs the schedule. Raises `InputError` for a wrong number of arrays or an output unlike its tensor."""
        if len(arrays) != len(self._args):
            names = ", ".join(tensor.name for tensor in self._args)
            raise InputError(f"{self.entry_name} takes {len(self._args)} arrays, got {len(arrays)}",
                             help=f"they are {names}")  # fmt: skip
        pairs = list(zip(self._args, arrays, strict=True))
        given = [array for tensor, array in pairs if isinstance(tensor.op, PlaceholderOp)]
        written = [(tensor, array) for tensor, array in pairs if not isinstance(tensor.op, PlaceholderOp)]
        for tensor, array in written:
            _check_output(tensor, array)
        for (_, array), result in zip(written, self.model.run(given), strict=True):
            array[...] = result


def build_schedule(
    schedule: Schedule, args: Sequence[Tensor], target: str | Target | None = None, *, name: str = "kernel"
) -> BuiltFunction:
    """Returns the compiled function of the tensors `args` under `schedule`.

    Raises the errors of `lower` and `compile`.
    """
    return BuiltFunction(compile(lower(schedule, args, name), target=target), args, name)


def _check_output(tensor: Tensor, array: object) -> None:
    if not isinstance(array, np.ndarray):
        raise InputError(
            f"{tensor.name} is {with_article(type(array).__name__)}, not a writable array", help="np.empty"
        )
    if array.shape != tensor.shape or str(array.dtype) != tensor.dtype or not array.flags.writeable:
        raise InputError(
            f"{tensor.name} is an output: expected {tensor.dtype}{list(tensor.shape)}, "
            f"got {array.dtype}{list(array.shape)}",
            help="pass a writable array of its shape and dtype",
        )
