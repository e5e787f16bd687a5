"""Attributes of loops and block variables: kinds and tails."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
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

    SETTLING = "settling"
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
