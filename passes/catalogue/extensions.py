"""Passes that other packages register, and the points of the compile pipeline at which they run.

A point is before or after a stage or a pass of the compiler: `before stage-fused`, `after stage-optimized`,
`after relay-fold-constant`. A pass that occurs several times has points for each occurrence: those of the second one
are `before relay-fold-constant#2` and `after relay-fold-constant#2`. A point exists also if its pass does not run at
the current level. `xrelay.extend.passes` is the public interface.
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
    """The point of the compile pipeline at which it runs; None if it runs only by name."""
    exact: bool
    """Whether it preserves every bit of every result."""
    per_function: bool
    """Whether it processes one function at a time, so that it may be in `func.func(…)`."""


_REGISTERED: dict[str, RegisteredPass] = {}


def add_registered(row: RegisteredPass) -> None:
    """Adds a pass, and replaces a pass with the same name. The caller has checked name and point."""
    note_registration(row.load)
    _REGISTERED[row.name] = row


def remove_registered(name: str) -> None:
    """Removes a pass, if it is registered."""
    _REGISTERED.pop(name, None)


def registered_passes() -> Mapping[str, RegisteredPass]:
    """Returns the passes of other packages by name, in the order in which they were added.

    Imports the plug-ins of installed packages first.
    """
    load_plugins("passes")
    return _REGISTERED


def level_of_pass(name: str) -> int:
    """Returns the lowest level at which a `Sequential` runs the pass; 0 for an unknown pass."""
    row = relay_pass(name)
    if row is not None:
        return row.opt_level
    added = registered_passes().get(name)
    return 0 if added is None else added.opt_level
