"""`llvm-hoist-addresses`: loop-invariant code motion for address arithmetic, loads and splat vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.shared.attribute_names import NOALIAS
from xrelay.dialects.shared.op_lists import ops_at
from xrelay.dialects.upstream.llvm_extras import LoopAnnotationAttr, PoisonOp
from xrelay.lowering.to_llvm.addressing import constant_index
from xrelay.lowering.to_llvm.ops import NO_SIGNED_WRAP, NO_WRAP, WRAPS, constant, element_pointer, overflowing
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

_PLAIN: Final = (llvm.AddOp, llvm.SubOp, llvm.MulOp, llvm.GEPOp)
_DIVISIONS: Final = (llvm.UDivOp, llvm.URemOp)
_CHOICES: Final = frozenset(f"llvm.{each}.i64" for each in ("smin", "smax", "umin", "umax"))
"""The intrinsics of minimums and maximums of indices."""
_SPLATS: Final = (llvm.InsertElementOp, llvm.ShuffleVectorOp)
_MOVED: Final = frozenset[type[Operation]]((*_PLAIN, *_DIVISIONS, *_SPLATS, llvm.LoadOp, llvm.CallIntrinsicOp))
_CONSTANTS: Final = frozenset[type[Operation]]((llvm.ConstantOp, PoisonOp))
_ANNOTATION: Final = "loop_annotation"
"""The annotation of a loop, on its back edge."""
_WHOLE: Final = LoopAnnotationAttr.unroll_full()
_SLT: Final = 2
"""`slt` among the predicates of `llvm.icmp`."""
_MAX_TERMS: Final = 64
"""The maximum number of terms of an index that is split."""

_Key: TypeAlias = "tuple[type[Operation], tuple[int, ...]]"


@dataclass(frozen=True)
class LlvmHoistAddressesPass(XRelayPass):
    """Moves integer arithmetic and addresses out of loops that do not change their operands.

    ```
      llvm.br ^head(%zero : i64)                         %r = llvm.urem %t, %c56 : i64
    ^head(%k : i64):                                     %b = llvm.mul %r, %c896 : i64
      …                                                  llvm.br ^head(%zero : i64)
    ^body:                                             ^head(%k : i64):
      %r = llvm.urem %t, %c56 : i64              →       …
      %b = llvm.mul %r, %c896 : i64                    ^body:
      %i = llvm.add %b, %k : i64                         %i = llvm.add %b, %k : i64
      …                                                  …
      llvm.br ^head(%next : i64)                         llvm.br ^head(%next : i64)
    ```

    In loops that are to be unrolled completely, an address is split by the loops that change its index: `%p[%i * 8 +
    %j]` becomes `%q[%j]` with `%q = %p[%i * 8]` outside. Sums of several such loops are split too: a tile of rows `%h`
    and columns `%w` reads `%p[(%y + 2 * %h) * 240 + %w * 16]` as `%q[%h * 480][%w * 16]`, with `%q = %p[%y * 240]`. An
    index of many terms stays whole.

    LLVM does so too, but only after it has unrolled the loop and copied these ops. An op moves before the outermost
    loop that it may leave, and equal ops are merged there. Sums, products, addresses, splat vectors, minimums and
    maximums of indices, and quotients by nonzero constants are moved, since they can be executed speculatively. A load
    is moved out of loops that are to be unrolled completely (LLVM would copy it for each iteration), if the loop
    certainly executes it and it reads an argument marked `llvm.noalias` that the function never writes. Loops with an
    entry other than from the preceding block stay unchanged.
    """

    name = "llvm-hoist-addresses"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Moves the ops of every function of the module in place."""
        for function in op.ops:
            if isinstance(function, llvm.FuncOp) and len(blocks := list(function.body.blocks)) > 1:
                loops = _loops(blocks)
                if loops:
                    _Hoisting(blocks, loops, UnwrittenArguments(function)).run()


class _Loop(NamedTuple):
    """A loop, as the positions of its first and its last block."""

    first: int
    last: int


class UnwrittenArguments:
    """The pointer arguments of a function whose memory does not change while the function runs."""

    _noalias_arguments: frozenset[SSAValue]
    _found: dict[SSAValue, bool]

    def __init__(self, function: llvm.FuncOp):
        flags = function.arg_attrs.data if function.arg_attrs is not None else ()
        pairs = zip(function.body.blocks[0].args, flags, strict=False)
        self._noalias_arguments = frozenset(argument for argument, each in pairs if NOALIAS in each.data)
        self._found = {}

    def stays_equal(self, pointer: SSAValue) -> bool:
        """Whether the memory at a pointer is never written."""
        root = _root(pointer)
        if root not in self._found:
            self._found[root] = root in self._noalias_arguments and _is_read_alone(root)
        return self._found[root]


def _is_read_alone(pointer: SSAValue) -> bool:
    """Whether a pointer, and addresses computed from it, are used only by loads."""
    pending = [pointer]
    while pending:
        for use in pending.pop().uses:
            kind = type(use.operation)
            if kind is llvm.GEPOp:
                pending += use.operation.results
            elif kind is not llvm.LoadOp:
                return False
    return True


def _root(pointer: SSAValue) -> SSAValue:
    """Returns the base pointer of an address."""
    while type(op := pointer.owner) is llvm.GEPOp:
        pointer = op.operands[0]
    return pointer


@dataclass
class _Hoisting:
    """One traversal of the blocks of a function."""

    blocks: Sequence[Block]
    loops: Sequence[_Loop]
    """In the order of their first blocks, outer loops before inner ones."""
    reads: UnwrittenArguments
    depths: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The loop depth of each value; absent values have depth 0."""
    moved: dict[tuple[Block, _Key], list[Operation]] = field(default_factory=dict[tuple[Block, _Key], list[Operation]])

    def run(self) -> None:
        """Moves all ops that can be moved, operands before their users."""
        around: list[_Loop] = []
        pending = list(reversed(self.loops))
        for position, block in enumerate(self.blocks):
            while around and around[-1].last < position:
                around.pop()
            while pending and pending[-1].first == position:
                around.append(pending.pop())
            if around:
                self._visit(block, around)

    def _visit(self, block: Block, around: Sequence[_Loop]) -> None:
        depth, depths = len(around), self.depths
        for argument in block.args:
            depths[argument] = depth
        for op in ops_at(block):
            if type(op) is llvm.GEPOp:
                self._split_address(op, block, around)
            if type(op) not in _CONSTANTS:  # Constants depend on no loop, and are moved with their users.
                self._place(op, block, around)

    def _place(self, op: Operation, block: Block, around: Sequence[_Loop]) -> Operation:
        """Moves an op out of all loops that it may leave; returns it, or the equal op there."""
        depth, depths, kind = len(around), self.depths, type(op)
        outside = max([depths.get(operand, 0) for operand in op.operands], default=0) if kind in _MOVED else depth
        if kind is llvm.LoadOp and outside < depth:
            outside = max(outside, self._least_depth(op, block, around))
        if outside < depth and _never_fails(op):
            op = self._move(op, self.blocks[around[outside].first - 1])
        else:
            outside = depth
        for result in op.results:
            depths[result] = outside
        return op

    def _split_address(self, address: Operation, block: Block, around: Sequence[_Loop]) -> None:
        """Splits an address in loops that are to be unrolled by the loops that change its index.

        LLVM would compute a sum of terms of several loops in the innermost one, even if parts of it were moved out.
        """
        pointer, *indices = address.operands
        if len(indices) != 1:
            return
        (index,) = indices
        depth = self.depths.get(index, 0)  # the address leaves further loops
        if depth > len(around) or self.depths.get(pointer, 0) >= depth:
            return  # the index is the result of a loop that has ended, or the pointer is as deep
        rolled = self._rolled_depth(around, depth)
        if rolled == depth:
            return
        terms = _Terms.of(index, self.depths, rolled)
        if terms is None:
            return
        by_depth: dict[int, list[SSAValue]] = {}
        for atom in terms.factors:
            by_depth.setdefault(self.depths.get(atom, 0), []).append(atom)
        *outer, innermost = sorted(by_depth)
        if not outer:
            return

        def place(op: Operation) -> SSAValue:
            op.location = address.location
            block.insert_op_before(op, address)
            return self._place(op, block, around).results[0]

        def number(value: int) -> SSAValue:
            block.insert_op_before(op := constant(value, index.type), address)
            return op.results[0]

        def total(atoms: Sequence[SSAValue], more: int) -> SSAValue:
            values = [
                atom
                if (factor := terms.factors[atom]) == 1
                else place(overflowing(llvm.MulOp, atom, number(factor), terms.flags))
                for atom in atoms
            ]
            values += [number(more)] if more else []
            return reduce(lambda lhs, rhs: place(overflowing(llvm.AddOp, lhs, rhs, terms.flags)), values)

        if terms.flags != NO_WRAP:  # a term may be negative, so pointers may be outside of the buffer
            address.properties.pop("inbounds", None)
        element, inbounds = address.properties["elem_type"], "inbounds" in address.properties
        more = terms.constant
        for each in outer:
            pointer = place(element_pointer(pointer, [total(by_depth[each], more)], element, inbounds=inbounds))
            more = 0
        address.operands[0] = pointer
        address.operands[1] = total(by_depth[innermost], 0)
        self._erase_unused(index, rolled)

    def _rolled_depth(self, around: Sequence[_Loop], depth: int) -> int:
        """Returns the depth of the innermost loop that is not to be unrolled, among the loops down to a depth."""
        while depth and _is_unrolled(self.blocks[around[depth - 1].last]):
            depth -= 1
        return depth

    def _erase_unused(self, value: SSAValue, rolled: int) -> None:
        """Erases a sum inside of a loop depth without uses, and the sums and products that only it uses."""
        pending = [value]
        while pending:
            value = pending.pop()
            op = value.owner
            if isinstance(op, llvm.AddOp | llvm.MulOp) and not value.uses and self.depths.get(value, 0) > rolled:
                pending += set(op.operands)
                assert op.parent is not None, "an operand is in a block"
                if op in (known := self.moved.get((op.parent, _key(op)), [])):
                    known.remove(op)
                op.detach()
                op.erase()

    def _least_depth(self, load: Operation, block: Block, around: Sequence[_Loop]) -> int:
        """Returns the minimum loop depth of a load: it leaves loops that execute it if its memory is read-only."""
        depth = len(around)
        if not _surely_runs(self.blocks, around[-1], block) or not self.reads.stays_equal(load.operands[0]):
            return depth
        while depth and _surely_runs(self.blocks, around[depth - 1], block):
            depth -= 1
            block = self.blocks[around[depth].first - 1]
        return depth

    def _move(self, op: Operation, target: Block) -> Operation:
        """Moves an op to the end of a block, or replaces it with an equal op there; returns the op there."""
        candidates = self.moved.setdefault((target, _key(op)), [])
        # Compared, not hashed: xDSL hashes attributes field by field, and equal ones are mostly the same object.
        known = next((each for each in candidates if each.properties == op.properties), None)
        if known is None:
            candidates.append(op)
        elif known is not op and known.result_types == op.result_types:
            op.results[0].replace_all_uses_with(known.results[0])
            op.detach()
            op.erase()
            return known
        for operand in op.operands:
            if type(constant := operand.owner) in _CONSTANTS and isinstance(constant, Operation):
                self._move_to_entry(constant)
        _move_before(op, target.last_op)
        return op

    def _move_to_entry(self, constant: Operation) -> None:
        entry = self.blocks[0]
        if constant.parent is not entry:
            _move_before(constant, entry.first_op)


@dataclass
class _Terms:
    """An index as a sum of values, each times a number."""

    factors: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    constant: int = 0
    flags: IntegerAttr[IntegerType] = NO_WRAP

    @staticmethod
    def of(index: SSAValue, depths: Mapping[SSAValue, int], rolled: int) -> _Terms | None:
        """Returns the terms of an index; sums and products inside of a loop depth are split.

        None if one may wrap, or if there are more than `_MAX_TERMS`: shared sums have a number of terms exponential in
        the number of ops.
        """
        terms, pending = _Terms(), [(index, 1)]
        for _ in range(2 * _MAX_TERMS):
            if not pending:
                return terms
            value, factor = pending.pop()
            op = value.owner
            kind = type(op) if depths.get(value, 0) > rolled else None
            if isinstance(op, Operation) and (kind is llvm.AddOp or kind is llvm.MulOp):
                number = constant_index(op.operands[1])
                if kind is llvm.AddOp or number is not None:
                    flags = op.properties["overflowFlags"]
                    if flags == WRAPS:
                        return None
                    if flags != NO_WRAP:
                        terms.flags = NO_SIGNED_WRAP
                if kind is llvm.AddOp:
                    pending += [(op.operands[1], factor), (op.operands[0], factor)]
                    continue
                if number is not None:
                    pending.append((op.operands[0], factor * number))
                    continue
            number = constant_index(value)
            if number is None:
                terms.factors[value] = terms.factors.get(value, 0) + factor
            else:
                terms.constant += number * factor
        return None


def _move_before(op: Operation, anchor: Operation | None) -> None:
    assert anchor is not None, "a block ends in a terminator"
    block = anchor.parent
    assert block is not None, "ops are in blocks"
    op.detach()
    block.insert_op_before(op, anchor)


def _is_unrolled(last: Block) -> bool:
    """Whether the loop of this last block is to be unrolled completely."""
    return (back := last.last_op) is not None and back.attributes.get(_ANNOTATION) == _WHOLE


def _key(op: Operation) -> _Key:
    """Returns what equal ops have in common, except for their properties."""
    return type(op), tuple(map(id, op.operands))


def _surely_runs(blocks: Sequence[Block], loop: _Loop, block: Block) -> bool:
    """Whether a loop to be unrolled completely executes a block, the first of its body, at least once."""
    head = blocks[loop.first]
    enter, choice = blocks[loop.first - 1].last_op, head.last_op
    if (
        block is not blocks[loop.first + 1]
        or not isinstance(choice, llvm.CondBrOp)
        or choice.successors[0] is not block
    ):
        return False
    if not _is_unrolled(blocks[loop.last]):
        return False
    test = choice.cond.owner
    if not isinstance(test, llvm.ICmpOp) or test.lhs is not head.args[0] or enter is None:
        return False
    begin, end = constant_index(enter.operands[0]), constant_index(test.rhs)
    return test.predicate.value.data == _SLT and begin is not None and end is not None and begin < end


def _never_fails(op: Operation) -> bool:
    """Whether an op may be executed speculatively."""
    if isinstance(op, llvm.CallIntrinsicOp):
        return op.intrin.data in _CHOICES
    return type(op) not in _DIVISIONS or constant_index(op.operands[1]) not in (None, 0)


def _loops(blocks: Sequence[Block]) -> list[_Loop]:
    """Returns the loops with consecutive blocks that are entered only from the preceding block, outer loops first."""
    positions = {block: position for position, block in enumerate(blocks)}
    entered: list[list[int]] = [[] for _ in blocks]
    for position, block in enumerate(blocks):
        for target in block.last_op.successors if block.last_op is not None else ():
            entered[positions[target]].append(position)
    ends = {
        position: max(sources) for position, sources in enumerate(entered) if sources and max(sources) >= position > 0
    }
    found: list[_Loop] = []
    around: list[_Loop] = []
    for first, last in ends.items():
        while around and around[-1].last < first:
            around.pop()
        loop = _Loop(first, last)
        if (not around or last <= around[-1].last) and _is_entered_before(loop, entered, blocks):
            found.append(loop)
            around.append(loop)
    return found


def _is_entered_before(loop: _Loop, entered: Sequence[Sequence[int]], blocks: Sequence[Block]) -> bool:
    """Whether a loop is entered only from the preceding block, whose only successor it is."""
    first, last = loop
    if type(blocks[first - 1].last_op) is not llvm.BrOp:
        return False
    outside = [source for source in entered[first] if not first <= source <= last]
    inside = (source for target in range(first + 1, last + 1) for source in entered[target])
    return outside == [first - 1] and all(first <= source <= last for source in inside)
