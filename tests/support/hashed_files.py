"""Counts how often files are hashed, for tests of caches that are keyed by a file's state."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from xrelay.runtime import cache


def count_hashed(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[int]:
    """Returns a list that grows with each call of `module.sources_key`; files count as settled once written."""
    calls: list[int] = []
    key = module.sources_key

    def counted(sources: Any) -> str:
        calls.append(1)
        return key(sources)

    monkeypatch.setattr(module, "sources_key", counted)
    monkeypatch.setattr(cache, "_SETTLED_NANOSECONDS", -(1 << 62))
    return calls
