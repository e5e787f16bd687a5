"""Known values, and the progress of followed calls, for `relay-partial-eval`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias, cast

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.function import FnOp
from xrelay.interpreters.relay import Value

_TIMES = count()

Fuel: TypeAlias = "tuple[tuple[int, int], ...]"
"""For each argument of a call: the time at which its value was created, and its value if it is an integer, else 0."""


@dataclass(eq=False, slots=True)
class Partial:
    """A value of the original program: its known parts, and its value in the new program."""

    dynamic: SSAValue | None = None
    """The value in the new program; `None` for a constant that the new program does not use yet."""
    value: Value | None = None
    """The array, or tuple of arrays, if it is fully known."""
    fields: tuple[Partial, ...] | None = None
    """The fields of a tuple, if the op that creates it is known."""
    closure: Closure | None = None
    time: int = field(default_factory=lambda: next(_TIMES))
    """The time of creation: later values have greater numbers."""

    @property
    def fuel(self) -> tuple[int, int]:
        """The fuel of this value as an argument."""
        value, number = self.value, 0
        if isinstance(value, np.ndarray) and value.shape == () and value.dtype.name in ("int32", "int64"):
            number = max(0, int(value))
        return self.time, number


class Activation:
    """The values in one execution of a function's body; `outer` has those that a closure captures."""

    def __init__(self, outer: Activation | None = None):
        self.values: dict[SSAValue, Partial] = {}
        self._outer = outer

    def of(self, value: SSAValue) -> Partial:
        """Returns the record of `value`; a record found in an outer activation is copied to all inner ones."""
        missed: list[Activation] = []
        current: Activation | None = self
        while current is not None and value not in current.values:
            missed.append(current)
            current = current._outer
        assert current is not None, "a use follows its definition"
        found = current.values[value]
        for each in missed:
            each.values[value] = found
        return found


@dataclass(eq=False, slots=True)
class Closure:
    """A `relay.fn` with the values that it captures, and the followed calls that led to it."""

    function: FnOp
    around: Activation
    fuels: Fuels


class Fuels:
    """An immutable map from a function's number to the fuel of its enclosing calls.

    A call is followed if it makes progress: an argument was created earlier, or is a smaller number, than in all
    enclosing calls of the function. Neither can continue forever, so following calls ends.
    """

    _BITS, _LEVELS = 5, 4
    MOST = 1 << _BITS * _LEVELS
    """The number of functions that the map supports."""

    def __init__(self, root: Sequence[object] | None = None):
        self._root = root

    def of(self, number: int) -> Fuel | None:
        """The minimum fuel of the arguments in the enclosing calls of a function; `None` if there are no such calls."""
        node = self._root
        for level in reversed(range(self._LEVELS)):
            if node is None:
                return None
            node = cast("Sequence[object] | None", node[self._index_at(number, level)])
        return cast("Fuel | None", node)

    def following(self, number: int, arguments: Fuel) -> Fuels | None:
        """The map inside a call of a function with `arguments`; `None` if the call makes no progress."""
        old = self.of(number)
        if old is not None:
            least = tuple(
                (min(one[0], other[0]), min(one[1], other[1])) for one, other in zip(old, arguments, strict=True)
            )
            if least == old:
                return None
            arguments = least
        return self._with(number, arguments)

    def _with(self, number: int, fuel: Fuel) -> Fuels:
        """A map with another entry; it shares the unchanged nodes with this map."""
        path: list[Sequence[object] | None] = [self._root]
        for level in reversed(range(1, self._LEVELS)):
            node = path[-1]
            path.append(None if node is None else cast("Sequence[object] | None", node[self._index_at(number, level)]))
        below: object = fuel
        for level, node in enumerate(reversed(path)):
            changed = list[object](node if node is not None else [None] * (1 << self._BITS))
            changed[self._index_at(number, level)] = below
            below = changed
        return Fuels(cast("Sequence[object]", below))

    def _index_at(self, number: int, level: int) -> int:
        return number >> self._BITS * level & (1 << self._BITS) - 1
