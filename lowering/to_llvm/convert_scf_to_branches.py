"""convert-scf-to-branches: structured control flow becomes blocks and branches, and loops keep their annotations.

Upstream's and xDSL's pass of this kind drop the loop annotation or leave it where LLVM does not look; here the branch
that closes the loop carries it, since LLVM reads a loop's metadata there. Ops are taken last to first and inner before
outer, so that splitting a block moves only the ops up to the next split: the cost is linear.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import BlockInsertPoint, InsertPoint, Rewriter

from xrelay.dialects.attribute_names import LOOP_ANNOTATION
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)


class LowerFor(ConversionPattern[scf.ForOp]):
    """A counted loop as a header that tests, a body, and a branch back.

        %r = scf.for %i = %lb to %ub step %s iter_args(%a = %init) {body; scf.yield %n} {llvm.loop_annotation = #u}
    becomes
        cf.br ^header(%lb, %init)
      ^header(%i, %a):
        %more = arith.cmpi slt, %i, %ub
        cf.cond_br %more, ^body, ^after(%a)
      ^body:
        body
        %next = arith.addi %i, %s overflow<nsw>
        cf.br ^header(%next, %n) {llvm.loop_annotation = #u}
      ^after(%r):
    """

    def rewrite(self, op: scf.ForOp, rewriter: ConversionRewriter) -> str | None:
        """Split at the loop and put its blocks between."""
        before, after = _split_at(op)
        body = _first_block(op.body)
        latch = _last_block(op.body)
        header = Block(arg_types=[arg.type for arg in body.args])
        for old, new in zip(body.args, header.args, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        for arg in reversed(body.args):
            body.erase_arg(arg)
        _inline_before(op.body, after)
        Rewriter.insert_block(header, BlockInsertPoint.before(body))

        _close_loop(latch, op, header, rewriter)
        rewriter.insertion_point = InsertPoint.at_end(before)
        rewriter.insert(cf.BranchOp(header, op.lb, *op.iter_args))
        rewriter.insertion_point = InsertPoint.at_end(header)
        more = rewriter.insert(arith.CmpiOp(header.args[0], op.ub, "slt"))
        rewriter.insert(cf.ConditionalBranchOp(more, body, [], after, []))
        name = header.args[0].name_hint
        if name is not None:
            header.name_hint, body.name_hint, after.name_hint = f"{name}_head", f"{name}_body", f"{name}_end"
        rewriter.replace(op, header.args[1:])
        return None


class LowerWhile(ConversionPattern[scf.WhileOp]):
    """A loop with a test of its own: the before region is the header, the after region the body.

        %r = scf.while (%a = %init) {test; scf.condition(%c) %v} do {^bb0(%v): body; scf.yield %n}
    becomes
        cf.br ^before(%init)
      ^before(%a):
        test
        cf.cond_br %c, ^body(%v), ^after(%v)
      ^body(%v):
        body
        cf.br ^before(%n)
    """

    def rewrite(self, op: scf.WhileOp, rewriter: ConversionRewriter) -> str | None:
        """Split at the loop and put its blocks between."""
        before, after = _split_at(op)
        header, body = _first_block(op.before_region), _first_block(op.after_region)
        tested, latch = _last_block(op.before_region), _last_block(op.after_region)
        _inline_before(op.before_region, after)
        _inline_before(op.after_region, after)
        _close_loop(latch, op, header, rewriter)
        condition = tested.last_op
        assert isinstance(condition, scf.ConditionOp), "the before region ends in scf.condition"
        for old, new in zip(op.results, condition.args, strict=True):
            new.name_hint = new.name_hint or old.name_hint
            old.replace_all_uses_with(new)
        rewriter.insertion_point = InsertPoint.before(condition)
        rewriter.insert(cf.ConditionalBranchOp(condition.condition, body, condition.args, after, []))
        rewriter.erase(condition)
        rewriter.insertion_point = InsertPoint.at_end(before)
        rewriter.insert(cf.BranchOp(header, *op.arguments))
        rewriter.erase(op)
        return None


class LowerIf(ConversionPattern[scf.IfOp]):
    """`%r = scf.if %c {scf.yield %a} else {scf.yield %b}` → `cf.cond_br %c, ^then, ^else` with both to `^after(%r)`."""

    def rewrite(self, op: scf.IfOp, rewriter: ConversionRewriter) -> str | None:
        """Split at the op and put the blocks of both regions between."""
        before, after = _split_at(op)
        _add_results(op, after)
        targets: list[Block] = []
        for region in (op.true_region, op.false_region):
            targets.append(region.first_block if region.first_block is not None else after)
            _branch_to(after, region, rewriter)
        rewriter.insertion_point = InsertPoint.at_end(before)
        rewriter.insert(cf.ConditionalBranchOp(op.cond, targets[0], [], targets[1], []))
        rewriter.replace(op, after.args[-len(op.results) :] if op.results else ())
        return None


class LowerIndexSwitch(ConversionPattern[scf.IndexSwitchOp]):
    """`scf.index_switch` → a chain of comparisons; with the handful of cases it has here, LLVM makes a switch of it."""

    def rewrite(self, op: scf.IndexSwitchOp, rewriter: ConversionRewriter) -> str | None:
        """Test one case after the other."""
        before, after = _split_at(op)
        _add_results(op, after)
        current = before
        for value, region in zip(op.cases.get_values(), op.case_regions, strict=True):
            target = _first_block(region)
            _branch_to(after, region, rewriter)
            following = Block()
            Rewriter.insert_block(following, BlockInsertPoint.before(after))
            rewriter.insertion_point = InsertPoint.at_end(current)
            case = rewriter.insert(arith.ConstantOp.from_int_and_width(int(value), IndexType()))
            equal = rewriter.insert(arith.CmpiOp(op.arg, case, "eq"))
            rewriter.insert(cf.ConditionalBranchOp(equal, target, [], following, []))
            current = following
        default = _first_block(op.default_region)
        _branch_to(after, op.default_region, rewriter)
        rewriter.insertion_point = InsertPoint.at_end(current)
        rewriter.insert(cf.BranchOp(default))
        rewriter.replace(op, after.args[-len(op.results) :] if op.results else ())
        return None


def _split_at(op: Operation) -> tuple[Block, Block]:
    """Split the block of `op` before it: the part before, now without a terminator, and the part from `op` on."""
    before = op.parent_block()
    assert before is not None, "the op stands in a block"
    return before, before.split_before(op)


def _first_block(region: Region) -> Block:
    block = region.first_block
    assert block is not None, "the region has a block"
    return block


def _last_block(region: Region) -> Block:
    block = region.last_block
    assert block is not None, "the region has a block"
    return block


def _inline_before(region: Region, block: Block) -> None:
    Rewriter.inline_region(region, BlockInsertPoint.before(block))


def _add_results(op: Operation, after: Block) -> None:
    """Give the block after `op` an argument for each of its results."""
    for result in op.results:
        after.insert_arg(result.type, len(after.args)).name_hint = result.name_hint


def _branch_to(after: Block, region: Region, rewriter: ConversionRewriter) -> None:
    """Move the blocks of `region` before `after`, and turn the yield at their end into a branch to it."""
    last = region.last_block
    if last is None:
        return
    end = last.last_op
    assert isinstance(end, scf.YieldOp), "the region ends in scf.yield"
    _inline_before(region, after)
    rewriter.insertion_point = InsertPoint.before(end)
    rewriter.insert(cf.BranchOp(after, *end.arguments))
    rewriter.erase(end)


def _close_loop(latch: Block, loop: scf.ForOp | scf.WhileOp, header: Block, rewriter: ConversionRewriter) -> None:
    """Turn the yield at the end of a loop's body into the branch back, which carries the loop's annotation."""
    end = latch.last_op
    assert isinstance(end, scf.YieldOp), "the body ends in scf.yield"
    rewriter.insertion_point = InsertPoint.before(end)
    arguments = list(end.arguments)
    if isinstance(loop, scf.ForOp):
        no_wrap = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))
        arguments.insert(0, rewriter.insert(arith.AddiOp(header.args[0], loop.step, overflow=no_wrap)).result)
    back = rewriter.insert(cf.BranchOp(header, *arguments))
    if LOOP_ANNOTATION in loop.attributes:
        back.attributes[LOOP_ANNOTATION] = loop.attributes[LOOP_ANNOTATION]
    rewriter.erase(end)


PATTERNS: tuple[AnyPattern, ...] = (LowerFor(), LowerWhile(), LowerIf(), LowerIndexSwitch())
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertScfToBranchesPass(ModulePass):
    """Convert `scf.for`, `scf.while`, `scf.if` and `scf.index_switch` to cf, annotations kept.

    Refuses `scf.parallel` (`convert-scf-parallel-to-calls` comes before) and `scf.execute_region`.
    """

    name = "convert-scf-to-branches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert the control flow of every function."""
        apply_conversion(op, PATTERNS, is_legal=_is_legal, inner_first=True)


def _is_legal(op: Operation) -> bool:
    """Terminators go with the op they end."""
    return isinstance(op, scf.YieldOp | scf.ConditionOp | scf.ReduceOp) or legal_outside("scf")(op)
