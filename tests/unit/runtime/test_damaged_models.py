"""Damaged, truncated or exchanged saved models: an error of one line, or correct results."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.hashed_files import count_hashed

from xrelay.api.model import CompiledModel, load
from xrelay.errors import ArtifactError
from xrelay.runtime import artifact, cache
from xrelay.runtime.artifact import Artifact

X = np.ones(100, np.float32)
EXPECTED = 2 + np.arange(100, dtype=np.float32)

FLIP = """
import random, sys
from pathlib import Path
import numpy as np
from xrelay.api.model import load
from xrelay.errors import XRelayError

whole, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[1] + ".flipped")
x, expected = np.ones(100, np.float32), 2 + np.arange(100, dtype=np.float32)
header = 8 + int.from_bytes(whole[:8], "little")
generator = random.Random(0)
weights = whole.index(np.arange(4, 8, dtype=np.float32).tobytes())
places = [*range(header), *generator.sample(range(header, len(whole)), 300), *range(weights, weights + 40)]
refused = 0
for place in places:
    flipped = bytes([whole[place] ^ 1 << generator.randrange(8)])
    path.write_bytes(whole[:place] + flipped + whole[place + 1 :])
    try:
        model = load(path, mmap=bool(place % 2))
    except XRelayError as error:
        assert error.help and "\\n" not in str(error), error
        refused += 1
    else:
        assert (model(x, x)[0] == expected).all(), place
print(len(places), refused)
"""
CUT_SHORT = """
import os, sys
import numpy as np
from xrelay.api.model import load

x = np.ones(100, np.float32)
model = load(sys.argv[1], mmap=False)
os.truncate(sys.argv[1], 0)
assert (model(x, x)[0] == 2 + np.arange(100)).all()
"""


@pytest.fixture
def saved(add_artifact: Artifact, tmp_path: Path) -> Path:
    path = tmp_path / "m.xrelay"
    add_artifact.save(path)
    return path


def run(script: str, *arguments: object) -> str:
    """The output of a script in a separate process, which must succeed."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def weight_place(path: Path) -> int:
    return path.read_bytes().index(np.arange(100, dtype=np.float32).tobytes()) + 41


def long_ago(path: Path) -> os.stat_result:
    os.utime(path, (1, 1))
    return path.stat()


def test_a_flipped_bit_gives_an_error_or_the_same_numbers(saved: Path):
    tried, refused = map(int, run(FLIP, saved).split())
    assert tried > 1000
    assert refused > 0.9 * tried


@pytest.mark.parametrize("mapped", [True, False])
def test_a_changed_weight_is_refused(saved: Path, mapped: bool):
    flip(saved, weight_place(saved))
    with pytest.raises(ArtifactError, match="the weights do not match their digest; help: compile the model again"):
        load(saved, mmap=mapped)


def test_a_model_that_is_cut_short_in_use_goes_on_where_it_was_copied(saved: Path):
    run(CUT_SHORT, saved)


def test_weights_are_mapped_where_they_are_many(saved: Path, monkeypatch: pytest.MonkeyPatch):
    def is_mapped(**options: Any) -> bool:
        weight = Artifact.load(saved, **options).weights[0]
        while isinstance(weight.base, np.ndarray):
            weight = weight.base
        return "mmap" in type(weight.base.obj if isinstance(weight.base, memoryview) else weight.base).__name__

    assert (is_mapped(), is_mapped(mmap=True), is_mapped(mmap=False)) == (False, True, False)
    monkeypatch.setattr(artifact, "COPIED_UP_TO", 399)
    assert is_mapped()


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows each time the weights of a file are hashed."""
    return count_hashed(monkeypatch, artifact)


def test_weights_are_checked_once_for_each_state_of_a_file(saved: Path, hashed: list[int]):
    for _ in range(3):
        load(saved)
    assert len(hashed) == 1
    load(saved, verify=True)
    assert len(hashed) == 2
    long_ago(saved)
    load(saved)
    assert len(hashed) == 3


def test_a_file_that_was_checked_is_refused_once_it_changed(saved: Path, hashed: list[int]):
    load(saved)
    before = saved.stat()
    flip(saved, weight_place(saved))
    os.utime(saved, ns=(before.st_atime_ns, before.st_mtime_ns))
    for options in ({}, {"verify": True}):
        with pytest.raises(ArtifactError, match="weights do not match"):
            load(saved, **options)
    assert len(hashed) == 3


def test_a_change_through_a_mapping_is_seen(saved: Path, hashed: list[int]):
    """The second store to a mapped page does not update the file's times again."""
    place = weight_place(saved)
    with saved.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[place] = mapped[place]
        os.fsync(file.fileno())
        before = saved.stat()
        mapped[place] = mapped[place]
        if saved.stat().st_ctime_ns == before.st_ctime_ns:
            pytest.skip("this file system never writes mapped pages")
        load(saved)
        mapped[place] ^= 1
        with pytest.raises(ArtifactError, match="weights do not match"):
            load(saved)


def test_the_record_of_checked_files_is_small_and_may_be_damaged(
    saved: Path, tmp_path: Path, hashed: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache, "_MAX_LINES", 3)
    record = tmp_path / "cache" / "verified"
    for _ in range(5):
        os.utime(saved)
        load(saved)
    assert len(record.read_text().splitlines()) == 3
    record.write_bytes(b"\xff\0 nonsense \n" * 10)
    load(saved)
    load(saved)
    assert len(hashed) == 6


def test_a_file_that_changed_just_now_is_not_remembered(saved: Path, tmp_path: Path):
    assert load(saved)(X, X)[0].tolist() == EXPECTED.tolist()
    assert not (tmp_path / "cache" / "verified").exists()


def test_a_replaced_file_leaves_the_model_as_it_was(saved: Path, add_artifact: Artifact):
    model = load(saved, mmap=True)
    Artifact(add_artifact.objects, add_artifact.metadata, (np.zeros(100, np.float32),)).save(saved)
    np.testing.assert_array_equal(model(X, X)[0], EXPECTED)
    np.testing.assert_array_equal(load(saved)(X, X)[0], 2 * X)


def test_what_follows_the_model_is_refused(saved: Path):
    with saved.open("ab") as file:
        file.write(b"more")
    with pytest.raises(ArtifactError, match="its tensors end at"):
        load(saved)
    os.truncate(saved, 1 << 40)  # a sparse file: takes no space
    with pytest.raises(ArtifactError, match="its tensors end at"):
        load(saved)


def test_files_that_are_none(tmp_path: Path):
    (tmp_path / "sparse").touch()
    os.truncate(tmp_path / "sparse", 1 << 42)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("sparse", "pipe", "loop", ".", "x" * 300):
        with pytest.raises(ArtifactError) as caught:
            load(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(ArtifactError, match=r"regular.*file"):
        load("/dev/zero")


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/null and /dev/full are Linux's")
def test_devices_are_written_to_and_not_replaced(add_artifact: Artifact):
    model = CompiledModel(add_artifact)
    model.save("/dev/null")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(ArtifactError, match="cannot write '/dev/full': No space left on device"):
        model.save("/dev/full")
    assert Path("/dev/full").is_char_device()


def test_a_link_to_a_model_is_written_through(saved: Path, tmp_path: Path, add_artifact: Artifact):
    link = tmp_path / "latest.xrelay"
    link.symlink_to(saved)
    saved.write_bytes(b"")
    add_artifact.save(link)
    assert link.is_symlink()
    assert load(link)(X, X)[0].tolist() == EXPECTED.tolist()
