"""Emits the program that remains after partial evaluation, for `relay-partial-eval`.

Ops are collected in lists, one for each block. In the end the live ops are added to their blocks: ops that compute the
results of a block or may have side effects, and the ops that define their operands. Inner blocks come first, because
xDSL visits all blocks around an op that is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import tuple_type
from xrelay.passes.graph.effects import is_pure
from xrelay.relay.passes.partial_values import Partial


class Sink:
    """The ops emitted for a block."""

    def __init__(self, block: Block):
        self.block = block
        self.ops: list[Operation] = []
        self.stay: list[Operation] = []
        """The ops that are always live."""
        self.has_effects = False
        """Whether an op of the block may have side effects."""


class Writer:
    """Emits the blocks of one function."""

    def __init__(self, parameters: Sequence[SSAValue]):
        self._sinks: list[Sink] = []
        self._inner: dict[Operation, Sequence[Sink]] = {}
        """Emitted ops → their inner blocks."""
        self._later: dict[Operation, Callable[[], Sink]] = {}
        """Emitted closures → the functions that emit their bodies."""
        self._constants: list[Operation] = []
        self.body = self.sink([value.type for value in parameters])
        for old, new in zip(parameters, self.body.block.args, strict=True):
            new.name_hint = old.name_hint

    def sink(self, types: Sequence[Attribute] = ()) -> Sink:
        """Returns a new block with arguments of these types."""
        made = Sink(Block(arg_types=types))
        self._sinks.append(made)
        return made

    def add(self, sink: Sink, new: Operation, like: Operation, inner: Sequence[Sink] = ()) -> None:
        """Emits an op with the location and the names of `like`; `inner` are its inner blocks."""
        new.location = like.location
        for made, old in zip(new.results, like.results, strict=False):
            made.name_hint = old.name_hint
        sink.ops.append(new)
        if inner:
            self._inner[new] = inner
        if new.has_trait(IsTerminator):
            sink.stay.append(new)
        elif any(each.has_effects for each in inner) or (not new.regions and not is_pure(new)):
            sink.stay.append(new)
            sink.has_effects = True

    def add_closure(self, sink: Sink, new: FnOp, like: Operation, body: Callable[[], Sink]) -> None:
        """Emits a closure; `body` emits its body, if the closure is live, and returns the block."""
        self.add(sink, new, like)
        self._later[new] = body

    def value(self, partial: Partial) -> SSAValue:
        """The value in the new program; constants are created at the beginning of the function."""
        if partial.dynamic is None:
            pending = [partial]
            while pending:
                each = pending[-1]
                fields = each.fields if each.fields is not None else ()
                missing = [field for field in fields if field.dynamic is None]
                pending += missing
                if not missing:
                    pending.pop()
                    each.dynamic = self._constant(each)
        assert partial.dynamic is not None, "values that are not constant were emitted"
        return partial.dynamic

    def _constant(self, partial: Partial) -> SSAValue:
        if partial.fields is None:
            made: Operation = ConstantOp.of(np.asarray(partial.value))
        else:
            values = [self.value(each) for each in partial.fields]
            made = TupleOp.create(operands=values, result_types=[tuple_type(value.type for value in values)])
        self._constants.append(made)
        return made.results[0]

    def add_constant(self, op: ConstantOp) -> SSAValue:
        """Copies a constant of the original program to the beginning of the function."""
        made = op.clone()
        made.result.name_hint = op.result.name_hint
        self._constants.append(made)
        return made.result

    def finish(self) -> Block:
        """Returns the body of the function with all live ops."""
        live: set[Operation] = set()
        pending: list[Operation] = list(self.body.stay)
        while pending:
            op = pending.pop()
            if op in live:
                continue
            live.add(op)
            pending += [value.op for value in op.operands if isinstance(value, OpResult)]
            later = self._later.pop(op, None)
            inner = self._inner.get(op, ()) if later is None else [later()]
            for sink in inner:
                pending += sink.stay
        self.body.ops[:0] = self._constants
        for sink in self._sinks:
            for op in sink.ops:
                if op not in live:
                    op.operands = []
        for sink in reversed(self._sinks):
            sink.block.add_ops([op for op in sink.ops if op in live])
        return self.body.block
