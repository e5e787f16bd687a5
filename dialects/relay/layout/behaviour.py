"""The answers of an operator to a proposal of operand layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.layout.layout import Layout

ResultLayout: TypeAlias = "Layout | tuple[Layout | None, ...] | None"
"""The layout of a result; for a tuple one for each field, or one for all fields."""


@dataclass(frozen=True)
class LayoutDecision:
    """The op supports the layouts: the layouts of operands and result, and changed properties.

    None for an operand or the result keeps its layout. A layout of a tuple operand applies to all its fields. If `op`,
    a `RelayOp` class, is given, an op of that class with only these properties replaces the op. With `pads`, the op
    ignores the elements that fill up the last blocks of its operands, and those of its result are cropped.
    """

    operands: tuple[Layout | None, ...]
    result: ResultLayout
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    op: type[Operation] | None = None
    pads: bool = False


@dataclass(frozen=True)
class LayoutRefusal:
    """The op requires its current layouts; `reason` is the explanation for remarks."""

    reason: str


@dataclass(frozen=True)
class LayoutRenaming:
    """The op becomes a no-op with the layout: its operand, unchanged, is its result.

    `result` is the layout of this value as the result.
    """

    result: Layout


LayoutAnswer: TypeAlias = LayoutDecision | LayoutRefusal | LayoutRenaming
