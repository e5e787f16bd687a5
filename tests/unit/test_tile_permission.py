"""Features that need the permission of the operating system are used only with it."""

from __future__ import annotations

import pytest

from xrelay import tile_permission
from xrelay.tile_permission import usable_features


@pytest.mark.parametrize("is_granted", [True, False])
def test_tiles_need_the_permission(is_granted: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tile_permission, "request_tiles", lambda: is_granted)
    found = usable_features(["avx2", "amx-tile", "amx-int8"])
    assert found == ({"avx2", "amx-tile", "amx-int8"} if is_granted else {"avx2"})


def test_no_permission_is_requested_without_tiles(monkeypatch: pytest.MonkeyPatch):
    def refuse() -> bool:
        raise AssertionError("not requested")

    monkeypatch.setattr(tile_permission, "request_tiles", refuse)
    assert usable_features(["avx2"]) == {"avx2"}


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "x86_64"), ("Linux", "aarch64")])
def test_other_systems_have_no_permission(system: str, machine: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert not tile_permission.request_tiles.__wrapped__()
