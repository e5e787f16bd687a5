"""Carried values of which the body computes the next ones: two buffers take turns, and nothing is copied.

```
%left = arith.subi %count, %i                            ← of a loop that may end before: %i
%odd = arith.cmpi ne, %left & 1, 0
%now = arith.select %odd, %b, %a : memref<4xf32>         ← what the iteration reads
%next = arith.select %odd, %a, %b : memref<4xf32>        ← where it writes
```

So a loop that has as many iterations as it says ends in `%a`, which is where its result is wanted. Of one that a
condition ends the number of iterations tells in which buffer the result is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.lowering.topi_to_loop.graph_regions import yielded_fields
from xrelay.lowering.topi_to_loop.graph_stacks import StackLowering


@dataclass(frozen=True)
class Turns:
    """The carried values of a loop that have two buffers, by their numbers."""

    pairs: Mapping[int, tuple[SSAValue, SSAValue]]
    values: Mapping[int, SSAValue]
    """What the body yields for each of them."""
    count: SSAValue | None
    """The number of iterations, of a loop that nothing else ends."""


class TurnLowering(StackLowering):
    """Lowers carried values that have two buffers."""

    def _turns(self, op: LoopOp, results: Mapping[int, SSAValue], limit: SSAValue | None) -> Turns:
        """Adds a second buffer for each of the carried values `results` that the body computes, once."""
        values: dict[SSAValue, int] = {}
        for index, value in enumerate(next_values(op)):
            if index in results and value not in values and self._takes_turns(value, op):
                values[value] = index
        pairs = {index: (results[index], self.buffer_like(results[index], op)) for index in values.values()}
        count = None
        if pairs and limit is not None and op.condition is None:
            count = self._add(arith.MaxSIOp(limit, self._constant(0, op)), op).results[0]
        return Turns(pairs, {index: value for value, index in values.items()}, count)

    def _takes_turns(self, value: SSAValue, op: LoopOp) -> bool:
        """Whether an op of the body can put `value` anywhere; a number is not worth it."""
        is_made = value.owner.parent is op.body.block and value not in self._buffers and self._is_made_here(value)
        return is_made and shape_of(value.type) != ()

    def _begin_turns(self, turns: Turns, op: LoopOp) -> Mapping[int, SSAValue]:
        """The buffers that the first iteration reads."""
        if not turns.pairs:
            return {}
        return {index: now for index, (now, _) in self._take_turns(turns, self._constant(0, op), op).items()}

    def _take_turns(self, turns: Turns, number: SSAValue, op: LoopOp) -> Mapping[int, tuple[SSAValue, SSAValue]]:
        """The buffers that iteration `number` reads, and those that it writes."""
        if not turns.pairs:
            return {}
        is_odd = self._is_odd(turns, number, op)
        return {
            index: (self._select(is_odd, second, first, op), self._select(is_odd, first, second, op))
            for index, (first, second) in turns.pairs.items()
        }

    def _end_turns(self, turns: Turns, number: SSAValue, wanted: Collection[int], op: LoopOp) -> Mapping[int, SSAValue]:
        """The buffers of the values after `number` iterations: the first ones for those that are `wanted` there."""
        if turns.count is not None:
            return {index: first for index, (first, _) in turns.pairs.items()}
        if not turns.pairs:
            return {}
        is_odd = self._is_odd(turns, number, op)
        copied = [pair for index, pair in turns.pairs.items() if index in wanted]
        if copied:
            with self._inside(Block()) as copying:
                for first, second in copied:
                    self._move(second, first, op)
                self._add(scf.YieldOp(), op)
            self._add(scf.IfOp(is_odd, [], Region(copying)), op)
        return {
            index: first if index in wanted else self._select(is_odd, second, first, op)
            for index, (first, second) in turns.pairs.items()
        }

    def _is_odd(self, turns: Turns, number: SSAValue, op: LoopOp) -> SSAValue:
        """Whether the second buffers have the values after `number` iterations."""
        left = number if turns.count is None else self._add(arith.SubiOp(turns.count, number), op).results[0]
        parity = self._add(arith.AndIOp(left, self._constant(1, op)), op).results[0]
        return self._add(CmpiOp(parity, self._constant(0, op), "ne"), op).results[0]

    def _select(self, condition: SSAValue, lhs: SSAValue, rhs: SSAValue, op: LoopOp) -> SSAValue:
        return self._noted(self._add(SelectOp(condition, lhs, rhs), op).results[0], self._dims.get(lhs, ()))


def next_values(op: LoopOp) -> Sequence[SSAValue]:
    """What the body yields for each carried value."""
    first = int(op.condition is not None)
    return yielded_fields(op.body.block, op)[first : first + len(op.initial)]
