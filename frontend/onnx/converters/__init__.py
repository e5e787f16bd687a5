"""The converters, one file per op family; `load()` registers them all."""

from __future__ import annotations

from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules


def load() -> None:
    """Import every family (once: Python keeps imported modules), and other packages' converters."""
    import_modules(__name__)
    load_plugins("converters")
