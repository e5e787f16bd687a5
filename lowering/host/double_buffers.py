"""Double buffering of carried values: an iteration reads one buffer and writes the other, so that nothing is copied.

```
%left = arith.subi %count, %i                            ← %i in a loop that a condition may end
%odd = arith.cmpi ne, %left & 1, 0
%now = arith.select %odd, %b, %a : memref<4xf32>         ← the iteration reads it
%next = arith.select %odd, %a, %b : memref<4xf32>        ← the iteration writes it
```

A loop with a known number of iterations thus ends in `%a`, the destination of its result. If a condition may end the
loop, the number of iterations determines the buffer of the result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.lowering.host.code import HostCode
from xrelay.lowering.host.loop_plan import next_values


@dataclass(frozen=True)
class DoubleBuffers:
    """The carried values of a loop that have two buffers, by their numbers."""

    pairs: Mapping[int, tuple[SSAValue, SSAValue]]
    values: Mapping[int, SSAValue]
    """The values that the body yields for them."""
    count: SSAValue | None
    """The number of iterations, if no condition ends the loop."""

    @staticmethod
    def of(op: LoopOp, results: Mapping[int, SSAValue], limit: SSAValue | None, code: HostCode) -> DoubleBuffers:
        """Allocates a second buffer for each carried value in `results` that the body computes, once per value."""
        values: dict[SSAValue, int] = {}
        for index, value in enumerate(next_values(op)[: len(op.initial)]):
            if index in results and value not in values and _takes_two(value, op, code):
                values[value] = index
        pairs = {index: (results[index], code.allocate_like(results[index])) for index in values.values()}
        count = None
        if pairs and limit is not None and op.condition is None:
            count = code.value(arith.MaxSIOp(limit, code.constant(0)))
        return DoubleBuffers(pairs, {index: value for value, index in values.items()}, count)

    def initial(self, code: HostCode) -> Mapping[int, SSAValue]:
        """Returns the buffers that the first iteration reads."""
        if not self.pairs:
            return {}
        return {index: now for index, (now, _) in self.iteration(code.constant(0), code).items()}

    def iteration(self, number: SSAValue, code: HostCode) -> Mapping[int, tuple[SSAValue, SSAValue]]:
        """Returns the buffers that iteration `number` reads, and those that it writes."""
        if not self.pairs:
            return {}
        is_odd = self._is_odd(number, code)
        return {
            index: (_select(is_odd, second, first, code), _select(is_odd, first, second, code))
            for index, (first, second) in self.pairs.items()
        }

    def final(self, number: SSAValue, assigned: Collection[int], code: HostCode) -> Mapping[int, SSAValue]:
        """Returns the buffers of the values after `number` iterations: the first ones for those `assigned` to them."""
        if self.count is not None:
            return {index: first for index, (first, _) in self.pairs.items()}
        if not self.pairs:
            return {}
        is_odd = self._is_odd(number, code)
        copied = [pair for index, pair in self.pairs.items() if index in assigned]
        if copied:
            with code.inside(Block()) as copying:
                for first, second in copied:
                    code.move(second, first)
                code.add(scf.YieldOp())
            code.add(scf.IfOp(is_odd, [], Region(copying)))
        return {
            index: first if index in assigned else _select(is_odd, second, first, code)
            for index, (first, second) in self.pairs.items()
        }

    def _is_odd(self, number: SSAValue, code: HostCode) -> SSAValue:
        """Whether the values after `number` iterations are in the second buffers."""
        left = number if self.count is None else code.value(arith.SubiOp(self.count, number))
        parity = code.value(arith.AndIOp(left, code.constant(1)))
        return code.compare("ne", parity, code.constant(0))


def _takes_two(value: SSAValue, op: LoopOp, code: HostCode) -> bool:
    """Whether an op of the body can write `value` into any buffer; a copy of a scalar is cheaper than two buffers."""
    is_computed = value.owner.parent is op.body.block and value not in code.buffers and code.takes_destination(value)
    return is_computed and shape_of(value.type) != ()


def _select(condition: SSAValue, lhs: SSAValue, rhs: SSAValue, code: HostCode) -> SSAValue:
    return code.with_dims(code.value(SelectOp(condition, lhs, rhs)), code.dims.get(lhs, ()))
