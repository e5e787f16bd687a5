"""Attributes of loops and block variables: kinds and tails."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class LoopKind(StrEnum):
    """How the iterations of a loop are to be run."""

    SERIAL = "serial"
    """One after the other."""

    PARALLEL = "parallel"
    """In any order, by several threads."""

    VECTORIZED = "vectorized"
    """All at once, as the lanes of vectors."""

    UNROLLED = "unrolled"
    """One after the other, without a loop in the machine code."""

    CONTRACTED = "contracted"
    """All at once, in each lane of the loop around them: their products are added up by one instruction."""

    SETTLING = "settling"
    """One after the other, up to the first that leaves all elements unchanged: later ones would repeat it."""


class Tail(StrEnum):
    """How iterations beyond a block's domain, left by a split that does not divide, are kept away."""

    PEEL = "peel"
    """The last, partial tile gets a loop of its own."""

    MASK = "mask"
    """Every tile is full, lanes beyond the domain are switched off."""

    OVERLAP = "overlap"
    """The last tile is moved back so that it is full, and computes some elements a second time."""


class IterKind(StrEnum):
    """What a block variable is for."""

    SPATIAL = "spatial"
    """Names an element of the result; its values are independent of each other."""

    REDUCE = "reduce"
    """Runs over contributions to one element, in any order."""

    ORDERED = "ordered"
    """Runs in ascending order: an iteration may read what earlier ones stored, and store at elements of its own."""


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
