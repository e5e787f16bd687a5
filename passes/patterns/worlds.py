"""A registry of the kinds of nodes that patterns match, each with its functions to match and to partition.

Values of the IR are registered here (`ir_match.py`); other layers register their own kinds, such as expressions.
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
    """The operations on a pattern and a node of one kind."""

    match: Callable[[DFPattern, object], bool]
    """Returns whether the pattern matches the node."""
    partition: Callable[[DFPattern, object, Mapping[str, object] | None, Callable[[object], object]], object] | None
    """Returns the node with matches outlined to functions; None for nodes that cannot be replaced."""


_WORLDS: dict[type[object], World] = {}


def add_world(kind: type[object], world: World) -> None:
    """Registers nodes of the class `kind` and its subclasses."""
    _WORLDS[kind] = world


def world_of(node: object) -> World:
    """Returns the world of a node. Raises `InputError` if patterns cannot match nodes of its class."""
    for kind in type(node).__mro__:
        if kind in _WORLDS:
            return _WORLDS[kind]
    raise InputError(f"{with_article(type(node).__name__)} has no structure to match", help="give an expression")
