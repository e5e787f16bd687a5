"""The relay dialect. `RELAY` and `LANGUAGE` (dialect.py) import every operator on first use.

A module of the dialect, such as that of a type, is imported without the operators.
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
