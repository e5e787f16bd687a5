"""`scf-simplify`: `canonicalize` and `cse` in two traversals, for programs in which hardly anything folds.

`convert-loop-to-scf` folds constants itself, so none of the hundreds of patterns that `canonicalize` tries on a kernel
applies; only dead code and common subexpressions are left. xDSL's drivers keep worklists and query each op's traits
again and again; here they are queried once per class. If something does fold, `canonicalize` runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from xdsl.context import Context
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.traits import (
    ConstantLike,
    HasCanonicalizationPatternsTrait,
    HasFolder,
    IsolatedFromAbove,
    IsTerminator,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryFreeEffect,
    MemoryReadEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.dead_code_elimination import is_trivially_dead, region_dce

from xrelay.dialects.shared.attribute_names import NOALIAS
from xrelay.dialects.shared.op_lists import all_ops, is_kind
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


class Effects(IntEnum):
    """The memory effect of an op; that of several ops is the maximum."""

    NONE = 0
    READS = 1
    ALLOCATES = 2
    """Allocates or frees, without writing."""
    WRITES = 3
    """Writes, or has an unknown effect."""


@dataclass(frozen=True)
class OpFacts:
    """Facts about a class of ops."""

    is_terminator: bool
    is_isolated: bool
    is_symbol: bool
    effects: Effects
    """The effects of an op without its regions."""
    is_recursive: bool
    """Whether an op also has the effects of its regions."""
    folder: HasFolder | None
    patterns: Sequence[RewritePattern]
    needs_constant: bool
    """Whether an op folds only if an operand is constant, as arithmetic on two operands does."""

    @property
    def may_be_erased(self) -> bool:
        """Whether an op, apart from its regions, may be erased if its results are unused."""
        return self.effects <= Effects.READS and not self.is_terminator and not self.is_symbol

    def is_foldable(self, op: Operation) -> bool:
        """Whether an op may fold, so that its folder and patterns are worth trying."""
        if self.folder is None and not self.patterns:
            return False
        if self.needs_constant:
            return _may_fold([operand.owner for operand in op.operands])
        return True


def _may_fold(owners: Sequence[Operation | Block]) -> bool:
    """Whether arithmetic on results of `owners` may fold; a constant integer on the right must be 0, 1 or -1."""
    constants = [op for op in owners if type(op) is arith.ConstantOp]
    if len(constants) == 1 and constants[0] is owners[-1] and isinstance(value := constants[0].value, IntegerAttr):
        return abs(value.value.data) <= 1
    return bool(constants)


def facts_of(op: Operation) -> OpFacts:
    """Returns the facts of an op's class."""
    return _facts(type(op))


@cache
def _facts(kind: type[Operation]) -> OpFacts:
    is_known = not issubclass(kind, UnregisteredOp)
    folder = kind.get_trait(HasFolder) if not kind.has_trait(ConstantLike, value_if_unregistered=True) else None
    traits = kind.get_traits_of_type(HasCanonicalizationPatternsTrait)
    binary = (arith.SignlessIntegerBinaryOperation, arith.FloatingPointLikeBinaryOperation)
    return OpFacts(
        is_terminator=not is_known or kind.has_trait(IsTerminator),
        is_isolated=not is_known or kind.has_trait(IsolatedFromAbove),
        is_symbol=kind.has_trait(SymbolOpInterface, value_if_unregistered=False),
        effects=_own_effects(kind),
        is_recursive=kind.has_trait(RecursiveMemoryEffect, value_if_unregistered=False),
        folder=folder,
        patterns=[pattern for trait in traits for pattern in trait.get_patterns(kind)],
        needs_constant=is_kind(kind, binary),
    )


def _own_effects(kind: type[Operation]) -> Effects:
    """Returns the effects of a class without its regions; unspecified or op-dependent effects count as writes."""
    effects = [_effect_of(trait) for trait in kind.get_traits_of_type(MemoryEffect)]
    return max(effects, default=Effects.WRITES)


def _effect_of(trait: MemoryEffect) -> Effects:
    if isinstance(trait, NoMemoryEffect | RecursiveMemoryEffect):
        return Effects.NONE
    if isinstance(trait, MemoryReadEffect):
        return Effects.READS
    return Effects.ALLOCATES if isinstance(trait, MemoryAllocEffect | MemoryFreeEffect) else Effects.WRITES


# --- common subexpressions

_LOADS = frozenset[type[Operation]]((memref.LoadOp, vector.LoadOp))
_Available = dict[Hashable, Operation]
"""Visited ops, by a key of their computation."""


def share_equal_ops(function: Operation) -> None:
    """Merges ops under `function` that compute the same; each of its regions has at most one block.

    An op without effects is merged with an equal one before it, in its block or around it, and so is a load from a
    buffer that the function never writes. Other ops that read memory are merged only within one block, without writes
    in between. Except for the loads, this matches xDSL's `cse`.
    """
    unwritten = _unwritten(function) if isinstance(function, FuncOp) else frozenset[SSAValue]()
    for region in function.regions:
        for block in region.blocks:
            _share_in(block, {}, unwritten)


def _unwritten(function: FuncOp) -> frozenset[SSAValue]:
    """Returns the arguments that overlap no other (`llvm.noalias`) and are only loaded from."""
    if function.arg_attrs is None:
        return frozenset()
    pairs = zip(function.body.block.args, function.arg_attrs.data, strict=True)
    alone = {argument for argument, flags in pairs if NOALIAS in flags.data}
    return frozenset(each for each in alone if all(type(use.operation) in _LOADS for use in each.uses))


def _share_in(block: Block, known: _Available, unwritten: frozenset[SSAValue]) -> Effects:
    """Merges the ops of a block, given the ops `known` around it; returns the block's memory effect."""
    added: list[Hashable] = []
    read: _Available = {}
    total = Effects.NONE
    for op in block.ops:
        facts = facts_of(op)
        effects = Effects.NONE if type(op) in _LOADS and op.operands[0] in unwritten else facts.effects
        if op.regions:
            inside = _share_under(op, {} if facts.is_isolated else known, unwritten)
            effects = max(effects, inside) if facts.is_recursive else effects
        total = max(total, effects)
        if facts.is_terminator or effects > Effects.READS:
            if effects is Effects.WRITES:
                read.clear()
            continue
        table, key = (read if effects is Effects.READS else known), _computation_key(op)
        existing = table.get(key)
        if existing is not None and not _is_same(op, existing):
            # A rare case, so the first key has no types: views of one place as buffers of several types.
            key = key, tuple(op.result_types)
            existing = table.get(key)
        if existing is not None and _is_same(op, existing):
            _replace(op, existing)
        elif existing is None:
            table[key] = op
            if table is known:
                added.append(key)
    for key in added:
        del known[key]
    return total


def _share_under(op: Operation, known: _Available, unwritten: frozenset[SSAValue]) -> Effects:
    return max(
        [_share_in(block, known, unwritten) for region in op.regions for block in region.blocks], default=Effects.NONE
    )


def _computation_key(op: Operation) -> Hashable:
    """Returns a key that equal ops share; ops that differ only in regions or result types share it too.

    The key contains the op's name, not its class: a second class may define an op if xDSL's constructor lacks
    something.
    """
    operands = tuple(map(id, op.operands))
    if not op.attributes and len(op.properties) == 1:
        # Constants and conversions are by far the most frequent: a single property needs no set.
        ((_, attribute),) = op.properties.items()
        return op.name, operands, attribute
    return op.name, operands, frozenset(op.properties.items()), frozenset(op.attributes.items())


def _is_same(op: Operation, other: Operation) -> bool:
    if op.result_types != other.result_types:
        return False
    pairs = zip(op.regions, other.regions, strict=True)
    return all(mine.is_structurally_equivalent(its) for mine, its in pairs)


def _replace(op: Operation, existing: Operation) -> None:
    for old, new in zip(op.results, existing.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


# --- the pass


@dataclass(frozen=True)
class ScfSimplifyPass(XRelayPass):
    """Erases dead ops, folds, and merges common subexpressions.

    ```
    %zero = arith.constant 0 : index                       %zero = arith.constant 0 : index
    %unused = arith.addi %i, %n : index                    %a = memref.load %X[%i] : memref<8xf32>
    %a = memref.load %X[%i] : memref<8xf32>                scf.for %k = %zero to %n step %one {
    scf.for %k = %zero to %n step %one {            →        memref.store %a, %Y[%k] : memref<8xf32>
      %again = arith.constant 0 : index                      %b = memref.load %X[%zero] : memref<8xf32>
      memref.store %a, %Y[%k] : memref<8xf32>                …
      %b = memref.load %X[%again] : memref<8xf32>          }
      …
    }
    ```

    An op is replaced with an equal op that precedes it in its block or in a block around it. Loads are merged only
    within a block without a write between them, except loads from an argument that is marked `llvm.noalias` and only
    read. Apart from those loads, the result is that of `canonicalize,cse`. A function with branches between blocks is
    left to these two passes, and a function to which a pattern applies is canonicalized first.
    """

    name = "scf-simplify"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplifies every function of the module in place."""
        canonical = GreedyRewritePatternApplier([CanonicalizationRewritePattern()], ctx=ctx, folding_enabled=True)
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                _simplify(function, PatternRewriteWalker(canonical, post_walk_func=region_dce))


def _simplify(function: FuncOp, canonicalizer: PatternRewriteWalker) -> None:
    ops = all_ops(function)
    if any(region.first_block is not region.last_block for op in ops if op.regions for region in op.regions):
        canonicalizer.rewrite_region(function.body)
        cse(function)
        return
    alive = _erase_dead(ops)
    if _changes_something(alive):
        canonicalizer.rewrite_region(function.body)
    share_equal_ops(function)


def _erase_dead(ops: list[Operation]) -> list[Operation]:
    """Erases unused ops without effects from `ops`, which are in the order of the text; returns the others."""
    alive: list[Operation] = []
    observed: set[Operation] = set()
    for op in reversed(ops):
        facts, is_dead = facts_of(op), False
        if facts.may_be_erased and op not in observed and not _is_used(op):
            is_dead = not op.regions or is_trivially_dead(op)
        if is_dead:
            op.detach()
            op.erase()
            continue
        alive.append(op)
        if (op in observed or facts.effects > Effects.READS) and (parent := op.parent_op()) is not None:
            observed.add(parent)
    return alive


def _is_used(op: Operation) -> bool:
    return bool([result for result in op.results if result.first_use is not None])


def _changes_something(ops: list[Operation]) -> bool:
    """Whether an op folds or a pattern applies to it; the first such pattern has then been applied."""
    for op in ops:
        facts = facts_of(op)
        if not facts.is_foldable(op):
            continue
        if facts.folder is not None and facts.folder.fold(op) is not None:
            return True
        rewriter = PatternRewriter(op)  # inserts before this op
        for pattern in facts.patterns:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return True
    return False
