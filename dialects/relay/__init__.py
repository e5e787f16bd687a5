"""The relay dialect. `RELAY` and `LANGUAGE` (dialect.py) bring every operator when they are first asked for.

A part of the dialect, such as a type, comes without the operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xrelay.dialects.relay.dialect import LANGUAGE as LANGUAGE
    from xrelay.dialects.relay.dialect import RELAY as RELAY

__all__ = ["LANGUAGE", "RELAY"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from xrelay.dialects.relay import dialect

    return getattr(dialect, name)
