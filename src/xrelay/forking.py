"""Makes `os.fork` wait until no other thread imports, compiles or loads code.

Only the forking thread exists in the child of a fork. A lock held by another thread stays locked there: the import lock
of a module, the lock of llvmlite, the locks inside LLVM. `os.fork` therefore waits until other threads leave the
sections marked by `forks_wait`, and threads that enter a section wait for a pending fork. `subprocess` does not fork
this way and does not wait.
"""

from __future__ import annotations

import concurrent.futures.thread
import logging
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_MAX_IDLE_SECONDS: Final = 60.0
"""The seconds without work after which a fork no longer waits.

A section may itself wait for the forking thread, so the wait must end. A busy machine only slows a section down.
"""
_IDLE: Final = 0.1
"""The seconds of CPU time that a process without work uses at most during `_MAX_IDLE_SECONDS`."""


class _Gate:
    """The threads inside sections, and the number of pending forks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._depths: dict[int, int] = {}
        """The number of sections that each thread is in."""
        self._forks = 0
        self._forking: int | None = None
        """The thread that holds the lock for a fork."""

    def enter(self, *, is_short: bool) -> None:
        """Enters a section. A thread that is in one already does not wait for a pending fork, which waits for it."""
        thread = threading.get_ident()
        if thread in self._depths:  # no other thread changes the depth of this one
            self._depths[thread] += 1
            return
        with self._changed:
            self._changed.wait_for(lambda: is_short or self._forks == 0)
            self._depths[thread] = 1

    def leave(self) -> None:
        """Leaves a section."""
        thread = threading.get_ident()
        if self._depths[thread] > 1:
            self._depths[thread] -= 1
            return
        with self._changed:
            del self._depths[thread]
            self._changed.notify_all()

    def before_fork(self) -> None:
        """Waits until no other thread is in a section, and holds the lock until the fork is done."""
        thread = threading.get_ident()
        self._changed.acquire()
        self._forks += 1
        self._depths[thread] = self._depths.get(thread, 0) + 1  # a finalizer may enter a section meanwhile
        used = time.process_time()
        while not self._changed.wait_for(lambda: self._depths.keys() == {thread}, timeout=_MAX_IDLE_SECONDS):
            before, used = used, time.process_time()
            if used - before < _IDLE:
                break
        self._forking = thread

    def after_in_parent(self) -> None:
        """Releases the other threads."""
        if self._forking != threading.get_ident():
            return  # this module was imported after the fork had begun
        self._forking = None
        self._forks -= 1
        self._changed.notify_all()
        self.leave()
        self._changed.release()

    def after_in_child(self) -> None:
        """Forgets the other threads, which do not exist in the child."""
        thread = threading.get_ident()
        if self._forking != thread:
            self._changed, self._depths, self._forks, self._forking = threading.Condition(), {}, 0, None
            return
        self._depths, self._forks = {thread: self._depths[thread]}, 1
        self.after_in_parent()


_GATE: Final = _Gate()
_HOOKED_MODULES: Final = (concurrent.futures.thread, logging)
"""Modules whose fork hooks take locks that other threads need to leave their sections.

They are imported first because hooks run in reverse order of registration.
"""
os.register_at_fork(
    before=_GATE.before_fork, after_in_parent=_GATE.after_in_parent, after_in_child=_GATE.after_in_child
)


@contextmanager
def forks_wait(*, is_short: bool = False) -> Generator[None]:
    """A section during which other threads do not fork.

    A section waits for pending forks before it begins, unless `is_short`: the section of another thread may depend on a
    short one.
    """
    _GATE.enter(is_short=is_short)
    try:
        yield
    finally:
        _GATE.leave()
