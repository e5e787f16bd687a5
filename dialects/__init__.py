"""What programs say at each level: relay (whole tensors), topi (index spaces), loop (loop nests on buffers)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from xdsl.ir import Dialect

ALL_DIALECTS: dict[str, str] = {
    "relay": "xrelay.dialects.relay:RELAY",
    "topi": "xrelay.dialects.topi:TOPI",
    "loop": "xrelay.dialects.loop:LOOP",
}
"""Dialect name → "module:OBJECT", imported when a text or a pass first mentions it."""

REPLACED_DIALECTS: dict[str, str] = {
    "arith": "xrelay.dialects.upstream.arith_extras:ARITH",
    "func": "xrelay.dialects.upstream.func_extras:FUNC",
    "llvm": "xrelay.dialects.upstream.llvm_extras:LLVM",
}
"""xDSL's dialects that our tools load in an extended form; plain `xdsl-opt` has them without the extensions."""


def dialect_thunks() -> dict[str, Callable[[], Dialect]]:
    """The table in the shape that xDSL's `Context` and `Universe` take."""
    return {name: _thunk(target) for name, target in ALL_DIALECTS.items()}


def with_replaced(upstream: Mapping[str, Callable[[], Dialect]]) -> dict[str, Callable[[], Dialect]]:
    """The dialects of `upstream`, those in `REPLACED_DIALECTS` in our form."""
    return {**upstream, **{name: _thunk(target) for name, target in REPLACED_DIALECTS.items()}}


def _thunk(target: str) -> Callable[[], Dialect]:
    module, _, name = target.partition(":")
    return lambda: getattr(import_module(module), name)
