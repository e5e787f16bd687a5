"""How often the bytes of files are hashed, where what is known of a file is remembered for its state."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from xrelay.runtime import file_record


def count_hashed(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[int]:
    """A list that grows with each call of `module.sources_key`; files are settled as soon as they are written."""
    calls: list[int] = []
    key = module.sources_key

    def counted(sources: Any) -> str:
        calls.append(1)
        return key(sources)

    monkeypatch.setattr(module, "sources_key", counted)
    monkeypatch.setattr(file_record, "_SETTLED_NANOSECONDS", -(1 << 62))
    return calls
