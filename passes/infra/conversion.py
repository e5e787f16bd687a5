"""The conversion driver: lowers a program to the next level, op by op, and reports ops that it cannot convert.

A lowering consists of `ConversionPattern`s, which each replace one kind of op; `is_legal`, which returns whether an op
may stay; and a `TypeConverter`, if values change their types. `apply_conversion` visits every op once, outer ops
before inner ones and in order, including ops that patterns insert, and passes each illegal op to the patterns for its
class. It does not recurse, and the cost is linear in the number of ops visited.

    class LowerRelu(ConversionPattern[relay.ReluOp]):
        def rewrite(self, op, rewriter):
            zero = rewriter.insert(arith.ConstantOp(FloatAttr(0.0, f32)))
            new = rewriter.insert(arith.MaximumfOp(rewriter.operand(op.operands[0]), zero.result))
            rewriter.replace(op, new)

    apply_conversion(module, [LowerRelu()], is_legal=legal_outside("relay"))

**Types.** `rewriter.operand(v)` is `v` in its type at the next level. If one side of a use is converted and the other
is not yet, a `builtin.unrealized_conversion_cast` connects them; casts that cancel are removed when both sides are
converted. So each step of a lowering can run alone on a text, and all steps in sequence leave no cast.

If everything in a function is converted, a `RebuildingRewriter` needs no casts: patterns write the next level to new
blocks, and the old program, which they see completely, stays unchanged. Patterns are the same for both rewriters.

**Locations.** Ops that a pattern inserts get the source location of the op it replaces, unless the pattern sets one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from types import UnionType
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, get_args, get_origin

from xdsl.dialects.builtin import LocationAttr, UnknownLoc, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.shared.identity_memo import IdentityMemo
from xrelay.dialects.shared.levels import level_of
from xrelay.dialects.shared.locations import describe_location, locate
from xrelay.dialects.shared.op_lists import all_ops, is_kind, ops_in
from xrelay.dialects.shared.op_making import UNKNOWN, append, make
from xrelay.errors import LoweringError
from xrelay.passes.infra.pattern_counts import RECORDER

OpT = TypeVar("OpT", bound=Operation)
AnyOpT = TypeVar("AnyOpT", bound=Operation)


class TypeConverter:
    """Maps types to types of the next level.

    `rules` are tried in order; the first result other than None is used. A type without a matching rule stays.
    """

    def __init__(self, *rules: Callable[[Attribute], Attribute | None]):
        self._rules = rules
        self._known = IdentityMemo[Attribute]()

    def convert(self, type_: Attribute) -> Attribute:
        """Returns the type at the next level."""
        known = self._known.get(id(type_))
        if known is None:
            candidates = (rule(type_) for rule in self._rules)
            known = next((found for found in candidates if found is not None), type_)
            self._known.add(id(type_), known, type_)
        return known


NO_TYPE_CHANGES = TypeConverter()


class ConversionRewriter:
    """Inserts, replaces and erases ops for patterns. One rewriter is used for a whole conversion."""

    types: TypeConverter
    insertion_point: InsertPoint
    """The position where `insert` adds ops: before the op being converted, unless the pattern changes it."""

    def __init__(self, types: TypeConverter):
        self.types = types
        self._casts: dict[Operation, None] = {}
        """Casts that may have become unused."""
        self._converted: dict[SSAValue, SSAValue] = {}
        self._inserted: list[Operation] = []
        self._location: LocationAttr = UNKNOWN

    def begin(self, op: Operation) -> None:
        """Sets the insertion point before `op`, and the location of new ops to that of `op`."""
        self.insertion_point = InsertPoint.before(op)
        self.locate_at(op)

    def locate_at(self, op: Operation) -> None:
        """Sets the location of new ops to that of `op`."""
        self._location = op.location

    def take_inserted(self) -> list[Operation]:
        """Returns the ops inserted since the last call, outermost ones only."""
        inserted, self._inserted = self._inserted, []
        return inserted

    def take_back(self) -> None:
        """Erases the ops inserted by a pattern that failed to apply.

        Their results may have uses in ops that the pattern has not inserted yet; those ops are dropped too.
        """
        for op in reversed(self.take_inserted()):
            self._remove(op, safe=False)

    def insert(self, op: AnyOpT) -> AnyOpT:
        """Inserts `op` at `insertion_point` and returns it; it and the ops in it are converted later if illegal."""
        self._locate(op)
        place = self.insertion_point
        if place.insert_before is None:
            append(place.block, op)
        else:
            place.block.insert_op_before(op, place.insert_before)
        self._inserted.append(op)
        return op

    def operand(self, value: SSAValue) -> SSAValue:
        """Returns `value` in its type at the next level."""
        target = self.types.convert(value.type)
        if target == value.type:
            return value
        owner = value.owner
        if type(owner) is UnrealizedConversionCastOp and [v.type for v in owner.operands] == [target]:
            self._casts[owner] = None
            return owner.operands[0]
        known = self._converted.get(value)
        if known is None:
            known = self._cast(value, target, _after_definition(value))
            self._converted[value] = known
        return known

    def operands(self, values: Iterable[SSAValue]) -> list[SSAValue]:
        """Returns `values`, each in its type at the next level."""
        return [self.operand(value) for value in values]

    def block(self, block: Block) -> Block:
        """Returns the block at the next level for `block`, which may still be in conversion."""
        return block

    def replace(self, op: Operation, values: Operation | Sequence[SSAValue]) -> None:
        """Replaces the results of `op` with `values` (or the results of an op), and erases `op`."""
        new_values = values.results if isinstance(values, Operation) else values
        if len(new_values) != len(op.results):
            raise ValueError(f"{op.name} has {len(op.results)} results, got {len(new_values)} to replace them")
        for old, new in zip(op.results, new_values, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            self._replace_value(old, new, InsertPoint.before(op))
        self.erase(op)

    def bind(self, old: SSAValue, new: SSAValue) -> None:
        """Replaces `old` with `new`, which has the converted type."""
        if new.name_hint is None:
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)

    def erase(self, op: Operation) -> None:
        """Erases `op`, whose results must be unused."""
        self._remove(op, safe=True)

    def _remove(self, op: Operation, *, safe: bool) -> None:
        """Erases `op`; with `safe`, checks that it is unused."""
        block = op.parent_block()
        assert block is not None, "only ops inside the converted one are erased"
        if self.insertion_point.insert_before is op:
            self.insertion_point = InsertPoint(block, op.next_op)
        block.erase_op(op, safe_erase=safe)

    def convert_block_arguments(self, block: Block) -> None:
        """Converts the types of the arguments of `block`."""
        old = block.args
        if all(self.types.convert(arg.type) == arg.type for arg in old):
            return
        start = InsertPoint.at_start(block)
        for arg in old:
            new = block.insert_arg(self.types.convert(arg.type), len(block.args), arg.location)
            new.name_hint = arg.name_hint
            self._replace_value(arg, new, start)
        for arg in reversed(old):
            block.erase_arg(arg)

    def finish(self) -> None:
        """Erases unused casts."""
        for cast in tuple(self._casts):
            _erase_unused_casts(cast)
        self._casts.clear()
        self._converted.clear()

    def _locate(self, op: Operation) -> None:
        """Sets the current location on `op` and the ops in it that have none."""
        if type(self._location) is not UnknownLoc:
            locate(all_ops(op) if op.regions else (op,), self._location)

    def _cast(self, value: SSAValue, target: Attribute, point: InsertPoint) -> SSAValue:
        cast = make(UnrealizedConversionCastOp, (value,), (target,))
        cast.results[0].name_hint = value.name_hint
        Rewriter.insert_op(cast, point)
        self._casts[cast] = None
        return cast.results[0]

    def _replace_value(self, old: SSAValue, new: SSAValue, point: InsertPoint) -> None:
        """Replaces `old` with `new`; if the types differ, unconverted uses read a cast at `point`."""
        if old.type == new.type:
            old.replace_all_uses_with(new)
            return
        for use in tuple(old.uses):
            user = use.operation
            if type(user) is UnrealizedConversionCastOp and [r.type for r in user.results] == [new.type]:
                user.results[0].replace_all_uses_with(new)
                self._casts[user] = None
        if old.uses:
            old.replace_all_uses_with(self._cast(new, old.type, point))


def _after_definition(value: SSAValue) -> InsertPoint:
    owner = value.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)


def _erase_unused_casts(cast: Operation) -> None:
    """Erases `cast` if it is unused, and then, in the same way, the casts of its operands."""
    pending: list[Operation | Block] = [cast]
    while pending:
        owner = pending.pop()
        if (
            type(owner) is UnrealizedConversionCastOp
            and (block := owner.parent_block()) is not None
            and not any(result.uses for result in owner.results)
        ):
            pending.extend(value.owner for value in owner.operands)
            block.erase_op(owner)


class ConversionPattern(ABC, Generic[OpT]):
    """Replaces one kind of op. The type argument specifies it: an op class, a base class, or a union of classes."""

    op_types: ClassVar[tuple[type[Operation], ...]] = (Operation,)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__dict__.get("__orig_bases__", ()):
            found = _op_classes(get_args(base))
            if isinstance(get_origin(base), type) and issubclass(get_origin(base), ConversionPattern) and found:
                cls.op_types = found

    def handles(self, op_type: type[Operation]) -> bool:
        """Whether this pattern applies to ops of class `op_type`."""
        return is_kind(op_type, self.op_types)

    @abstractmethod
    def rewrite(self, op: OpT, rewriter: ConversionRewriter) -> str | None:
        """Replaces `op` and returns None, or returns why the pattern does not apply; inserted ops are then erased."""


AnyPattern: TypeAlias = ConversionPattern[Any]


def _op_classes(arguments: tuple[Any, ...]) -> tuple[type[Operation], ...]:
    """Returns the op classes in the type arguments of `ConversionPattern[…]`; empty if they are type variables."""
    flat = [a for arg in arguments for a in (get_args(arg) if isinstance(arg, UnionType) else (arg,))]
    origins = [get_origin(a) or a for a in flat]
    return tuple(a for a in origins if isinstance(a, type) and issubclass(a, Operation))


def legal_outside(*levels: str) -> Callable[[Operation], bool]:
    """Returns a predicate that holds for all ops except those of these levels or upstream dialects.

    It depends on the op's class (`level_of`): an op of relay that another package names `acme.foo` belongs to relay.
    """
    known: dict[type[Operation], bool] = {}

    def is_legal(op: Operation) -> bool:
        legal = known.get(type(op))
        if legal is None:
            legal = known[type(op)] = level_of(op) not in levels
        return legal

    return is_legal


def apply_conversion(
    root: Operation,
    patterns: Iterable[AnyPattern],
    *,
    is_legal: Callable[[Operation], bool],
    types: TypeConverter = NO_TYPE_CHANGES,
    nested: bool = True,
) -> None:
    """Converts every op in `root` for which `is_legal` does not hold; without `nested`, not the ops inside of those.

    Patterns for a class are tried in the given order. Raises `LoweringError` "failed to convert OP: REASONS", with the
    op's source location (or function), for an op that no pattern converts.
    """
    table = PatternTable(tuple(patterns))
    rewriter = ConversionRewriter(types)
    pending = [op for op in _stacked(root, nested=True) if op is not root and (nested or op.parent_op() is root)]
    while pending:
        op = pending.pop()
        if op.parent is None or is_legal(op):
            continue
        rewriter.begin(op)
        table.convert(op, rewriter)
        if op.parent_block() is not None and not is_legal(op):
            raise LoweringError(f"{op.name} was not replaced by its conversion", location=describe_location(op))
        for new in reversed(rewriter.take_inserted()):
            pending.extend(_stacked(new, nested=nested))
    rewriter.finish()


class PatternTable:
    """Patterns by exact op class, looked up once per class."""

    def __init__(self, patterns: tuple[AnyPattern, ...]):
        self._patterns = patterns
        self._by_class: dict[type[Operation], tuple[AnyPattern, ...]] = {}

    def get(self, op_type: type[Operation]) -> tuple[AnyPattern, ...]:
        """Returns the patterns for ops of this class, in order."""
        found = self._by_class.get(op_type)
        if found is None:
            found = tuple(pattern for pattern in self._patterns if pattern.handles(op_type))
            self._by_class[op_type] = found
        return found

    def convert(self, op: Operation, rewriter: ConversionRewriter) -> None:
        """Converts an op with the first pattern that applies; raises `LoweringError` if none does."""
        reasons: list[str] = []
        counts = RECORDER.get()
        for pattern in self.get(type(op)):
            reason = pattern.rewrite(op, rewriter)
            if counts is not None:
                counts.note(pattern, hit=reason is None)
            if reason is None:
                return
            reasons.append(reason)
            rewriter.take_back()
        why = "; ".join(reasons) if reasons else "no pattern converts the op"
        raise LoweringError(f"failed to convert {op.name}: {why}", location=describe_location(op))


def _stacked(op: Operation, *, nested: bool) -> list[Operation]:
    """Returns `op`, and with `nested` the ops in it, as a stack whose top is visited first."""
    return all_ops(op)[::-1] if nested and op.regions else [op]


class RebuildingRewriter(ConversionRewriter):
    """A rewriter whose patterns write to new blocks; the caller drops the old ones."""

    def __init__(self, types: TypeConverter):
        super().__init__(types)
        self._values: dict[SSAValue, SSAValue] = {}
        self.blocks: dict[Block, Block] = {}
        """Old blocks → new blocks."""

    def begin(self, op: Operation) -> None:
        """Sets the location of new ops to that of `op`; the insertion point stays."""
        self.locate_at(op)

    def operand(self, value: SSAValue) -> SSAValue:
        """Returns the new value for `value`, or a cast if its op was kept unconverted."""
        known = self._values.get(value)
        return super().operand(value) if known is None else known

    def bind(self, old: SSAValue, new: SSAValue) -> None:
        """Maps `old` to `new`."""
        if new.name_hint is None:
            new.name_hint = old.name_hint
        self._values[old] = new

    def block(self, block: Block) -> Block:
        """Returns the new block for `block`."""
        return self.blocks[block]

    def replace(self, op: Operation, values: Operation | Sequence[SSAValue]) -> None:
        """Maps the results of `op` to `values` (or the results of an op)."""
        for old, new in zip(op.results, values.results if isinstance(values, Operation) else values, strict=True):
            self.bind(old, new)

    def erase(self, op: Operation) -> None:
        """Does nothing: `op` has no counterpart at the new level."""

    def look_through(self, cast: UnrealizedConversionCastOp) -> None:
        """Maps the results of `cast` to the new values of its operands, which have the same converted types."""
        self._values.update(zip(cast.results, self.operands(cast.operands), strict=True))

    def keep(self, op: Operation, block: Block) -> None:
        """Moves `op` to the end of `block`, and replaces its operands with the new values."""
        op.detach()
        op.operands = self.operands(op.operands)
        block.add_op(op)


def dispose(old: Region) -> None:
    """Clears `old` with all its contents: neither its ops nor their values may be accessed any more.

    Ops, values and blocks form reference cycles, so Python frees them only when its collector has searched all young
    objects. When a level of a program is rewritten completely, that costs more than freeing it here, and memory grows
    meanwhile. So the uses of a value, which are linked in both directions, are separated.

    `old` must not use values that stay alive: it is a function's body, or has no operands any more.
    """
    regions, blocks = [old], list(old.blocks)
    ops = ops_in(old)
    for op in ops:
        regions += op.regions
        blocks += (block for region in op.regions for block in region.blocks)
        _separate_uses(op.results)
    for block in blocks:
        _separate_uses((block, *block.args))
    for each in (*ops, *blocks, *regions):
        vars(each).clear()


def _separate_uses(values: Iterable[SSAValue | Block]) -> None:
    """Clears the uses of values that have several; a single use is in no cycle."""
    for value in values:
        if value.has_more_than_one_use():
            for use in tuple(value.uses):
                vars(use).clear()
