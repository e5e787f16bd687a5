"""Passes that other packages add, and the points of the compile pipeline at which they run.

A point is a place beside a stage or a pass of the compiler: `before stage-fused`, `after stage-optimized`,
`after relay-fold-constant`. A pass that stands in the pipeline several times gives a point for each: the second one is
`after relay-fold-constant#2`. A point is there also where the pass beside it does not run at the level at hand.
`xrelay.extend.passes` is the public door.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.passes import ModulePass

from xrelay.passes.catalogue.relay_names import relay_pass
from xrelay.plugins import load_plugins
from xrelay.registrations import note_registration


@dataclass(frozen=True)
class RegisteredPass:
    """A pass of another package."""

    name: str
    load: Callable[[], type[ModulePass]]
    """Imports its class."""
    opt_level: int
    """The lowest optimisation level at which the compiler and a `Sequential` run it."""
    at: str | None
    """The point of the compile pipeline at which it runs; None: only where somebody names it."""
    exact: bool
    """Whether every bit of every result stays as it is."""
    per_function: bool
    """Whether it looks at one function at a time, so that `func.func(…)` may hold it."""


_REGISTERED: dict[str, RegisteredPass] = {}


def add_registered(row: RegisteredPass) -> None:
    """Adds a pass; one of the same name is replaced. The caller has checked name and point."""
    note_registration(row.load)
    _REGISTERED[row.name] = row


def remove_registered(name: str) -> None:
    """Takes a pass away again, if it is there."""
    _REGISTERED.pop(name, None)


def registered_passes() -> Mapping[str, RegisteredPass]:
    """Returns the passes of other packages by name, in the order in which they were added.

    What installed packages announce is imported first.
    """
    load_plugins("passes")
    return _REGISTERED


def level_of_pass(name: str) -> int:
    """Returns the lowest level at which a `Sequential` runs the pass; 0 for one that no table knows."""
    row = relay_pass(name)
    if row is not None:
        return row.opt_level
    added = registered_passes().get(name)
    return 0 if added is None else added.opt_level
