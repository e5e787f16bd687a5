"""What partial evaluation knows of values, and how often it follows calls, for `relay-partial-eval`."""

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
"""Of each argument of a call: when its value was made, and the number that it is, 0 for what is no whole number."""


@dataclass(eq=False, slots=True)
class Partial:
    """What is known of a value, and the value of the program that is written that stands for it."""

    dynamic: SSAValue | None = None
    """`None` for what is a constant, until something needs it in the program."""
    value: Value | None = None
    """The array that it is, or the tuple of arrays, where all of it is known."""
    fields: tuple[Partial, ...] | None = None
    """Of a tuple that was seen being made."""
    closure: Closure | None = None
    time: int = field(default_factory=lambda: next(_TIMES))
    """When it was made: later values have greater numbers."""

    @property
    def fuel(self) -> tuple[int, int]:
        """What it counts for as an argument."""
        value, number = self.value, 0
        if isinstance(value, np.ndarray) and value.shape == () and value.dtype.name in ("int32", "int64"):
            number = max(0, int(value))
        return self.time, number


class Activation:
    """The values of one run of a function's body; those of the function around it where a closure was made."""

    def __init__(self, outer: Activation | None = None):
        self.values: dict[SSAValue, Partial] = {}
        self._outer = outer

    def of(self, value: SSAValue) -> Partial:
        """What is known of `value`; what an outer function knows is noted in all functions on the way."""
        missed: list[Activation] = []
        current: Activation | None = self
        while current is not None and value not in current.values:
            missed.append(current)
            current = current._outer
        assert current is not None, "a use comes behind its definition"
        found = current.values[value]
        for each in missed:
            each.values[value] = found
        return found


@dataclass(eq=False, slots=True)
class Closure:
    """A function that is a value: its text, the values around it, and the calls that were followed to where it is."""

    function: FnOp
    around: Activation
    fuels: Fuels


class Fuels:
    """How far calls were followed, by the function's number; a map that never changes, but gives changed ones.

    A call is followed while that makes progress: an argument that was made earlier than in all calls of the function
    around this one, or a smaller number. Both cannot go on for ever, so following calls ends.
    """

    _BITS, _LEVELS = 5, 4
    MOST = 1 << _BITS * _LEVELS
    """Functions that may have numbers."""

    def __init__(self, root: Sequence[object] | None = None):
        self._root = root

    def of(self, number: int) -> Fuel | None:
        """The least that the arguments of the calls of a function around were; `None` where there is none."""
        node = self._root
        for level in reversed(range(self._LEVELS)):
            if node is None:
                return None
            node = cast("Sequence[object] | None", node[self._place(number, level)])
        return cast("Fuel | None", node)

    def following(self, number: int, arguments: Fuel) -> Fuels | None:
        """The map inside of a call of a function with `arguments`; `None` where it makes no progress."""
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
        """A map with another entry; it shares all that stays with this one."""
        path: list[Sequence[object] | None] = [self._root]
        for level in reversed(range(1, self._LEVELS)):
            node = path[-1]
            path.append(None if node is None else cast("Sequence[object] | None", node[self._place(number, level)]))
        below: object = fuel
        for level, node in enumerate(reversed(path)):
            changed = list[object](node if node is not None else [None] * (1 << self._BITS))
            changed[self._place(number, level)] = below
            below = changed
        return Fuels(cast("Sequence[object]", below))

    def _place(self, number: int, level: int) -> int:
        return number >> self._BITS * level & (1 << self._BITS) - 1
