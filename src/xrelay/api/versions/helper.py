"""The thread and the process that make versions of a model while it runs, see `versions.py`.

The thread finds a version in the cache, or waits for a process (`process.py`) that compiles it into the cache.
It begins with a request and ends after the last one. Of all models of a program, one process works at a time. It ends
with the model, with this process, and if its standard input is closed. A forked child makes no versions. If anything
fails, there is no version: the runs continue with the model for all sizes.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import subprocess
import sys
import threading
import weakref
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from xrelay import environment
from xrelay.api.versions.recipe import Recipe
from xrelay.arguments import Shapes
from xrelay.forking import forks_wait
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.executable import Sizes
from xrelay.target.host import HostFacts, host_facts

_LOG: Final = logging.getLogger(__name__)
_MODULE: Final = "xrelay.api.versions.process"
"""The module that the process runs."""
_FILE: Final = "model.mlir"
_MAX_FAILURES: Final = 3
"""The number of failures in a row after which no version is tried."""
_PROCESS_LOCK: Final = threading.Lock()
"""Held while a process of this program works."""


@dataclass(frozen=True)
class VersionTask:
    """The message to the process: the recipe of the version, and LLVM's facts about this machine."""

    path: str
    digest: str | None
    """The digest of the program if the file is a copy of it; `None` for the file itself."""
    target: str
    opt_level: int
    shapes: Shapes
    integers: bool
    exact: bool
    records: str | None
    sizes: dict[str, int]
    host: HostFacts


class Receiver(Protocol):
    """The versions of a model, to which a helper adds."""

    model: Artifact

    def add(self, sizes: Sizes, artifact: Artifact) -> bool:
        """Adds a version; returns whether it fits the model."""
        ...


class VersionHelper:
    """Makes the versions of one model."""

    def __init__(self, recipe: Recipe):
        self._recipe = recipe
        self._pending: deque[Sizes] = deque()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._failures = 0
        """The number of failures since the last success."""
        self._lock = threading.Lock()

    def begin(self, versions: Receiver) -> None:
        """Sets the versions to which others are added. They end the helper when they are deleted."""
        self._versions = weakref.ref(versions)
        _HELPERS.add(self)

    def request(self, sizes: Sizes) -> None:
        """Begins to make the version for these sizes; returns at once."""
        with forks_wait(is_short=True), self._lock:
            if self._is_closed or sizes in self._pending:
                return
            self._pending.append(sizes)
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="xrelay-versions", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # no more threads
                    self._pending.clear()
                    return
                self._thread = thread

    def wait(self) -> None:
        """Waits until the versions that were requested are made or have failed."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """Ends the process, and the thread soon after. Takes no lock, because garbage collection may call it."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()

    def forget_threads(self) -> None:
        """Closes the helper in the child of a fork, and the child's end of the pipe, which would keep the process."""
        self._is_closed, self._thread = True, None
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()

    def _work(self) -> None:
        """Makes the requested versions; runs in the thread."""
        while (sizes := self._next()) is not None:
            try:
                is_made = self._make(sizes)
            except Exception as error:  # A version is never needed, whatever prevents it.
                _LOG.debug("no version of '%s' for %s: %s", self._recipe.name, sizes, error)
                is_made = False
            self._failures = 0 if is_made else self._failures + 1
            self._is_closed |= self._failures == _MAX_FAILURES

    def _next(self) -> Sizes | None:
        """Returns the next sizes; `None` to end the thread."""
        with forks_wait(is_short=True), self._lock:
            if self._is_closed or not self._pending:
                self._thread = None
                return None
            return self._pending.popleft()

    def _make(self, sizes: Sizes) -> bool:
        """Makes a version; returns whether it could."""
        versions = self._versions()
        if versions is None:
            return False
        metadata = versions.model.metadata
        del versions  # the model may be deleted while the process works
        self._recipe.check_unchanged()
        recipe = self._recipe.at(metadata.inputs, dict(zip(metadata.dims, sizes, strict=True)))
        artifact = recipe.find()
        if artifact is None and self._compile(recipe):
            artifact = recipe.find()
        versions = self._versions()
        return artifact is not None and versions is not None and not self._is_closed and versions.add(sizes, artifact)

    def _compile(self, recipe: Recipe) -> bool:
        """Lets a process compile a version into the cache; returns whether it succeeded."""
        with _PROCESS_LOCK, TemporaryDirectory(prefix="xrelay-") as folder:
            task = VersionTask(
                str(_saved(recipe, Path(folder)) if recipe.path is None else recipe.path),
                recipe.digest if recipe.path is None else None,
                str(recipe.target),
                recipe.opt_level,
                recipe.shapes,
                recipe.integers,
                recipe.exact,
                None if recipe.records is None else str(recipe.records),
                dict(recipe.sizes),
                host_facts(),
            )
            return self._run_process(task)

    def _run_process(self, task: VersionTask) -> bool:
        """Runs the process to its end; returns whether it succeeded."""
        if self._is_closed or not os.path.basename(sys.executable).startswith("python"):
            return False  # the executable of a program that embeds Python is not an interpreter
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment.with_one_thread(),
        )
        self._process = process
        try:
            if self._is_closed:  # meanwhile
                process.kill()
            elif process.stdin is not None:
                process.stdin.write(json.dumps(asdict(task), default=sorted).encode() + b"\n")
            return process.wait() == 0
        finally:
            self._process = None
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


def _saved(recipe: Recipe, folder: Path) -> Path:
    """Writes the module of a recipe to a file. Raises `InputError` if it has changed since it was compiled."""
    from xrelay.api.sources import load_source, save_module

    path = folder / _FILE
    save_module(load_source(recipe.source), path, debuginfo=True)
    recipe.check_unchanged()
    return path


_HELPERS: Final = weakref.WeakSet[VersionHelper]()


def _close_all() -> None:
    """Ends all processes and threads: no thread may load code while the interpreter ends."""
    helpers = list(_HELPERS)
    for helper in helpers:
        helper.close()
    for helper in helpers:
        helper.wait()


def _forget_all() -> None:
    for helper in list(_HELPERS):
        helper.forget_threads()
    if _PROCESS_LOCK.locked():  # by a thread that the child of the fork does not have
        _PROCESS_LOCK.release()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_all)
