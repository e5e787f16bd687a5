"""Branches and loops of the graph function: `relay.if` and `relay.loop` become `scf.if` and `scf.while` around calls.

What a branch or a loop gives lies in buffers that are made before it. A branch writes its result there, by the call
that computes it where that is possible, else by a copy. A carried value has one buffer, which holds the value of the
iteration that runs; what the iteration yields is computed apart, and copied at its end.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, TupleType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.structure.loop import CONDITION, COUNT, LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.errors import LoweringError
from xrelay.lowering.topi_to_loop.function_lowering import FunctionLowering
from xrelay.passes.infra.conversion import describe_place

Move = tuple[SSAValue, SSAValue]
"""A copy from one buffer to another."""


class RegionLowering(FunctionLowering):
    """Lowers control flow between kernels."""

    def __init__(self, function: func.FuncOp):
        super().__init__(function)
        self._fields: dict[SSAValue, Sequence[SSAValue]] = {}
        """For the tuples that branches and loops give: the buffers of their fields."""

    @abstractmethod
    def _new_buffer(self, type: Attribute, op: Operation) -> memref.AllocOp:
        """The allocation of a buffer for a tensor of a type, wanted at `op`."""

    @abstractmethod
    def buffer_like(self, buffer: SSAValue, place: Operation) -> SSAValue:
        """Adds the allocation of a buffer of the type and the extents of another."""

    @abstractmethod
    def copy_buffer(self, source: SSAValue, target: SSAValue, place: Operation) -> None:
        """Adds a copy of one buffer to another of its type."""

    def copy(self, value: SSAValue, output: SSAValue, place: Operation) -> None:
        """Adds a copy of the buffer of `value` to `output`."""
        self.copy_buffer(self._buffers[value], output, place)

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes; tuples are taken apart by those who use them."""
        match op:
            case IfOp():
                self._if(op)
            case LoopOp():
                self._loop(op)
            case TupleGetItemOp():
                self._buffers[op.results[0]] = self._fields[op.data][op.index.value.data]
            case TupleOp() | YieldOp():
                pass
            case _:
                super().lower(op)

    def _is_made_here(self, value: SSAValue) -> bool:
        """What branches and loops give they can put where it is wanted."""
        maker = value.owner.data.owner if isinstance(value.owner, TupleGetItemOp) else value.owner
        return isinstance(maker, IfOp | LoopOp) or super()._is_made_here(value)

    # --- branches ----------------------------------------------------------------------------------------------------

    def _if(self, op: IfOp) -> None:
        condition = self._load(self._buffers[op.condition], (), op)
        results = [self._result(op, index, type) for index, type in enumerate(_field_types(op.result.type))]
        then, otherwise = (self._branch(region.block, results, op) for region in op.regions)
        self._add(scf.IfOp(condition, [], then, otherwise), op)
        self._give(op, results)

    def _branch(self, block: Block, results: Sequence[SSAValue], op: IfOp) -> Region:
        """The branch `block`, which puts what it yields into `results`."""
        with self._inside(Block()) as new:
            copied: list[tuple[SSAValue, SSAValue]] = []
            for value, result in zip(_yielded(block, op), results, strict=True):
                if value.owner.parent is block and value not in self._buffers and self._is_made_here(value):
                    self._buffers[value] = result
                else:
                    copied.append((value, result))
            for inner in block.ops:
                self.lower(inner)
            for value, result in copied:
                self._move(self._buffers[value], result, op)
            self._add(scf.YieldOp(), op)
        return Region(new)

    # --- loops -----------------------------------------------------------------------------------------------------

    def _loop(self, op: LoopOp) -> None:
        types = _field_types(op.result.type)
        results = [self._result(op, index, type) for index, type in enumerate(types)]
        carried, stacks = results[: len(op.initial)], results[len(op.initial) :]
        for value, slot in zip(op.initial, carried, strict=True):
            self._move(self._buffers[value], slot, op)
        goes_on = None if op.condition is None else self._allocate(CONDITION, op, "goes_on")
        if goes_on is not None and op.condition is not None:
            self._move(self._buffers[op.condition], goes_on, op)
        limit = None if op.trip_count is None else self._index(self._load(self._buffers[op.trip_count], (), op), op)
        zero = self._add(arith.ConstantOp.from_int_and_width(0, IndexType()), op).results[0]
        self._buffers |= dict(zip(op.carried, carried, strict=True))
        before = self._test(op, limit, goes_on)
        after = self._body(op, carried, stacks, goes_on)
        self._add(scf.WhileOp([zero], [IndexType()], before, after), op)
        self._give(op, results)

    def _test(self, op: LoopOp, limit: SSAValue | None, goes_on: SSAValue | None) -> Region:
        """Whether the loop has an iteration more, which gets its number."""
        with self._inside(Block(arg_types=[IndexType()])) as block:
            tests: list[SSAValue] = []
            if limit is not None:
                tests.append(self._add(arith.CmpiOp(block.args[0], limit, "slt"), op).results[0])
            if goes_on is not None:
                tests.append(self._load(goes_on, (), op))
            test = tests[0] if len(tests) == 1 else self._add(arith.AndIOp(tests[0], tests[1]), op).results[0]
            self._add(scf.ConditionOp(test, block.args[0]), op)
        return Region(block)

    def _body(
        self, op: LoopOp, carried: Sequence[SSAValue], stacks: Sequence[SSAValue], goes_on: SSAValue | None
    ) -> Region:
        """An iteration: its ops, the rows of the stacks, and the next carried values."""
        with self._inside(Block(arg_types=[IndexType()])) as block:
            if op.number.first_use is not None:
                number = self._buffers[op.number] = self._allocate(COUNT, op, op.number.name_hint)
                self._store(self._add(IndexCastOp(block.args[0], i64), op).results[0], number, (), op)
            for inner in op.body.block.ops:
                self.lower(inner)
            end = [self._buffers[value] for value in _yielded(op.body.block, op)]
            # The condition may be carried itself.
            following = None if goes_on is None else self._load(end.pop(0), (), op)
            for source, stack in zip(end[len(carried) :], stacks, strict=True):
                self._copy_row(source, stack, block.args[0], op)
            self._carry(list(zip(end, carried, strict=False)), op)
            if goes_on is not None and following is not None:
                self._store(following, goes_on, (), op)
            one = self._add(arith.ConstantOp.from_int_and_width(1, IndexType()), op).results[0]
            self._add(scf.YieldOp(self._add(arith.AddiOp(block.args[0], one), op).results[0]), op)
        return Region(block)

    def _carry(self, moves: Sequence[Move], op: LoopOp) -> None:
        """Puts the next values where they are carried; those that come from there are saved first."""
        slots = {slot for _, slot in moves}
        changed = [(source, slot) for source, slot in moves if source is not slot]
        saved: dict[SSAValue, SSAValue] = {}
        for source in dict.fromkeys(source for source, _ in changed if source in slots):
            saved[source] = self.buffer_like(source, op)
            self._move(source, saved[source], op)
        for source, slot in changed:
            self._move(saved.get(source, source), slot, op)

    def _move(self, source: SSAValue, target: SSAValue, op: Operation) -> None:
        """Copies one buffer to another; a number is not worth a kernel."""
        if SSAValue.get(target, type=MemRefType).type.get_num_dims() == 0:
            self._store(self._load(source, (), op), target, (), op)
        else:
            self.copy_buffer(source, target, op)

    def _copy_row(self, source: SSAValue, stack: SSAValue, number: SSAValue, op: LoopOp) -> None:
        """Copies a buffer to the row `number` of another."""
        extents = SSAValue.get(source, type=MemRefType).type.get_shape()
        if 0 in extents:
            return
        if DYNAMIC_INDEX in extents:
            raise LoweringError("rows of a size that a run tells are stacked", location=describe_place(op),
                                help="interpret the program, or give the model static shapes")  # fmt: skip
        outer, indices = self._new, list[SSAValue]()
        bounds = [self._add(arith.ConstantOp.from_int_and_width(each, IndexType()), op).results[0]
                  for each in (0, 1, *extents)]  # fmt: skip
        for bound in bounds[2:]:
            body = Block(arg_types=[IndexType()])
            self._add(scf.ForOp(bounds[0], bound, bounds[1], [], Region(body)), op)
            self._new = body
            indices.append(body.args[0])
        self._store(self._load(source, indices, op), stack, [number, *indices], op)
        while self._new is not outer:
            self._add(scf.YieldOp(), op)
            around = self._new.parent_op()
            self._new = around.parent if around is not None and around.parent is not None else outer

    # --- buffers ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _inside(self, block: Block) -> Generator[Block]:
        """Adds to `block` for a while."""
        outer, self._new = self._new, block
        yield block
        self._new = outer

    def _result(self, op: IfOp | LoopOp, index: int, type: Attribute) -> SSAValue:
        """Where the field `index` of what `op` gives is wanted, or a buffer allocated for it."""
        names = [op.result] if not isinstance(op.result.type, TupleType) else _items(op.result, index)
        wanted = next((self._buffers[value] for value in names if value in self._buffers), None)
        hint = next((value.name_hint for value in names), None)
        return self._allocate(type, op, hint) if wanted is None else wanted

    def _give(self, op: IfOp | LoopOp, results: Sequence[SSAValue]) -> None:
        if isinstance(op.result.type, TupleType):
            self._fields[op.result] = results
        else:
            self._buffers[op.result] = results[0]

    def _allocate(self, type: Attribute, op: Operation, name: str | None) -> SSAValue:
        result = self._add(self._new_buffer(type, op), op).results[0]
        result.name_hint = name
        return result

    def _load(self, buffer: SSAValue, indices: Sequence[SSAValue], op: Operation) -> SSAValue:
        return self._add(memref.LoadOp.get(buffer, indices), op).results[0]

    def _store(self, value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue], op: Operation) -> None:
        self._add(memref.StoreOp.get(value, buffer, indices), op)

    def _index(self, number: SSAValue, op: Operation) -> SSAValue:
        return self._add(IndexCastOp(number, IndexType()), op).results[0]


def _yielded(block: Block, op: Operation) -> Sequence[SSAValue]:
    """What a region of `op` yields, the fields of a tuple one by one."""
    value = block.last_op.operands[0] if block.last_op is not None else None
    if value is None or (isinstance(value.type, TupleType) and not isinstance(value.owner, TupleOp)):
        raise LoweringError("a region yields a tuple that is not made in it", location=describe_place(op),
                            help="run relay-outline-fused before")  # fmt: skip
    return value.owner.operands if isinstance(value.owner, TupleOp) else [value]


def _field_types(type: Attribute) -> Sequence[Attribute]:
    return type.types.data if isinstance(type, TupleType) else [type]


def _items(value: SSAValue, index: int) -> list[SSAValue]:
    """The values that are field `index` of a tuple."""
    users = [use.operation for use in value.uses]
    return [user.result for user in users if isinstance(user, TupleGetItemOp) and user.index.value.data == index]
