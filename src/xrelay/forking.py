"""Forks of a process that compiles: they wait until no other thread imports, compiles or loads code.

The child of a fork has the forking thread alone. A lock that another thread held stays locked in the child: that of a
module that is being imported, that of llvmlite, those inside of LLVM. So `os.fork` waits until the other threads leave
the sections that are marked with `forks_wait`, and threads that begin one wait for the fork. `subprocess` does not
fork in this way, and does not wait.
"""

from __future__ import annotations

import concurrent.futures.thread
import logging
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_PATIENCE: Final = 60.0
"""The seconds that a fork waits at most: a section may wait for the thread that forks."""


class _Gate:
    """The threads that are in sections, and the forks that wait for them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._depths: dict[int, int] = {}
        """How many sections each thread is in."""
        self._forks = 0

    def enter(self, *, is_short: bool) -> None:
        """Begin a section; a thread that is in one does not wait for a fork, which waits for it."""
        thread = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: is_short or self._forks == 0 or thread in self._depths)
            self._depths[thread] = self._depths.get(thread, 0) + 1

    def leave(self) -> None:
        """End a section."""
        thread = threading.get_ident()
        with self._changed:
            self._depths[thread] -= 1
            if self._depths[thread] == 0:
                del self._depths[thread]
            self._changed.notify_all()

    def before_fork(self) -> None:
        """Wait until no other thread is in a section; the lock is held until the fork is done."""
        thread = threading.get_ident()
        self._changed.acquire()
        self._forks += 1
        self._depths[thread] = self._depths.get(thread, 0) + 1  # a finalizer may enter a section meanwhile
        self._changed.wait_for(lambda: self._depths.keys() == {thread}, timeout=_PATIENCE)

    def after_in_parent(self) -> None:
        """Let the other threads go on."""
        self._forks -= 1
        self.leave()
        self._changed.release()

    def after_in_child(self) -> None:
        """Forget the other threads."""
        thread = threading.get_ident()
        self._depths, self._forks = {thread: self._depths[thread]}, 1
        self.after_in_parent()


_GATE: Final = _Gate()
_EARLIER: Final = (concurrent.futures.thread, logging)
"""Modules whose hooks take locks that the other threads need to go on; hooks run in reverse order of registration."""
os.register_at_fork(
    before=_GATE.before_fork, after_in_parent=_GATE.after_in_parent, after_in_child=_GATE.after_in_child
)


@contextmanager
def forks_wait(*, is_short: bool = False) -> Generator[None]:
    """A section that other threads do not fork in.

    It begins after the forks that wait already, unless it is short: a section of another thread may depend on it.
    """
    _GATE.enter(is_short=is_short)
    try:
        yield
    finally:
        _GATE.leave()
