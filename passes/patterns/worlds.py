"""What patterns are matched against: for each kind of node, who matches it and who partitions around it.

The kinds that stand here are values of the IR (`ir_match.py`); a layer above adds its own, as that of expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xrelay.errors import InputError, with_article

if TYPE_CHECKING:
    from xrelay.passes.patterns.nodes import DFPattern


@dataclass(frozen=True)
class World:
    """What can be done with a pattern and a node of one kind."""

    match: Callable[[DFPattern, object], bool]
    """Whether the pattern matches the node."""
    partition: Callable[[DFPattern, object, Mapping[str, object] | None, Callable[[object], object]], object] | None
    """What stands for the node with matches as functions of their own; None for nodes that cannot be replaced."""


_WORLDS: dict[type[object], World] = {}


def add_world(kind: type[object], world: World) -> None:
    """Let patterns be matched against nodes of the class `kind` and those derived from it."""
    _WORLDS[kind] = world


def world_of(node: object) -> World:
    """The world that a node is of; `InputError` for what no pattern can be matched against."""
    for kind in type(node).__mro__:
        if kind in _WORLDS:
            return _WORLDS[kind]
    raise InputError(f"{with_article(type(node).__name__)} has no structure to match", help="give an expression")
