"""Attributes and base classes of the ops of the loop level, types of buffers, and values derived from an op."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import override
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class LoopKind(StrEnum):
    """The way in which the iterations of a loop run."""

    SERIAL = "serial"
    """One after the other."""

    PARALLEL = "parallel"
    """In any order, by several threads."""

    VECTORIZED = "vectorized"
    """All at once, as the lanes of vectors."""

    UNROLLED = "unrolled"
    """One after the other, without a loop in the machine code."""

    CONTRACTED = "contracted"
    """All at once, in each lane of the loop around them: one instruction sums their products."""

    TENSORIZED = "tensorized"
    """One after the other, or several at once: instructions on tiles sum the products of the loops inside."""

    EARLY_EXIT = "early_exit"
    """One after the other, up to the first that leaves all elements unchanged, since later ones would repeat it."""


class Tail(StrEnum):
    """The strategy for iterations beyond a block's domain, which a split by a factor that does not divide leaves."""

    PEEL = "peel"
    """The last, partial tile gets a loop of its own."""

    MASK = "mask"
    """Every tile is full, with lanes beyond the domain masked."""


class IterKind(StrEnum):
    """The role of a block variable."""

    SPATIAL = "spatial"
    """Selects an element of the result; iterations are independent of each other."""

    REDUCE = "reduce"
    """Iterates over contributions to one element, in any order."""

    ORDERED = "ordered"
    """Ascends: an iteration may read the stores of earlier iterations and store to its own elements."""


@irdl_attr_definition
class LoopKindAttr(EnumAttribute[LoopKind], SpacedOpaqueSyntaxAttribute):
    """`LoopKind` as an attribute."""

    name = "loop.kind"


@irdl_attr_definition
class TailAttr(EnumAttribute[Tail], SpacedOpaqueSyntaxAttribute):
    """`Tail` as an attribute."""

    name = "loop.tail"


@irdl_attr_definition
class IterKindAttr(EnumAttribute[IterKind], SpacedOpaqueSyntaxAttribute):
    """`IterKind` as an attribute."""

    name = "loop.iter"


def memref_type(buffer: SSAValue) -> MemRefType:
    """Returns the type of a buffer, like `SSAValue.get(buffer, type=MemRefType).type` in a fifth of the time."""
    assert isinstance(buffer.type, MemRefType), f"{buffer.type} is not a memref"
    return buffer.type


ValueT = TypeVar("ValueT")
OpT = TypeVar("OpT", bound=Operation)


def cached_on_op(op: OpT, parts: tuple[object, ...], compute: Callable[[OpT], ValueT]) -> ValueT:
    """Returns `compute(op)`, computed again only if one of `parts` has changed since the last call.

    `parts` are immutable: attributes of the op, and the tuple of its operands, which xDSL replaces at each change.
    """
    known = op.__dict__.get(compute.__name__)
    # Tuples compare their elements by identity first.
    if known is not None and known[0] == parts:
        return known[1]
    found = compute(op)
    vars(op)[compute.__name__] = parts, found
    return found


Check = Callable[[Any], None]
"""Raises `VerifyException` if an op violates a constraint."""

CheckT = TypeVar("CheckT", bound=Check)

_CHECKS: dict[type[Operation], Check] = {}


class CheckedOp(IRDLOperation, ABC):
    """An op of the loop level that is verified by the check registered for its class."""

    @override
    def verify_(self) -> None:
        _CHECKS[type(self)](self)


def checks(*classes: type[CheckedOp]) -> Callable[[CheckT], CheckT]:
    """Decorator that registers a function as the verifier of ops of these classes."""

    def register(check: CheckT) -> CheckT:
        _CHECKS.update((each, check) for each in classes)
        return check

    return register
