"""The caches on disk."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path
from typing import BinaryIO

import platformdirs
import pytest

from xrelay.environment import cache_limit
from xrelay.errors import InputError
from xrelay.runtime.cache import ModelCache, ObjectCache, cache_root, object_key
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.digests import content_key
from xrelay.runtime.object_code import llvm_compiler
from xrelay.runtime.object_code.llvm_compiler import compile_many

TEXT = "define i32 @f() {\n  ret i32 1\n}\n"
KEY = content_key(["a key"])


def entry_key(index: int) -> str:
    return content_key([str(index)])


def test_parts_do_not_run_together():
    assert content_key(["ab", "c"]) != content_key(["a", "bc"])
    assert content_key(["ab"]) == content_key([b"ab"])


def test_everything_that_decides_the_code_is_in_the_key():
    def key(text: str = TEXT, cpu: str = "c", features: str = "+f", opt_level: int = 3) -> str:
        return object_key(text, cpu=cpu, features=features, opt_level=opt_level)

    assert len({key(), key(text="x"), key(cpu="d"), key(features="+g"), key(opt_level=2)}) == 5
    assert key() == key()


def test_put_and_get(tmp_path: Path):
    cache = ObjectCache(tmp_path, 1 << 20)
    assert cache.get(KEY) is None
    cache.put(KEY, b"code")
    assert cache.get(KEY) == b"code"
    assert ObjectCache(tmp_path, 1 << 20).get(KEY) == b"code"


@pytest.mark.parametrize("damage", [b"", b"x", b"xrelay object 1\n", None])
def test_a_damaged_entry_is_a_miss_and_is_written_again(tmp_path: Path, damage: bytes | None):
    cache = ObjectCache(tmp_path, 1 << 20)
    cache.put(KEY, b"some code")
    whole = cache.path(KEY).read_bytes()
    cache.path(KEY).write_bytes(whole[:-1] + b"!" if damage is None else damage)
    assert cache.get(KEY) is None
    assert not cache.path(KEY).exists()
    cache.put(KEY, b"some code")
    assert cache.get(KEY) == b"some code"


def test_the_entries_unused_for_longest_go(tmp_path: Path):
    cache = ObjectCache(tmp_path, 10_000)
    for index in range(8):
        cache.put(entry_key(index), bytes(1000))
        os.utime(cache.path(entry_key(index)), (index, index))
    assert cache.get(entry_key(0)) is not None  # a use makes it the newest entry
    for index in range(8, 11):
        cache.put(entry_key(index), bytes(1000))
    kept = [index for index in range(11) if cache.path(entry_key(index)).exists()]
    assert 0 in kept
    assert 10 in kept
    assert 1 not in kept
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.o")) <= 10_000


def test_a_use_changes_the_status_of_an_entry_once_a_day(tmp_path: Path):
    cache = ObjectCache(tmp_path, 10_000)
    cache.put(KEY, b"code")
    for age in (80_000, 90_000):
        os.utime(cache.path(KEY), (time.time() - age,) * 2)
        before = cache.path(KEY).stat().st_ctime_ns
        assert cache.get(KEY) == b"code"
        assert (cache.path(KEY).stat().st_ctime_ns == before) is (age < 86_400)


def test_an_entry_larger_than_the_limit_is_kept_for_its_user(tmp_path: Path):
    cache = ModelCache(tmp_path, 10)
    path = cache.put(KEY, lambda file: file.write(bytes(1000)))
    assert path is not None
    assert path.is_file()


def test_a_folder_that_cannot_be_made_is_a_miss(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "file").write_text("in the way")
    cache = ObjectCache(tmp_path / "file" / "cache", 1 << 20)
    cache.put(KEY, b"code")
    assert cache.get(KEY) is None
    assert "compiling without the cache" in caplog.text
    assert "Not a directory" in caplog.text


def test_a_failing_write_leaves_nothing(tmp_path: Path):
    cache = ModelCache(tmp_path, 1 << 20)

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - the writer's own error passes through
        cache.put(KEY, fail)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_a_killed_writer_left_is_removed(tmp_path: Path):
    for name, age in (("old", 7200), ("new", 0)):
        left = tmp_path / "ab" / f".{name}.part"
        left.parent.mkdir(exist_ok=True)
        left.write_bytes(b"half")
        os.utime(left, (time.time() - age,) * 2)
    ObjectCache(tmp_path, 1 << 20).put(KEY, b"code")
    assert [path.name for path in tmp_path.rglob("*.part")] == [".new.part"]


def test_a_folder_that_is_removed_while_it_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Another process clears the cache after the list of folders was read."""
    scandir = os.scandir

    def removed_first(path: str):
        if str(path) != str(tmp_path):
            Path(path, f"{KEY}.o").unlink()
            Path(path).rmdir()
        return scandir(path)

    cache = ObjectCache(tmp_path, 1 << 20)
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", removed_first)
        cache.put(KEY, b"code")
    assert cache.get(KEY) is None
    cache.put(KEY, b"code")
    assert cache.get(KEY) == b"code"


def test_a_relative_folder_of_a_working_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XRELAY_CACHE_DIR", "relative")
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    assert cache_root() is None


def test_models_by_key(tmp_path: Path):
    cache = ModelCache(tmp_path, 1 << 20)
    assert cache.get(KEY) is None
    path = cache.put(KEY, lambda file: file.write(b"model"))
    assert cache.get(KEY) == path
    cache.drop(KEY, "a reason")
    assert cache.get(KEY) is None
    cache.drop(KEY, "a reason")


def test_writers_at_once(tmp_path: Path):
    cache = ObjectCache(tmp_path, 1 << 20)
    writers = [threading.Thread(target=cache.put, args=(KEY, b"same code")) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert cache.get(KEY) == b"same code"


def test_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.setenv("XRELAY_CACHE", "0")
    assert cache_root() is None
    assert ObjectCache.default() is None
    assert ModelCache.default() is None
    monkeypatch.setenv("XRELAY_CACHE_LIMIT", "5")
    assert cache_limit() == 5 << 20
    monkeypatch.setenv("XRELAY_CACHE_LIMIT", "lots")
    with pytest.raises(InputError, match="lots"):
        cache_limit()


def test_compiling_uses_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    cache = ObjectCache(tmp_path, 1 << 20)
    first = compile_many([TEXT], cpu="", features="", cache=cache)
    monkeypatch.setattr(llvm_compiler, "compile_ir", None)
    assert compile_many([TEXT], cpu="", features="", cache=cache) == first


def test_an_entry_in_the_place_of_another_is_a_miss(tmp_path: Path):
    cache = ObjectCache(tmp_path, 1 << 20)
    for index in range(2):
        cache.put(entry_key(index), b"code of %d" % index)
    cache.path(entry_key(0)).replace(cache.path(entry_key(1)))
    assert cache.get(entry_key(1)) is None


def test_thirty_damaged_entries_are_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    cache = ObjectCache(tmp_path, 1 << 20)
    for index in range(30):
        cache.put(entry_key(index), b"code")
        cache.path(entry_key(index)).write_bytes(b"damaged")
    assert [cache.get(entry_key(index)) for index in range(30)] == [None] * 30
    (record,) = caplog.records
    assert f"the cache in '{tmp_path}' is damaged" in record.message


def test_a_full_disk_is_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    def fill(file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    cache = ModelCache(tmp_path, 1 << 20)
    for index in range(5):
        assert cache.put(entry_key(index), fill) is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    (record,) = caplog.records
    assert "No space left on device" in record.message
    assert "XRELAY_CACHE_DIR" in record.message


@pytest.mark.parametrize("name", ["XRELAY_CACHE_LIMIT", "XRELAY_NUM_THREADS"])
@pytest.mark.parametrize("value", ["-1", "1.5", "many", "9" * 5000])
def test_variables_without_a_meaning(name: str, value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"^{name} is '"):
        cache_limit() if name.endswith("LIMIT") else default_num_threads()


def test_a_user_without_a_home_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.delenv("XRELAY_CACHE_DIR")
    for answer in ("~/.cache/xrelay", None):

        def folder(name: str, answer: str | None = answer) -> str:
            if answer is None:
                raise RuntimeError("no home")
            return answer

        monkeypatch.setattr(platformdirs, "user_cache_dir", folder)
        for _ in range(2):
            assert cache_root() is None
    assert len(caplog.records) == 1
