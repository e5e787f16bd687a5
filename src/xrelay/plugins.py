"""Extensions in other packages, found by entry points and imported when their kind is first needed.

A package announces modules in the group `xrelay.plugins`. The name of an entry point is the kind of object that the
module registers when it is imported. A dialect is announced by name in the group `xrelay.dialects`, and is imported
when a text mentions it:

    [project.entry-points."xrelay.plugins"]
    ops = "acme.ops"                  # classes decorated with register_relay_op
    interpreter = "acme.meaning"      # functions decorated with evaluates
    strategies = "acme.strategies"    # functions decorated with implements
    schedules = "acme.schedules"      # calls of register_family and register_primitive
    converters = "acme.converters"    # functions decorated with converts
    passes = "acme.passes"            # calls of register_pass
    targets = "acme.targets"          # calls of register_cpu, functions decorated with alters_layout
    gradients = "acme.gradients"      # functions decorated with differentiates
    symbols = "acme.symbols"          # calls of register_external_symbol

    [project.entry-points."xrelay.dialects"]
    acme = "acme.ops:ACME"            # a Dialect

docs/write-an-op.md shows a package. If a plugin cannot be loaded, the logger `xrelay` warns and names it, and the
other plugins are still loaded.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from xrelay.errors import XRelayError, did_you_mean, one_line
from xrelay.installed_packages import installed_packages

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "xrelay.plugins"
DIALECTS_GROUP = "xrelay.dialects"
KINDS = ("ops", "interpreter", "strategies", "schedules", "converters", "passes", "targets", "gradients", "symbols")

_LOG = logging.getLogger(__name__)
_loaded: set[str] = set()


class PluginError(XRelayError):
    """A package announces an extension that cannot be loaded."""


def load_plugins(kind: str) -> None:
    """Imports every module that installed packages announce under `kind`, once per process.

    A module that cannot be imported, for any reason, is named in a warning.
    """
    if kind in _loaded:
        return
    # Added first, because the imported modules may themselves load this kind.
    _loaded.add(kind)
    _check_kinds()
    for entry in _entries(GROUP):
        if entry.name != kind:
            continue
        try:
            import_module(entry.module)
        except (Exception, SystemExit) as error:  # a plugin may raise anything, and must not stop the others
            _LOG.warning("%s", _fault(entry, error))


def plugin_dialects() -> dict[str, EntryPoint]:
    """Returns the dialects of other packages by name, not yet imported."""
    return {entry.name: entry for entry in _entries(DIALECTS_GROUP)}


def load_dialect(entry: EntryPoint) -> object:
    """Imports the dialect of an entry point. Raises a `PluginError` that names the package."""
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        raise PluginError(_fault(entry, error), help="fix or uninstall the package") from error


@cache
def _check_kinds() -> None:
    """Warns of entry points whose kind is unknown."""
    for entry in _entries(GROUP):
        if entry.name not in KINDS:
            hint = did_you_mean(entry.name, KINDS, f"known kinds are {', '.join(KINDS)}")
            _LOG.warning("%s announces %r in %s: %s", _package(entry), entry.name, GROUP, hint)


def _entries(group: str) -> tuple[EntryPoint, ...]:
    """Returns the extensions of a group, in an order that does not depend on the file system."""
    return _find_extensions()[group]


@cache
def _find_extensions() -> dict[str, tuple[EntryPoint, ...]]:
    """Returns the extensions of both groups. Cached, because it reads a file of every installed package."""
    if not installed_packages().announce:
        return {GROUP: (), DIALECTS_GROUP: ()}
    from importlib.metadata import entry_points  # takes long to import

    known = entry_points()
    return {
        group: tuple(sorted(known.select(group=group), key=lambda entry: (_package(entry), entry.name, entry.value)))
        for group in (GROUP, DIALECTS_GROUP)
    }


def _fault(entry: EntryPoint, error: BaseException) -> str:
    reason = one_line(str(error)) or "no message"
    return f"{_package(entry)} cannot be loaded ({entry.group}, {entry.value}): {type(error).__name__}: {reason}"


def _package(entry: EntryPoint) -> str:
    """Returns the name and version of the package that declares an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "a package"
