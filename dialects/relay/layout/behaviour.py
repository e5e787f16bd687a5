"""The answers of an operator whose operands could come in other layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.layout.layout import Layout

ResultLayout: TypeAlias = "Layout | tuple[Layout | None, ...] | None"
"""The layout of a result; of a tuple one for each field, or one that all fields have."""


@dataclass(frozen=True)
class LayoutDecision:
    """The op can work so: operands wanted in these layouts, the result in this one, these properties changed.

    `None` for an operand or the result means that it keeps the layout it has. An operand that is a tuple is wanted
    with every field in the layout. Where `op`, a `RelayOp`, is given, an op of that class does it, and has these
    properties alone.
    """

    operands: tuple[Layout | None, ...]
    result: ResultLayout
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    op: type[Operation] | None = None


@dataclass(frozen=True)
class LayoutRefusal:
    """The op insists on the layouts it has; `reason` says why, for remarks."""

    reason: str


@dataclass(frozen=True)
class LayoutRenaming:
    """The op moves no element that another layout does not move anyway: its operand, as it comes, is its result.

    `result` is the layout that this value has when it stands for the result.
    """

    result: Layout


LayoutAnswer: TypeAlias = LayoutDecision | LayoutRefusal | LayoutRenaming
