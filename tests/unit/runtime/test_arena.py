"""Aligned memory and the pool of memory for calls."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from xrelay.errors import ExecutionError
from xrelay.runtime.arena import OutputMemory, Pool, address_of, align, aligned_bytes


@pytest.mark.parametrize("size", [0, 1, 63, 4096, (4 << 20) - 1, 4 << 20, 9_000_001])
def test_blocks_are_aligned_and_whole(size: int):
    block = aligned_bytes(size)
    assert block.size == size
    assert address_of(block) % 64 == 0 or size == 0
    block[:] = 7
    assert (block == 7).all()


def test_large_blocks_lie_on_huge_pages():
    assert address_of(aligned_bytes(8 << 20)) % (2 << 20) == 0


@pytest.mark.parametrize("shape", [(), (0, 3), (4, 6)])
@pytest.mark.parametrize("dtype", ["float32", "bool", "bfloat16"])
def test_addresses_of_any_arrays(shape: tuple[int, ...], dtype: str):
    array = np.zeros(shape, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    fixed = array.copy()
    fixed.flags.writeable = False
    for each in (array, array.T, array[..., ::2] if shape else array, fixed):
        assert address_of(each) == each.ctypes.data


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
@pytest.mark.parametrize("size", [4096, 8 << 20])
def test_forks_do_not_write_to_each_other(size: int):
    block = aligned_bytes(size)
    block[:] = 1
    child = os.fork()
    if child == 0:
        block[:] = 2
        os._exit(0)
    os.waitpid(child, 0)
    assert (block == 1).all()


def test_more_memory_than_there_is():
    with pytest.raises(ExecutionError, match="cannot allocate 1000000000000000000 bytes"):
        aligned_bytes(10**18)


def test_aligned_arrays_are_not_copied():
    array = aligned_bytes(400).view(np.float32)
    assert align(array) is array
    assert align(array[1:]) is not array


def test_copies_keep_the_values():
    array = np.arange(12, dtype=np.int16).reshape(3, 4).T
    copy = align(array)
    np.testing.assert_array_equal(copy, array)
    assert copy.flags.c_contiguous


def test_pool_reuses_what_is_free():
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    pool = Pool(make)
    one, two = pool.acquire(), pool.acquire()
    assert one is not two
    pool.release(one)
    assert pool.acquire() is one
    assert len(made) == 2


FLOAT = np.dtype(np.float32)


def test_outputs_reuse_the_memory_of_dropped_arrays():
    memory = OutputMemory(2)
    array = memory.allocate(0, (300, 300), FLOAT)
    address = address_of(array)
    view = array[1:, None]
    del array
    assert address_of(memory.allocate(0, (300, 300), FLOAT)) != address  # the view uses it
    del view
    assert address_of(memory.allocate(1, (300, 300), FLOAT)) != address  # another output
    assert address_of(memory.allocate(0, (310, 300), FLOAT)) == address  # a little larger


def test_outputs_of_other_sizes_get_other_memory():
    memory = OutputMemory(1)
    for shape in ((300, 300), (400, 300), (100, 1000), (600, 1000), (0, 3), (2, 2)):
        array = memory.allocate(0, shape, FLOAT)
        array[...] = 1
        assert (array.shape, array.dtype, array.flags.c_contiguous) == (shape, FLOAT, True)


TRIMMED = """
import os
from pathlib import Path

import numpy as np

from xrelay.runtime.arena import trim_heap


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


np.ones(16 << 20, np.uint8)  # from now on, glibc puts blocks of this size into the heap
blocks = [(np.ones(8 << 20, np.uint8), np.ones(1 << 18, np.uint8)) for _ in range(8)]
kept = [small for _, small in blocks]
blocks.clear()
before = resident_bytes()
trim_heap()
print(before - resident_bytes())
"""
"""Blocks between others that are still used stay in the heap when they are freed."""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="this C library cannot trim its heap")
def test_the_heap_is_trimmed():
    """A process of its own has no free blocks before, which the large ones would fill."""
    done = subprocess.run([sys.executable, "-c", TRIMMED], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 32 << 20
