"""Native code is loaded only from files and folders that only the user and root may write."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import pytest

from xrelay.api.model import load
from xrelay.errors import ArtifactError
from xrelay.runtime import trust
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.cache import ModelCache, ObjectCache
from xrelay.runtime.digests import content_key
from xrelay.runtime.trust import folder_fault

X = np.ones(100, np.float32)
KEY = content_key(["a key"])
OTHER = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def saved(add_artifact: Artifact, tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "m.xrelay"
    path.parent.mkdir()
    path.parent.chmod(0o755)
    add_artifact.save(path)
    return path


def test_saved_files_and_new_cache_folders_are_written_by_the_user_alone(saved: Path, tmp_path: Path):
    cache = ObjectCache(tmp_path / "new" / "cache", 1 << 20)
    old = os.umask(0)
    try:
        cache.put(KEY, b"code")
        load(saved)
    finally:
        os.umask(old)
    assert saved.stat().st_mode & 0o022 == 0
    for path in (cache.path(KEY), *cache.path(KEY).parents[:3]):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("mode", [0o666, 0o646, 0o602])
def test_a_model_that_others_may_write_is_refused(saved: Path, mode: int):
    saved.chmod(mode)
    with pytest.raises(ArtifactError, match=rf"m\.xrelay' .*m\.xrelay' .*mode 0{mode:o}"):
        load(saved)
    assert load(saved, trust=True)(X, X)[0][0] == 2


def test_a_folder_that_others_may_write_is_no_place_for_a_model(saved: Path):
    saved.parent.chmod(0o777)
    with pytest.raises(ArtifactError, match=r"folder' .* \(mode 0777\); help"):
        load(saved)
    saved.parent.chmod(0o1777)  # sticky: users cannot replace another user's file
    load(saved)


def test_a_link_leads_to_what_is_checked(saved: Path, tmp_path: Path):
    link = tmp_path / "link.xrelay"
    link.symlink_to(saved)
    load(link)
    saved.parent.chmod(0o777)
    with pytest.raises(ArtifactError, match="everyone"):
        load(link)


@needs_root
def test_a_model_of_another_user_is_refused(saved: Path):
    os.chown(saved, OTHER, -1)
    with pytest.raises(ArtifactError, match=f"uid {OTHER}, you are uid 0"):
        load(saved)


@needs_root
def test_a_group_that_is_the_user_alone_may_write(saved: Path, monkeypatch: pytest.MonkeyPatch):
    os.chown(saved, -1, 0)
    saved.chmod(0o664)
    load(saved)
    os.chown(saved, -1, OTHER)
    with pytest.raises(ArtifactError, match=f"group {OTHER} "):
        load(saved)
    monkeypatch.setattr(trust, "_CHECKED", False)
    load(saved)


def test_every_folder_above_counts(tmp_path: Path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "a", inner):
        folder.chmod(0o755)
    assert folder_fault(inner) is None
    tmp_path.chmod(0o757)
    fault = folder_fault(inner)
    assert fault is not None
    assert fault.startswith(f"'{tmp_path}' ")
    assert "mode 0757" in fault
    tmp_path.chmod(0o1777)
    assert folder_fault(inner) is None
    assert folder_fault(tmp_path) is not None


@pytest.mark.parametrize("fault", ["mode", pytest.param("owner", marks=needs_root)])
def test_a_cache_that_others_may_write_is_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: str):
    root = tmp_path / "cache"
    caches = ObjectCache(root, 1 << 20), ModelCache(root, 1 << 20)
    caches[0].put(KEY, b"code")
    if fault == "mode":
        root.chmod(0o777)
    else:
        os.chown(root, OTHER, -1)
    for _ in range(3):
        caches[0].put(content_key(["another"]), b"code")
        assert caches[0].get(KEY) is None
        assert caches[1].get(KEY) is None
        assert caches[1].put(KEY, lambda file: file.write(b"model")) is None
    assert len(list(root.rglob("*.o"))) == 1
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    expected = "mode 0777" if fault == "mode" else f"uid {OTHER}"
    for part in (f"compiling without the cache in '{root}'", expected, "XRELAY_CACHE_DIR", "chmod"):
        assert part in record.message


def test_an_entry_that_is_a_link_or_writable_by_others_is_not_used(tmp_path: Path):
    cache = ObjectCache(tmp_path / "cache", 1 << 20)
    cache.put(KEY, b"code")
    path = cache.path(KEY)
    path.chmod(0o666)
    assert cache.get(KEY) is None
    path.chmod(0o600)
    assert cache.get(KEY) == b"code"
    moved = tmp_path / "elsewhere.o"
    path.rename(moved)
    path.symlink_to(moved)
    assert cache.get(KEY) is None
    cache.put(KEY, b"new code")
    assert not path.is_symlink()
    assert cache.get(KEY) == b"new code"
    assert moved.read_bytes().endswith(b"code")
    assert not moved.read_bytes().endswith(b"new code")


def test_parts_have_names_that_nobody_can_foresee(tmp_path: Path):
    cache = ModelCache(tmp_path / "cache", 1 << 20)
    seen: set[str] = set()
    for _ in range(5):
        cache.put(KEY, lambda file: seen.update(path.name for path in tmp_path.rglob("*.part")))
    assert len(seen) == 5
