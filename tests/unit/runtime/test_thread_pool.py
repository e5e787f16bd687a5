"""The thread pool: coverage of the range, nesting, failures, several callers, fork, exit."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest

from xrelay.errors import InputError
from xrelay.runtime import cores
from xrelay.runtime import thread_pool as pool_module
from xrelay.runtime.abi import Context
from xrelay.runtime.cores import check_num_threads, default_num_threads
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.runtime.object_code.native_library import NativeLibrary
from xrelay.runtime.thread_pool import thread_pool

BODY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
# Adds one to each counter of the range, without atomics: an index visited twice or never is detected.
COUNT = """
declare i32 @xrelay_parallel_for(ptr, ptr, ptr, i64)
define internal i32 @body(ptr %ctx, ptr %env, i64 %begin, i64 %end) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %p = getelementptr i32, ptr %env, i64 %i
  %v = load i32, ptr %p
  %v1 = add i32 %v, 1
  store i32 %v1, ptr %p
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %exit
exit:
  ret i32 0
}
define i32 @repeat(ptr %ctx, ptr %env, i64 %n, i64 %times) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %r = call i32 @xrelay_parallel_for(ptr %ctx, ptr @body, ptr %env, i64 %n)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %loop, label %exit
exit:
  ret i32 %r
}
"""


@pytest.fixture
def lone_pool(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Restarts the pool without the system's report of cores, so that the load of the machine does not matter."""
    with monkeypatch.context() as patch:
        patch.setattr(pool_module, "_address_of", no_address)
        patch.setattr(pool_module, "available_cores", lambda: 2)
        restart_pool()
        yield
    restart_pool()


def no_address(_name: str) -> None:
    """A system without functions of Linux."""


def restart_pool() -> None:
    assert thread_pool().stop()
    thread_pool().reset()


@pytest.fixture(scope="module")
def repeat() -> Callable[[int, np.ndarray, int], int]:
    """Runs the counting body `times` times over all counters."""
    code = compile_ir(COUNT, cpu="", features="")
    imports = {"xrelay_parallel_for": thread_pool().parallel_for}
    library = NativeLibrary.load([code], exports=["repeat"], imports=imports)
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, ctypes.c_int64, ctypes.c_int64)(
        library.address("repeat")
    )

    def call(threads: int, counters: np.ndarray, times: int) -> int:
        assert library is not None
        context = Context(0, threads)
        return function(ctypes.addressof(context), counters.ctypes.data, counters.size, times)

    return call


def parallel_for(context: Context, body: Callable[[int, int], int], n: int) -> int:
    """Runs a Python body; ctypes allows calls from threads that Python did not create."""

    def run(_ctx: int, _env: int, begin: int, end: int) -> int:
        return body(begin, end)

    wrapped, pointer = BODY(run), ctypes.c_void_p
    function = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, BODY, pointer, ctypes.c_int64)(thread_pool().parallel_for)
    return function(ctypes.addressof(context), wrapped, None, n)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 1000])
def test_every_index_once(repeat: Callable[[int, np.ndarray, int], int], threads: int, n: int):
    counters = np.zeros(n, np.int32)
    assert repeat(threads, counters, 200) == 0
    assert (counters == 200).all()


@pytest.mark.usefixtures("lone_pool")
def test_ranges_are_chunks_of_the_range():
    chunks: list[tuple[int, int]] = []

    def body(begin: int, end: int) -> int:
        chunks.append((begin, end))
        return 0

    assert parallel_for(Context(0, 3), body, 100) == 0
    chunks.sort()
    assert chunks[0][0] == 0
    assert chunks[-1][1] == 100
    assert all(left[1] == right[0] for left, right in itertools.pairwise(chunks))
    assert len(chunks) >= 4


def test_one_thread_is_one_call_on_the_caller():
    calls: list[tuple[int, int, int]] = []
    parallel_for(Context(0, 1), lambda begin, end: calls.append((begin, end, threading.get_native_id())) or 0, 50)
    assert calls == [(0, 50, threading.get_native_id())]


@pytest.mark.usefixtures("lone_pool")
def test_several_threads_take_part():
    """Both chunks wait for each other, so a single thread would never finish."""
    meeting = threading.Barrier(2, timeout=30)
    seen: set[int] = set()

    def body(_begin: int, _end: int) -> int:
        meeting.wait()
        seen.add(threading.get_native_id())
        return 0

    assert parallel_for(Context(0, 2), body, 2) == 0
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("allowed", "failure", "moves"),
    [({0, 1, 70}, 0, [{1, 70}, {0, 1, 70}]), ({0}, 0, []), ({0, 1}, -1, [])],
    ids=["moves", "one core", "unknown"],
)
def test_a_worker_on_the_core_of_the_owner_moves(
    allowed: set[int], failure: int, moves: list[set[int]], monkeypatch: pytest.MonkeyPatch
):
    """The system reports core 0 for both threads."""
    seen: list[set[int]] = []
    words = ctypes.POINTER(ctypes.c_uint64)

    def get(_thread: int, size: int, mask: ctypes.Array[ctypes.c_uint64]) -> int:
        for core in allowed:
            mask[core // 64] |= 1 << core % 64
        return failure or size

    def set_(_thread: int, size: int, mask: ctypes.Array[ctypes.c_uint64]) -> int:
        seen.append({core for core in range(8 * size) if mask[core // 64] >> core % 64 & 1})
        return 0

    affinity = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, words)
    functions = {
        "sched_getcpu": ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: 0),
        "sched_getaffinity": affinity(get),
        "sched_setaffinity": affinity(set_),
    }

    def address(name: str) -> int | None:
        return ctypes.cast(functions[name], ctypes.c_void_p).value

    meeting = threading.Barrier(2, timeout=30)
    with monkeypatch.context() as patch:
        patch.setattr(pool_module, "_address_of", address)
        patch.setattr(pool_module, "available_cores", lambda: 2)
        restart_pool()
        assert parallel_for(Context(0, 2), lambda _begin, _end: meeting.wait() * 0, 2) == 0
        assert thread_pool().stop()
    thread_pool().reset()
    assert seen == moves


@pytest.mark.usefixtures("lone_pool")
def test_threads_keep_their_shares():
    """The barrier lets no thread finish its first chunk before the other has begun, so none takes the other's."""
    meeting = threading.Barrier(2, timeout=30)
    owners: list[dict[int, int]] = []
    for _ in range(5):
        first: dict[int, int] = {}

        def body(begin: int, _end: int, first: dict[int, int] = first) -> int:
            thread = threading.get_native_id()
            if thread not in first:
                first[thread] = begin
                meeting.wait()
            return 0

        assert parallel_for(Context(0, 2), body, 1000) == 0
        owners.append(first)
    assert set(owners[0].values()) == {0, 500}
    assert all(first == owners[0] for first in owners)


@pytest.mark.usefixtures("lone_pool")
def test_a_thread_without_work_takes_chunks_of_another():
    meeting = threading.Barrier(2, timeout=30)
    rest_done = threading.Event()
    done: dict[int, int] = {}
    caller = threading.get_native_id()

    def body(begin: int, end: int) -> int:
        thread = threading.get_native_id()
        if thread not in done:
            done[thread] = 0
            meeting.wait()
            if thread == caller:
                rest_done.wait(30)
        done[thread] += end - begin
        if thread != caller and sum(done.values()) == 750:
            rest_done.set()
        return 0

    assert parallel_for(Context(0, 2), body, 1000) == 0
    assert done[caller] == 250


def ranges_of_a_job(threads: int = 2, n: int = 100) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    assert parallel_for(Context(0, threads), lambda begin, end: ranges.append((begin, end)) or 0, n) == 0
    return ranges


@pytest.mark.usefixtures("lone_pool")
def test_callers_at_once_use_one_thread_each():
    inside, go_on = threading.Event(), threading.Event()

    def body(_begin: int, _end: int) -> int:
        inside.set()
        return 0 if go_on.wait(30) else 1

    other = threading.Thread(target=parallel_for, args=(Context(0, 2), body, 2))
    other.start()
    assert inside.wait(30)
    assert ranges_of_a_job() == [(0, 100)]
    go_on.set()
    other.join(30)
    assert [ranges_of_a_job() for _ in range(16)] == [[(0, 100)]] * 16
    assert len(ranges_of_a_job()) > 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux's affinity")
def test_jobs_use_one_thread_while_the_worker_has_no_core_of_its_own():
    """The barrier lets no job end before the worker has taken part."""
    available = os.sched_getaffinity(0)
    assert thread_pool().stop()
    os.sched_setaffinity(0, {min(available)})
    try:
        thread_pool().reset()
        meeting = threading.Barrier(2, timeout=30)
        assert parallel_for(Context(0, 2), lambda _b, _e: meeting.wait() * 0, 2) == 0
        assert ranges_of_a_job() == [(0, 100)]
    finally:
        os.sched_setaffinity(0, available)
        restart_pool()


def test_nested_regions_run_on_the_thread_that_opens_them():
    context = Context(0, 3)
    inner: list[int] = []
    lock = threading.Lock()

    def outer_body(begin: int, end: int) -> int:
        thread = threading.get_native_id()

        def inner_body(start: int, stop: int) -> int:
            assert threading.get_native_id() == thread
            with lock:
                inner.extend(range(start, stop))
            return 0

        return max(parallel_for(context, inner_body, 10) for _ in range(begin, end))

    assert parallel_for(context, outer_body, 12) == 0
    assert sorted(inner) == sorted(list(range(10)) * 12)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_failing_body_gives_its_status(threads: int):
    context = Context(0, threads)
    assert parallel_for(context, lambda begin, end: 77 if begin <= 5 < end else 0, 20) == 77
    assert context.status == 77


def test_the_first_failure_wins_and_ends_the_region():
    context = Context(0, 2)
    ran: list[int] = []

    def body(begin: int, _end: int) -> int:
        ran.append(begin)
        return 5

    assert parallel_for(context, body, 10_000) == 5
    assert len(ran) <= 2
    assert parallel_for(context, lambda _b, _e: 6, 4) == 6
    assert context.status == 5


def test_the_next_region_is_clean_after_a_failure():
    assert parallel_for(Context(0, 2), lambda _b, _e: 9, 8) == 9
    assert parallel_for(Context(0, 2), lambda _b, _e: 0, 8) == 0


def test_many_callers_at_once(repeat: Callable[[int, np.ndarray, int], int]):
    counters = [np.zeros(64, np.int32) for _ in range(8)]
    callers = [threading.Thread(target=repeat, args=(3, array, 3000)) for array in counters]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert all((array == 3000).all() for array in counters)


@pytest.mark.usefixtures("lone_pool")
def test_workers_that_sleep_are_woken():
    """Pauses are longer than workers spin, so each region finds them asleep."""
    meeting = threading.Barrier(2, timeout=30)
    for _ in range(20):
        threading.Event().wait(0.005)
        assert parallel_for(Context(0, 2), lambda _b, _e: meeting.wait() * 0, 2) == 0


def test_the_child_of_a_fork_starts_its_own_workers(repeat: Callable[[int, np.ndarray, int], int]):
    counters = np.zeros(100, np.int32)
    repeat(2, counters, 10)
    child = os.fork()
    if child == 0:
        inherited = thread_pool().workers
        repeat(2, counters, 10)
        good = inherited == 0 and thread_pool().workers == 1 and bool((counters == 20).all())
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    repeat(2, counters, 10)
    assert (counters == 20).all()


def test_a_program_that_used_the_pool_exits():
    program = """
import ctypes
from xrelay.runtime.abi import Context
from xrelay.runtime.thread_pool import thread_pool
body = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
    lambda *_: 0)
function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
    thread_pool().parallel_for)
context = Context(0, 4)
function(ctypes.addressof(context), body, None, 100)
assert thread_pool().workers == 3
assert thread_pool().stop() and thread_pool().workers == 0
assert function(ctypes.addressof(context), body, None, 100) == 0 and thread_pool().workers == 0
thread_pool().reset()
function(ctypes.addressof(context), body, None, 100)
assert thread_pool().workers == 3
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("threads", [0, -1, 257])
def test_number_of_threads_is_checked(threads: int):
    with pytest.raises(InputError, match=str(threads)):
        check_num_threads(threads)


def test_default_number_of_threads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("XRELAY_NUM_THREADS", raising=False)
    assert 1 <= default_num_threads() <= (os.cpu_count() or 1)
    monkeypatch.setenv("XRELAY_NUM_THREADS", "3")
    assert default_num_threads() == 3
    monkeypatch.setenv("XRELAY_NUM_THREADS", "many")
    with pytest.raises(InputError, match="many"):
        default_num_threads()


QUOTAS: dict[str, tuple[str, dict[str, str], int]] = {
    # the groups of the process, the files of the control groups, the quota in cores
    "none": ("0::/", {}, 256),
    "version 2": ("0::/", {"cpu.max": "300000 100000"}, 3),
    "less than a core": ("0::/", {"cpu.max": "20000 100000"}, 1),
    "no quota": ("0::/", {"cpu.max": "max 100000"}, 256),
    "nonsense": ("0::/", {"cpu.max": "nonsense"}, 256),
    "outer group": ("0::/a/b", {"a/cpu.max": "200000 100000", "a/b/cpu.max": "max 100000"}, 2),
    "inner group": ("0::/a/b", {"a/cpu.max": "max 100000", "a/b/cpu.max": "400000 100000"}, 4),
    "version 1": (
        "5:memory:/m\n4:cpu,cpuacct:/a\n0::/",
        {"cpu/a/cpu.cfs_quota_us": "150000", "cpu/a/cpu.cfs_period_us": "50000"},
        3,
    ),
    "version 1, none": ("4:cpu:/", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 256),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_quotas_limit_the_cores(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    groups, files, expected = QUOTAS[name]
    own = tmp_path / "own"
    own.write_text(groups + "\n")
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text + "\n")
    monkeypatch.setattr(cores, "_CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(cores, "_OWN_GROUPS", own)
    monkeypatch.setattr(cores, "_physical_cores", lambda: 1000)
    assert cores.available_cores() == expected
