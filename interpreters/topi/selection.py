"""Selecting folds, such as argmax: many points at a time, equivalent to sequential execution.

Accumulators change only when a point is selected. So the condition is evaluated for a window of points at once, and the
fold skips to the first point at which it holds. Selections are rare in most data; if they are frequent, windows become
shorter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.topi.compute import Selection
from xrelay.interpreters.scalar import compile_scalar
from xrelay.interpreters.topi.body import Array

MAX_WINDOW_ELEMENTS = 1 << 20
MANY_ROUNDS = 8
"""The number of selection rounds in a window above which the next window is shorter."""


class SelectingFold:
    """The state of a fold over rows of points. `accumulators` has an array of values, one for each row."""

    def __init__(self, chosen: Selection, ops: Sequence[Operation], accumulators: dict[SSAValue, Array]):
        """Creates the state; `ops` compute the condition from accumulators and the values of a point."""
        self._chosen = chosen
        self._ops = [(op, compile_scalar(op)) for op in ops]
        self.accumulators = accumulators
        self._width = 64

    def run(self, points: dict[SSAValue, Array]) -> None:
        """Processes more points; each array has shape `(rows, points)`."""
        rows, count = next(iter(points.values())).shape
        limit = max(1, MAX_WINDOW_ELEMENTS // max(rows, 1))
        start = 0
        while start < count:
            width = min(self._width, limit)
            rounds = self._window({value: array[:, start : start + width] for value, array in points.items()})
            start += width
            self._width = max(1, width // 2) if rounds > MANY_ROUNDS else min(2 * width, count)

    def _window(self, points: dict[SSAValue, Array]) -> int:
        """Processes the points of one window; returns the number of rounds of selection."""
        rows, width = next(iter(points.values())).shape
        columns: Array = np.arange(int(width))
        active: Array = np.arange(int(rows))
        first: Array = np.zeros(int(rows), np.int64)
        for rounds in range(width + 1):
            holds: Array = self._condition(active, points) & (columns >= first[active, None])
            selects: Array = np.any(holds, axis=1)
            at: Array = np.argmax(holds, axis=1)[selects]
            active = active[selects]
            if not active.size:
                return rounds
            for accumulator, candidate in zip(self.accumulators, self._chosen.candidates, strict=True):
                self.accumulators[accumulator][active] = points[candidate][active, at]
            first[active] = at + 1
        return width

    def _condition(self, active: Array, points: dict[SSAValue, Array]) -> Array:
        """Returns the condition at every point of the window for the rows `active` and the current accumulators."""
        values = {value: array[active] for value, array in points.items()}
        values |= {value: array[active, None] for value, array in self.accumulators.items()}
        shape = (active.size, next(iter(points.values())).shape[1])
        with np.errstate(all="ignore"):
            for op, function in self._ops:
                values[op.results[0]] = np.asarray(function(*(values[operand] for operand in op.operands)))
        return np.broadcast_to(values[self._chosen.condition], shape)
