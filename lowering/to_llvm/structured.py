"""Rules that lower structured control flow to blocks, for `convert-scf-to-branches` and `convert-scf-to-llvm`.

A rule is a generator: it writes the ops before a region, yields the region's block to have its ops written, and writes
the ops after them. So blocks are in the order of the program, each op is written once, and nothing recurses.
`ControlFlowOps` creates the branches and comparisons, in the target dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION
from xrelay.dialects.shared.op_lists import ops_at
from xrelay.passes.infra.conversion import ConversionRewriter

Steps: TypeAlias = "Iterator[Steps]"


@dataclass(frozen=True)
class ControlFlowOps:
    """Constructors of a dialect's ops for control flow."""

    annotation: str
    """The name of a branch's loop annotation."""
    compare: Callable[[str, SSAValue, SSAValue], Operation]
    """Compares two indices by a predicate."""
    advance: Callable[[SSAValue, SSAValue], Operation]
    """Adds a step to a loop index, which does not overflow as a signed index."""
    branch: Callable[[Block, Sequence[SSAValue]], Operation]
    choose: Callable[[SSAValue, Block, Sequence[SSAValue], Block, Sequence[SSAValue]], Operation]
    """Branches to one of two blocks, each with its values."""


class BlockWriter:
    """Writes the ops of a block one after another, and adds blocks after it for control flow."""

    def __init__(
        self, rewriter: ConversionRewriter, builder: ControlFlowOps, visit: Callable[[Operation, Block], None]
    ):
        """`visit` writes an op without a rule with `rewriter`, whose insertion point is the end of the given block."""
        self.rewriter, self.builder, self._visit = rewriter, builder, visit
        self.block = Block()
        """The current block."""

    def write(self, source: Block, target: Block) -> None:
        """Writes the ops of `source` to the end of `target` and to new blocks after it."""
        self._turn_to(target)
        stack: list[Steps] = [self._ops(source)]
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            else:
                stack.append(inner)

    def begin(self, block: Block) -> None:
        """Inserts `block` after the current block, and makes it the current block."""
        region = self.block.parent
        assert region is not None, "blocks are written into a region"
        region.insert_block_after(block, self.block)
        self._turn_to(block)

    def with_arguments(self, values: Sequence[SSAValue]) -> Block:
        """Returns a new block with an argument for each of `values`, which it replaces from now on."""
        block = Block(arg_types=[self.rewriter.types.convert(value.type) for value in values])
        for old, new in zip(values, block.args, strict=True):
            self.rewriter.bind(old, new)
        return block

    def close(self, block: Block, target: Block) -> Operation:
        """Writes a branch to `target` with the values that the end of `block` yields."""
        return self.rewriter.insert(self.builder.branch(target, self.rewriter.operands(_end_of(block).operands)))

    def _turn_to(self, block: Block) -> None:
        self.block = block
        self.rewriter.insertion_point = InsertPoint.at_end(block)

    def _ops(self, block: Block) -> Steps:
        for op in ops_at(block):
            kind = type(op)
            if (rule := RULES.get(kind)) is not None:
                yield self._steps(rule, op)
            elif kind not in TERMINATORS:
                self._visit(op, self.block)

    def _steps(self, rule: Rule, op: Operation) -> Steps:
        self.rewriter.locate_at(op)
        for block in rule(op, self):
            yield self._ops(block)
            self.rewriter.locate_at(op)


Rule: TypeAlias = Callable[[Any, BlockWriter], Iterator[Block]]


def lower_for(op: scf.ForOp, writer: BlockWriter) -> Iterator[Block]:
    """Lowers a counted loop to a header with the test, a body, and a back edge with the loop's annotation.

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
    rewriter, builder, source = writer.rewriter, writer.builder, op.body.block
    lower, upper, step, *initial = rewriter.operands(op.operands)
    header, body, after = writer.with_arguments(source.args), Block(), Block()
    if (name := header.args[0].name_hint) is not None:
        header.name_hint, body.name_hint, after.name_hint = f"{name}_head", f"{name}_body", f"{name}_end"
    rewriter.insert(builder.branch(header, [lower, *initial]))
    writer.begin(header)
    more = rewriter.insert(builder.compare("slt", header.args[0], upper)).results[0]
    rewriter.insert(builder.choose(more, body, (), after, ()))
    writer.begin(body)
    yield source
    following = rewriter.insert(builder.advance(header.args[0], step)).results[0]
    carried = rewriter.operands(_end_of(source).operands)
    _annotate(rewriter.insert(builder.branch(header, [following, *carried])), op, builder)
    writer.begin(after)
    rewriter.replace(op, header.args[1:])


def lower_while(op: scf.WhileOp, writer: BlockWriter) -> Iterator[Block]:
    """Lowers a loop with a test of its own: the before region is the header, the after region the body.

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
    rewriter, builder, test, source = writer.rewriter, writer.builder, op.before_region.block, op.after_region.block
    initial = rewriter.operands(op.operands)
    header, body, after = writer.with_arguments(test.args), writer.with_arguments(source.args), Block()
    rewriter.insert(builder.branch(header, initial))
    writer.begin(header)
    yield test
    condition = test.last_op
    assert isinstance(condition, scf.ConditionOp), "the before region ends in scf.condition"
    more, *values = rewriter.operands(condition.operands)
    rewriter.insert(builder.choose(more, body, values, after, ()))
    writer.begin(body)
    yield source
    _annotate(writer.close(source, header), op, builder)
    writer.begin(after)
    rewriter.replace(op, values)


def lower_if(op: scf.IfOp, writer: BlockWriter) -> Iterator[Block]:
    """`%r = scf.if %c {scf.yield %a} else {scf.yield %b}` → `cf.cond_br %c, ^then, ^else` with both to `^after(%r)`."""
    rewriter = writer.rewriter
    condition = rewriter.operand(op.cond)
    after, parts = writer.with_arguments(op.results), [region.block for region in op.regions if region.blocks]
    targets = [Block() for _ in parts]
    rewriter.insert(writer.builder.choose(condition, targets[0], (), (*targets, after)[1], ()))
    for source, target in zip(parts, targets, strict=True):
        writer.begin(target)
        yield source
        writer.close(source, after)
    writer.begin(after)
    rewriter.erase(op)


def _end_of(block: Block) -> scf.YieldOp:
    end = block.last_op
    assert isinstance(end, scf.YieldOp), "the region ends in scf.yield"
    return end


def _annotate(branch: Operation, loop: Operation, builder: ControlFlowOps) -> None:
    """Copies the annotation of a loop to the back edge, from which LLVM reads it."""
    if (annotation := loop.attributes.get(LOOP_ANNOTATION)) is not None:
        branch.attributes[builder.annotation] = annotation


RULES: Mapping[type[Operation], Rule] = {
    scf.ForOp: lower_for,
    scf.WhileOp: lower_while,
    scf.IfOp: lower_if,
}
"""Maps the class of an op to its rule."""
TERMINATORS = (scf.YieldOp, scf.ConditionOp)
"""The terminators of the regions of these ops, which are removed with them."""
