"""What an operator answers when its operands could come in other layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import Attribute

from xrelay.dialects.relay.layouts import Layout


@dataclass(frozen=True)
class LayoutDecision:
    """The op can work so: operands wanted in these layouts, the result in this one, these properties changed.

    `None` for an operand or the result means that it keeps the layout it has. For an op whose result is a tuple,
    `result` is the layout of each tensor in it.
    """

    operands: tuple[Layout | None, ...]
    result: Layout | None
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])


@dataclass(frozen=True)
class LayoutRefusal:
    """The op insists on the layouts it has; `reason` says why, for remarks."""

    reason: str
