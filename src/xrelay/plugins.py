"""Other packages that extend the compiler, found by entry points and imported when their kind is first needed.

A package announces modules in the group `xrelay.plugins`; the name says what a module registers when imported:

    [project.entry-points."xrelay.plugins"]
    relay-ops = "my_package.ops"            # classes decorated with register_relay_op
    interpreter = "my_package.meaning"      # functions decorated with evaluates
    strategies = "my_package.strategies"    # functions decorated with implements
    onnx = "my_package.converters"          # functions decorated with converts

Dialects and passes of one's own go through xDSL's group `xdsl.universe` instead.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from xrelay.errors import XRelayError

GROUP = "xrelay.plugins"
KINDS = ("relay-ops", "interpreter", "strategies", "onnx")


class PluginError(XRelayError):
    """A package announces an extension that cannot be loaded."""


@cache
def load_plugins(kind: str) -> None:
    """Import every module that an installed package announces under `kind`, once in a process.

    Raises `PluginError` naming the package where a module cannot be imported, and for a kind nobody asks for.
    """
    for entry in _entries():
        if entry.name not in KINDS:
            raise PluginError(
                f"{_package(entry)} announces {entry.name!r} in {GROUP}", help=f"known kinds are {', '.join(KINDS)}"
            )
        if entry.name == kind:
            try:
                import_module(entry.module)
            except ImportError as error:
                raise PluginError(
                    f"{_package(entry)} cannot be loaded: {error}", help="repair or uninstall the package"
                ) from error


def _entries() -> list[EntryPoint]:
    """The extensions, in an order that does not depend on the file system."""
    return sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry), entry.name, entry.value))


def _package(entry: EntryPoint) -> str:
    """The package that an entry point belongs to."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "a package"
