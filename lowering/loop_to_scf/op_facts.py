"""Facts about classes of ops, computed once per class: effects, folders and patterns.

Without the cache, each query of an op's traits searches a set with `isinstance`, and a pass makes several per op.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, UnregisteredOp
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import RewritePattern
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

from xrelay.dialects.shared.op_lists import is_kind


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
