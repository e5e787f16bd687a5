"""Forks while threads compile: the child does not inherit a held lock."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from xrelay import forking
from xrelay.forking import forks_wait

HANGS = 600
"""The time in seconds after which a process counts as hung; it takes a few."""
COMPILE = """
import os
import threading

import numpy as np
import xrelay
from xrelay import relay


def compile_one() -> None:
    x = relay.var("x", shape=(4, 8))
    model = xrelay.compile(relay.Module.from_expr(relay.nn.softmax(x)), cache=False, threads=2)
    assert model.run([np.ones((4, 8), np.float32)])[0].shape == (4, 8)


def compile_on(begun: threading.Event, over: threading.Event) -> None:
    while not over.is_set():
        begun.set()
        compile_one()


begun, over = threading.Event(), threading.Event()
thread = threading.Thread(target=compile_on, args=(begun, over))
thread.start()
begun.wait()
for _ in range(2):
    child = os.fork()
    if child == 0:
        compile_one()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
over.set()
thread.join()
"""
IMPORT_DURING_FORK = """
import concurrent.futures.thread
import logging
import os

os.register_at_fork(before=lambda: __import__("xrelay.forking"))
child = os.fork()
from xrelay.forking import forks_wait

with forks_wait():
    if child == 0:
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
"""The hooks that are registered meanwhile run after the fork, but not before it."""


def test_a_fork_beside_an_import_of_the_hooks() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_DURING_FORK], timeout=HANGS, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_a_fork_beside_a_thread_that_imports_and_compiles(tmp_path: Path) -> None:
    environment = {**os.environ, "XRELAY_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", COMPILE], env=environment, timeout=HANGS, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()


def test_a_fork_inside_of_a_section_does_not_wait_for_itself() -> None:
    with forks_wait(), forks_wait(is_short=True):
        child = os.fork()
        if child == 0:
            with forks_wait():
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    with forks_wait():
        pass


def fork_beside(thread: threading.Thread, begun: threading.Event) -> None:
    """Forks once the thread has begun."""
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "_MAX_IDLE_SECONDS", 0.5)
    monkeypatch.setattr(forking, "_IDLE", 1e-3)


@pytest.mark.usefixtures("short_patience")
def test_a_fork_waits_for_a_section_at_work() -> None:
    begun, over = threading.Event(), threading.Event()

    def work() -> None:
        with forks_wait():
            begun.set()
            end = time.process_time() + 1.5
            while time.process_time() < end:
                pass
            over.set()

    thread = threading.Thread(target=work)
    fork_beside(thread, begun)
    assert over.is_set()
    thread.join()


@pytest.mark.usefixtures("short_patience")
def test_a_fork_does_not_wait_for_a_section_that_waits_for_it() -> None:
    begun, forked = threading.Event(), threading.Event()

    def wait() -> None:
        with forks_wait():
            begun.set()
            forked.wait()

    thread = threading.Thread(target=wait)
    fork_beside(thread, begun)
    forked.set()
    thread.join()
