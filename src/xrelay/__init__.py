"""xrelay: a deep-learning compiler you can read from end to end.

The names below are imported when they are first used, so `import xrelay` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from xrelay.api.compile import compile as compile
    from xrelay.api.graph_module import GraphModule as GraphModule
    from xrelay.api.model import CompiledModel as CompiledModel
    from xrelay.api.model import load as load
    from xrelay.api.same import same as same
    from xrelay.target.target import Target as Target

_PUBLIC: dict[str, str] = {
    "CompiledModel": "xrelay.api.model",
    "GraphModule": "xrelay.api.graph_module",
    "Target": "xrelay.target.target",
    "compile": "xrelay.api.compile",
    "load": "xrelay.api.model",
    "same": "xrelay.api.same",
}
"""Public name → module."""

__all__ = ["CompiledModel", "GraphModule", "Target", "__version__", "compile", "load", "same"]


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'xrelay' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
