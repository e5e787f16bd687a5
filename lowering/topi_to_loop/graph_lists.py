"""Sequences, optionals and closures of the graph function: lists of the loop level.

An optional is a list of at most one value.

```
%t = relay.sequence_insert(%s, %x, %at)       →    %n = loop.list_length %s : !loop.list<f32>
    : (!relay.sequence<tensor<?xf32>>, …)          …  %place, and cf.assert that it is in the sequence
                                                   %t = loop.list_insert %x[%k] in %s at %place : …
%v = relay.sequence_at(%t, %at)               →    %d = loop.list_extents %t at %place : !loop.list<f32> -> index
    {relay.binds = #relay.bounds<d>}               %v = memref.alloc(%d) : memref<?xf32>
                                                   loop.list_read %t at %place into %v : …
```

A closure is a list of the number of its function, in a buffer, and of what it captured:

```
%f = relay.closure_construct(%x)              →    %e = loop.list_empty : !loop.list<none>
    {number = 3} : …                               %l = loop.list_insert %three[] in %e at %c0 : memref<i64> in …
                                                   %f = loop.list_insert %x[] in %l at %c1 : memref<4xf32> in …
```

The extents of a value that is taken out are sizes from there on, like those of the names of inputs. Branches give lists
and loops carry them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import IndexType, IntegerType, Signedness, i64
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop.list_ops import (
    ListAtOp,
    ListEmptyOp,
    ListEraseOp,
    ListExtentsOp,
    ListInsertOp,
    ListLengthOp,
    ListReadOp,
    ListType,
)
from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.dialects.relay.structure.failure import FailOp
from xrelay.dialects.relay.structure.graph_op import GraphOp
from xrelay.dialects.relay.structure.loop import COUNT
from xrelay.dialects.relay.structure.optionals import (
    OptionalConstructOp,
    OptionalGetElementOp,
    OptionalHasElementOp,
)
from xrelay.dialects.relay.structure.sequences import (
    SequenceAtOp,
    SequenceConstructOp,
    SequenceEmptyOp,
    SequenceEraseOp,
    SequenceInsertOp,
    SequenceLengthOp,
)
from xrelay.dialects.shared.attribute_names import SOURCES
from xrelay.dialects.shared.locations import describe_place, sources_or_place
from xrelay.dialects.shared.types import dims_in, element_type_of, shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import symbol
from xrelay.index_algebra.requirement import LHS, RHS
from xrelay.lowering.topi_to_loop.function_lowering import holder_of, is_container
from xrelay.lowering.topi_to_loop.graph_calls import CallLowering
from xrelay.lowering.topi_to_loop.graph_regions import made_names


class ListLowering(CallLowering):
    """Lowers ops on sequences, optionals and closures, and `relay.fail`."""

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes."""
        match op:
            case SequenceConstructOp() | SequenceEmptyOp() | OptionalConstructOp():
                self._construct(op)
            case SequenceInsertOp():
                place = length = self._length(op.data, op)
                if op.at:
                    place = self._place(op.at[0], length, op, or_end=True)
                self._buffers[op.results[0]] = self._inserted(op.value, self._buffers[op.data], place, op)
            case SequenceEraseOp():
                place = self._place(op.at[0] if op.at else None, self._length(op.data, op), op)
                self._buffers[op.results[0]] = self._add(ListEraseOp(self._buffers[op.data], place), op).results[0]
            case SequenceAtOp():
                self._taken_out(op, self._buffers[op.data], self._place(op.at, self._length(op.data, op), op))
            case OptionalGetElementOp():
                self._assert_that(self._is_some(op.data, op), "the optional has no value", op)
                self._taken_out(op, self._buffers[op.data], self._constant(0, op))
            case SequenceLengthOp():
                length = self._add(IndexCastOp(self._length(op.data, op), i64), op).results[0]
                self._store(length, self._buffer(op.results[0], op), (), op)
            case OptionalHasElementOp():
                self._store(self._is_some(op.data, op), self._buffer(op.results[0], op), (), op)
            case ClosureConstructOp():
                number = self._allocate(COUNT, op, None)
                value = self._add(arith.ConstantOp.from_int_and_width(op.number.value.data, i64), op).results[0]
                self._store(value, number, (), op)
                found = self._add(ListInsertOp(number, [], self._empty(op), self._constant(0, op)), op).results[0]
                self._buffers[op.results[0]] = self._filled(found, 1, op)
            case ClosureNumberOp():
                self._add(
                    ListReadOp(self._buffers[op.data], self._constant(0, op), self._buffer(op.results[0], op)), op
                )
            case ClosureCapturedOp():
                self._taken_out(op, self._buffers[op.data], self._constant(op.index.value.data + 1, op))
            case FailOp():
                self._fail(op)
            case _:
                super().lower(op)

    def _is_made_here(self, value: SSAValue) -> bool:
        """What comes out of sequences, optionals and closures can be put where it is wanted."""
        return isinstance(value.owner, GraphOp) or super()._is_made_here(value)

    # --- lists -------------------------------------------------------------------------------------------------------

    def _empty(self, op: Operation) -> SSAValue:
        """Adds the list of nothing for what `op` gives."""
        return self._add(ListEmptyOp(cast(ListType, holder_of(op.results[0].type, op))), op).results[0]

    def _construct(self, op: Operation) -> None:
        self._buffers[op.results[0]] = self._filled(self._empty(op), 0, op)

    def _filled(self, found: SSAValue, length: int, op: Operation) -> SSAValue:
        """Adds what inserts the operands of `op` behind the values of a list that has so many."""
        for place, value in enumerate(op.operands, length):
            found = self._inserted(value, found, self._constant(place, op), op)
        return found

    def _inserted(self, value: SSAValue, data: SSAValue, place: SSAValue, op: Operation) -> SSAValue:
        extents = self._sizes.extents(dims_in(value.type), op)
        return self._add(ListInsertOp(self._buffers[value], extents, data, place), op).results[0]

    def _taken_out(
        self, op: SequenceAtOp | OptionalGetElementOp | ClosureCapturedOp, data: SSAValue, place: SSAValue
    ) -> None:
        """Copies a value to a buffer of its own; a list is handed on."""
        result = op.results[0]
        if isinstance(holder := holder_of(result.type, op), ListType):
            self._buffers[result] = self._add(ListAtOp(data, place, holder), op).results[0]
            return
        self._bind(op, self._list_extents(data, place, len(shape_of(result.type)), op))
        self._add(ListReadOp(data, place, self._buffer(result, op)), op)

    def _list_extents(self, data: SSAValue, place: SSAValue, rank: int, op: Operation) -> Sequence[SSAValue]:
        """Adds the extents of the buffer at a place."""
        return self._add(ListExtentsOp(data, place, rank), op).results if rank else ()

    def _length(self, value: SSAValue, op: Operation) -> SSAValue:
        return self._add(ListLengthOp(self._buffers[value]), op).results[0]

    def _is_some(self, value: SSAValue, op: Operation) -> SSAValue:
        return self._compare("ne", self._length(value, op), self._constant(0, op), op)

    def _place(self, at: SSAValue | None, length: SSAValue, op: Operation, *, or_end: bool = False) -> SSAValue:
        """Adds the place that `at` says, the last one without, and asserts that it is in the list, or its end."""
        zero = self._constant(0, op)
        given = self._constant(-1, op) if at is None else self._number(at, op)
        first = self._add(arith.SubiOp(zero, length), op).results[0]
        text = f"place {LHS} is out of range"
        ends = self._compare("sle" if or_end else "slt", given, length, op)
        self._assert_that(ends, f"{text} for a sequence of {RHS} values", op)
        self._assert_that(self._compare("sge", given, first, op), f"{text}, the first one is {RHS}", op)
        behind = self._add(arith.AddiOp(given, length), op).results[0]
        return self._add(SelectOp(self._compare("slt", given, zero, op), behind, given), op).results[0]

    # --- sizes -------------------------------------------------------------------------------------------------------

    def _fail(self, op: FailOp) -> None:
        """Adds an assertion that never holds. Extents that the op makes are 0."""
        never = self._add(arith.ConstantOp.from_int_and_width(0, 1), op).results[0]
        self._assert_that(never, op.message.data, op)
        if is_container(op.result.type):
            self._buffers[op.result] = self._empty(op)
            return
        zero = self._add(arith.ConstantOp.from_int_and_width(0, IndexType()), op)
        self._sizes.bind_behind(zero, dict.fromkeys(made_names(op), zero.results[0]))
        self._buffer(op.result, op)

    def _bind(self, op: Operation, extents: Sequence[SSAValue]) -> None:
        """Notes what the extents of the result of `op` are, and asserts what its type says of them."""
        shape, wanted = shape_of(op.results[0].type), {symbol(name): name for name in made_names(op)}
        sizes: dict[str, SSAValue] = {}
        for dim, extent in zip(shape, extents, strict=True):
            if dim in wanted:
                sizes.setdefault(wanted[dim], extent)
        if self._new.last_op is not None and sizes:
            self._sizes.bind_behind(self._new.last_op, sizes)
        for dim, extent in zip(shape, extents, strict=True):
            (known,) = self._sizes.sizes([dim], op)
            value = self._constant(known, op) if isinstance(known, int) else known
            if value is not extent:
                self._assert_that(self._compare("eq", extent, value, op), f"an extent is not {dim}", op)
        self._demand(op)

    def _number(self, value: SSAValue, op: Operation, indices: Sequence[SSAValue] = ()) -> SSAValue:
        """Adds what reads an integer."""
        type = element_type_of(value.type)
        if isinstance(type, IntegerType) and type.signedness.data is Signedness.UNSIGNED:
            raise LoweringError(f"{op.name} takes no {type}", location=describe_place(op),
                                help="cast it to i64")  # fmt: skip
        return self._index(self._load(self._buffers[value], indices, op), op)

    def _compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue, op: Operation) -> SSAValue:
        return self._add(CmpiOp(lhs, rhs, predicate), op).results[0]

    def _assert_that(self, holds: SSAValue, text: str, op: Operation) -> None:
        """Asserts that something holds where `op` runs."""
        assertion = cf.AssertOp(holds, f"{op.name}: {text}")
        if (sources := sources_or_place(op)) is not None:
            assertion.attributes[SOURCES] = sources
        self._add(assertion, op)
