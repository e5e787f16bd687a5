"""`llvm-hoist-addresses`: what a loop computes of addresses anew in each iteration is computed once, in front of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

_PLAIN: Final = (llvm.AddOp, llvm.SubOp, llvm.MulOp, llvm.GEPOp)
_DIVISIONS: Final = (llvm.UDivOp, llvm.URemOp)
_MOVED: Final = frozenset[type[Operation]]((*_PLAIN, *_DIVISIONS))

_Key: TypeAlias = "tuple[type[Operation], tuple[int, ...], frozenset[tuple[str, Attribute]]]"


@dataclass(frozen=True)
class LlvmHoistAddressesPass(ModulePass):
    """Moves arithmetic on integers, and addresses, out of loops that change none of their operands.

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

    LLVM would do so too, after it has unrolled the loop and copied what is moved here with it. An op goes in front of
    the outermost loop that it may leave, and of equal ones that meet there one stays. Moved are sums, products,
    addresses, and quotients by constants that are not zero: no operand makes these fail. Left alone are loops that are
    entered otherwise than from the block in front of them.
    """

    name = "llvm-hoist-addresses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Moves the ops of every function of the module in place."""
        for function in op.ops:
            if isinstance(function, llvm.FuncOp) and len(blocks := list(function.body.blocks)) > 1:
                loops = _loops(blocks)
                if loops:
                    _Hoisting(blocks, loops).run()


class _Loop(NamedTuple):
    """A loop, by the places of its first and its last block."""

    first: int
    last: int


@dataclass
class _Hoisting:
    """One walk over the blocks of a function."""

    blocks: Sequence[Block]
    loops: Sequence[_Loop]
    """In the order of their first blocks, outer ones before inner ones."""
    depths: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """In how many loops a value stands; those that are absent stand in none."""
    moved: dict[tuple[Block, _Key], Operation] = field(default_factory=dict[tuple[Block, _Key], Operation])

    def run(self) -> None:
        """Moves what can be moved, operands before what uses them."""
        around: list[_Loop] = []
        pending = list(reversed(self.loops))
        for place, block in enumerate(self.blocks):
            while around and around[-1].last < place:
                around.pop()
            while pending and pending[-1].first == place:
                around.append(pending.pop())
            if around:
                self._visit(block, around)

    def _visit(self, block: Block, around: Sequence[_Loop]) -> None:
        depth, depths = len(around), self.depths
        for argument in block.args:
            depths[argument] = depth
        for op in tuple(block.ops):
            kind = type(op)
            if kind is llvm.ConstantOp:
                continue  # it depends on no loop, and goes where it is needed
            outside = max([depths.get(operand, 0) for operand in op.operands], default=0) if kind in _MOVED else depth
            if outside < depth and _never_fails(op):
                self._move(op, self.blocks[around[outside].first - 1])
            else:
                outside = depth
            for result in op.results:
                depths[result] = outside

    def _move(self, op: Operation, target: Block) -> None:
        """Moves an op to the end of a block, or lets an equal one that was moved there stand for it."""
        key = type(op), tuple(map(id, op.operands)), frozenset(op.properties.items())
        known = self.moved.setdefault((target, key), op)
        if known is not op and known.result_types == op.result_types:
            op.results[0].replace_all_uses_with(known.results[0])
            op.detach()
            op.erase()
            return
        for operand in op.operands:
            if type(constant := operand.owner) is llvm.ConstantOp:
                self._move_to_entry(constant)
        _move_before(op, target.last_op)

    def _move_to_entry(self, constant: Operation) -> None:
        entry = self.blocks[0]
        if constant.parent is not entry:
            _move_before(constant, entry.first_op)


def _move_before(op: Operation, place: Operation | None) -> None:
    assert place is not None, "a block ends in a terminator"
    block = place.parent
    assert block is not None, "ops stand in blocks"
    op.detach()
    block.insert_op_before(op, place)


def _never_fails(op: Operation) -> bool:
    """Whether an op may be computed where nobody asks for it."""
    if type(op) not in _DIVISIONS:
        return True
    divisor = op.operands[1].owner
    return type(divisor) is llvm.ConstantOp and isinstance(divisor.value, IntegerAttr) and divisor.value.value.data != 0


def _loops(blocks: Sequence[Block]) -> list[_Loop]:
    """The loops whose blocks stand in a row and that are entered from the block in front alone, outer ones first."""
    places = {block: place for place, block in enumerate(blocks)}
    entered: list[list[int]] = [[] for _ in blocks]
    for place, block in enumerate(blocks):
        for target in block.last_op.successors if block.last_op is not None else ():
            entered[places[target]].append(place)
    ends = {place: max(sources) for place, sources in enumerate(entered) if sources and max(sources) >= place > 0}
    found: list[_Loop] = []
    around: list[_Loop] = []
    for first, last in ends.items():
        while around and around[-1].last < first:
            around.pop()
        loop = _Loop(first, last)
        if (not around or last <= around[-1].last) and _is_entered_in_front(loop, entered, blocks):
            found.append(loop)
            around.append(loop)
    return found


def _is_entered_in_front(loop: _Loop, entered: Sequence[Sequence[int]], blocks: Sequence[Block]) -> bool:
    """Whether control comes to a loop from the end of the block in front of it, which leads nowhere else."""
    first, last = loop
    if type(blocks[first - 1].last_op) is not llvm.BrOp:
        return False
    outside = [source for source in entered[first] if not first <= source <= last]
    inside = (source for target in range(first + 1, last + 1) for source in entered[target])
    return outside == [first - 1] and all(first <= source <= last for source in inside)
