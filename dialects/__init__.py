"""The levels of programs: relay (whole tensors), topi (index spaces), loop (loop nests on buffers)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from xrelay.plugins import PluginError, load_dialect, plugin_dialects

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from xdsl.ir import Dialect

ALL_DIALECTS: dict[str, str] = {
    "relay": "xrelay.dialects.relay.dialect:RELAY",
    "topi": "xrelay.dialects.topi:TOPI",
    "loop": "xrelay.dialects.loop:LOOP",
    "amx": "xrelay.dialects.upstream.amx:AMX",
}
"""Maps a dialect name to "module:OBJECT", which is imported when a text or a pass first uses the dialect."""

REPLACED_DIALECTS: dict[str, str] = {
    "arith": "xrelay.dialects.upstream.arith_extras:ARITH",
    "func": "xrelay.dialects.upstream.func_extras:FUNC",
    "llvm": "xrelay.dialects.upstream.llvm_extras:LLVM",
    "memref": "xrelay.dialects.upstream.memref_extras:MEMREF",
    "vector": "xrelay.dialects.upstream.vector_extras:VECTOR",
}
"""xDSL's dialects that xrelay's tools load in an extended form; plain `xdsl-opt` has them without the extensions."""


def dialect_thunks() -> dict[str, Callable[[], Dialect]]:
    """The dialects of xrelay and of plugins, in the form that xDSL's `Context` and `Universe` take.

    A plugin's dialect with the name of a dialect of xrelay is ignored.
    """
    others = {name: _plugin_thunk(entry) for name, entry in plugin_dialects().items()}
    return {**others, **{name: _thunk(target) for name, target in ALL_DIALECTS.items()}}


def with_replaced(upstream: Mapping[str, Callable[[], Dialect]]) -> dict[str, Callable[[], Dialect]]:
    """The dialects of `upstream`, with those in `REPLACED_DIALECTS` in their extended form."""
    return {**upstream, **{name: _thunk(target) for name, target in REPLACED_DIALECTS.items()}}


def _plugin_thunk(entry: EntryPoint) -> Callable[[], Dialect]:
    def load() -> Dialect:
        from xdsl.ir import Dialect

        found = load_dialect(entry)
        if not isinstance(found, Dialect) or found.name != entry.name:
            raise PluginError(f"{entry.value}, registered as the dialect {entry.name!r}, is {found!r}")
        return found

    return load


def _thunk(target: str) -> Callable[[], Dialect]:
    module, _, name = target.partition(":")
    return lambda: getattr(import_module(module), name)
