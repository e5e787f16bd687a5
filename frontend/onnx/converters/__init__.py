"""The converters, one file per op family; `load()` registers them."""

from __future__ import annotations

from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules


def load() -> None:
    """Import all families (Python does so only once), and the converters of other packages."""
    import_modules(__name__)
    load_plugins("converters")
