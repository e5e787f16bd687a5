"""What programs say at each level: relay (whole tensors), topi (index spaces), loop (loop nests on buffers)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.ir import Dialect

ALL_DIALECTS: dict[str, str] = {
    "relay": "xrelay.dialects.relay:RELAY",
    "topi": "xrelay.dialects.topi:TOPI",
    "loop": "xrelay.dialects.loop:LOOP",
}
"""Dialect name → "module:OBJECT", imported when a text or a pass first mentions it."""


def dialect_thunks() -> dict[str, Callable[[], Dialect]]:
    """The table in the shape that xDSL's `Context` and `Universe` take."""

    def thunk(target: str) -> Callable[[], Dialect]:
        module, _, name = target.partition(":")
        return lambda: getattr(import_module(module), name)

    return {name: thunk(target) for name, target in ALL_DIALECTS.items()}
